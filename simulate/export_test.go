package simulate

// WithMost returns the job with worlds of more ranks than most taken for large.
func (j Job) WithMost(most int) Job {
	j.mostRanks = most
	return j
}
