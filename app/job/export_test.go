package job

// CutSteps removes from the step log of a run directory the lines of a step and of later ones.
func CutSteps(folder string, step int) error { return directory(folder).cutSteps(step) }
