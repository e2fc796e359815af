package rundir

// CutSteps removes from the step log of a run directory the lines of a step and of later ones.
func CutSteps(folder string, step int) error { return Directory(folder).cutSteps(step) }

// Break makes every further write to the log fail.
func Break(l *UpdateLog) { l.file.Close() }
