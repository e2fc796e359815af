package stat_test

import (
	"fmt"

	"lockstep/app/evidence/stat"
)

// Two programs were timed in turn, round by round. The ratio of each round is free of what slowed both.
func ExamplePairedRatio() {
	before := []float64{12.0, 18.2, 12.4, 12.1, 24.0, 12.2}
	after := []float64{10.0, 14.0, 10.0, 10.0, 20.0, 10.0}
	r := stat.PairedRatio(before, after, stat.Noise{Correlation: 0.3})
	fmt.Printf("%.2f times as fast, between %.2f and %.2f with %.0f %% coverage\n",
		r.Median, r.Interval.Lo, r.Interval.Hi, 100*r.Interval.Coverage)
	// Output: 1.21 times as fast, between 1.17 and 1.29 with 95 % coverage
}
