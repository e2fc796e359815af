package bench

import "time"

// wall is how long a finished run of a row took, in seconds, processes included.
type wall struct {
	row     int
	seconds float64
}

// remaining estimates how long the trials left will take, the first of which has been running
// for elapsed. A row is expected to take as long as it did before; a row without a run, as
// long as the mean of its model's rows, else of all rows. It is 0 while no run has finished.
func remaining(plan Plan, walls []wall, left []Trial, elapsed time.Duration) time.Duration {
	if len(walls) == 0 || len(left) == 0 {
		return 0
	}
	total := 0.0
	for i, t := range left {
		expected := expect(plan, walls, t.Row)
		if i == 0 {
			expected = max(expected-elapsed.Seconds(), 0)
		}
		total += expected
	}
	return time.Duration(total * float64(time.Second))
}

func expect(plan Plan, walls []wall, row int) float64 {
	near := func(is func(other int) bool) (sum float64, n int) {
		for _, w := range walls {
			if is(w.row) {
				sum += w.seconds
				n++
			}
		}
		return sum, n
	}
	sum, n := near(func(other int) bool { return other == row })
	if n == 0 {
		model := plan.Rows[row].Model
		sum, n = near(func(other int) bool { return plan.Rows[other].Model == model })
	}
	if n == 0 {
		sum, n = near(func(int) bool { return true })
	}
	return sum / float64(n)
}
