package bench

// ReadSteps sorts the lines of all ranks into columns.
var ReadSteps = readSteps

// Fit cuts a plan to a time, by the seconds that starting a run of each row takes, and each of its steps.
func Fit(p Plan, budget float64, start, step []float64) (Plan, Fitted) {
	costs := make([]cost, len(p.Rows))
	for i := range costs {
		costs[i] = cost{start: start[i], step: step[i]}
	}
	return p.fit(budget, costs)
}

// LeastRounds returns the rounds of the kept rows with fewest.
func (f Fitted) LeastRounds() int { return f.rounds }

// FitTimed is Fit of rows that train for a time, whose steps take so many seconds.
func FitTimed(p Plan, budget float64, start []float64, pace float64) (Plan, Fitted) {
	costs := make([]cost, len(p.Rows))
	for i := range costs {
		costs[i] = cost{start: start[i], step: 1, pace: pace}
	}
	return p.fit(budget, costs)
}
