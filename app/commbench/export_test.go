package commbench

// DoubtOf words what a measurement says about its prediction.
func (r Record) DoubtOf() string { return r.doubt() }
