package trace

// Tracks returns the tracks of a recorder in the order in which they were added.
func (r *Recorder) Tracks() []*Track { return r.tracks }

// Steps returns the steps that all workers have, by number.
func (t *Timeline) Steps() []StepTimes { return t.steps }
