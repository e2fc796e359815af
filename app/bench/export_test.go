package bench

// ReadSteps sorts the lines of all ranks into columns.
var ReadSteps = readSteps

// Fit cuts a plan to a time, by the seconds that starting a run of each row takes, and each of its steps.
func Fit(p Plan, budget float64, start, step []float64) (Plan, Fitted) {
	costs := make([]cost, len(p.Rows))
	for i := range costs {
		costs[i] = cost{start[i], step[i]}
	}
	return p.fit(budget, costs)
}
