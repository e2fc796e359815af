package stat_test

import (
	"lockstep/app/evidence/stat"
	"math"
	"slices"
	"testing"
)

// Efron and Tibshirani, An Introduction to the Bootstrap, 1993, table 2.1: survival of mice in days.
func mice() (treated, control []float64) {
	return []float64{94, 197, 16, 38, 99, 141, 23}, []float64{52, 104, 146, 10, 51, 30, 40, 27, 46}
}

// The book gives the means, 86.86 and 56.22, and their standard errors, 25.24 and 14.14 (table 2.1).
func TestMoments(t *testing.T) {
	treated, control := mice()
	a, b := stat.MomentsOf(treated), stat.MomentsOf(control)
	near(t, "mean of the treated", a.Mean, 86.86, 0.005)
	near(t, "mean of the control", b.Mean, 56.22, 0.005)
	near(t, "standard error of the treated", a.SD/math.Sqrt(7), 25.24, 0.005)
	near(t, "standard error of the control", b.SD/3, 14.14, 0.02)
	if m := stat.MomentsOf([]float64{1}); m.N != 1 || !math.IsNaN(m.SD) {
		t.Errorf("moments of one value: %+v", m)
	}
}

// Quinn, Parallel Programming in C with MPI and OpenMP, 2004, section 7.5: two programs with equal speed-ups
// on eight processors, one with serial work, one with growing overhead.
func TestKarpFlatt(t *testing.T) {
	for _, c := range []struct{ speedups, want []float64 }{
		{[]float64{1.82, 2.50, 3.08, 3.57, 4.00, 4.38, 4.71}, slices.Repeat([]float64{0.1}, 7)},
		{[]float64{1.87, 2.61, 3.23, 3.73, 4.14, 4.46, 4.71},
			[]float64{0.070, 0.075, 0.080, 0.085, 0.090, 0.095, 0.100}},
	} {
		for i, s := range c.speedups {
			near(t, "serial fraction", stat.KarpFlatt(s, float64(i+2)), c.want[i], 0.0012)
		}
	}
}

// Amdahl's law as its textbooks tabulate it: 95 % parallel gives 5.93 on 8 and 9.14 on 16 processors.
func TestAmdahl(t *testing.T) {
	near(t, "8 processors", stat.Amdahl(0.05, 8), 5.93, 0.005)
	near(t, "16 processors", stat.Amdahl(0.05, 16), 9.14, 0.005)
	near(t, "1.78 on 2", stat.KarpFlatt(1.78, 2), 0.1236, 0.0001)
}

// Quantiles of Student's distribution, two-sided 95 %: 12.706, 4.303 and 2.262 with 1, 2 and 9 degrees of
// freedom (any table, such as Abramowitz and Stegun, 26.10).
func TestMeanInterval(t *testing.T) {
	for _, test := range []struct {
		values []float64
		half   float64
	}{
		{[]float64{-1, 1}, 12.706}, // s / sqrt(n) is 1
		{[]float64{0, 1, 2}, 4.303 / 1.7320508},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 2.262 * 0.9574271},
	} {
		i := stat.MomentsOf(test.values).MeanInterval(stat.Prior{}, 0.95)
		near(t, "half of the interval", (i.Hi-i.Lo)/2, test.half, 0.001)
		near(t, "middle", (i.Hi+i.Lo)/2, stat.Mean(test.values), 1e-9)
	}
	if i := stat.MomentsOf([]float64{1}).MeanInterval(stat.Prior{}, 0.95); i.Coverage != 0 {
		t.Errorf("interval %+v of one value", i)
	}
}

// A guess that is worth nine degrees of freedom gives one value the interval that ten values of that
// deviation give their mean, but for the root of ten. Equal deviations only add their freedom.
func TestAPriorGivesOneValueAnInterval(t *testing.T) {
	p := stat.Prior{SD: 2, Freedom: 9}
	i := stat.MomentsOf([]float64{5}).MeanInterval(p, 0.95)
	near(t, "half of the interval", (i.Hi-i.Lo)/2, 2.262*2, 0.001)
	near(t, "middle", (i.Hi+i.Lo)/2, 5, 1e-9)
	both := stat.Prior{SD: 1, Freedom: 2}.And(stat.MomentsOf([]float64{0, 1, 2}))
	near(t, "deviation of equals", both.SD, 1, 1e-9)
	near(t, "their freedom", both.Freedom, 4, 0)
	if i := stat.MomentsOf(nil).MeanInterval(p, 0.95); i.Coverage != 0 {
		t.Errorf("interval %+v of nothing", i)
	}
}
