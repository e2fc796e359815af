package stat_test

import (
	"fmt"
	"lockstep/app/evidence/stat"
	"math"
	"slices"
	"testing"
)

// Efron and Tibshirani, An Introduction to the Bootstrap, 1993, table 2.1: survival of mice in days.
func mice() (treated, control []float64) {
	return []float64{94, 197, 16, 38, 99, 141, 23}, []float64{52, 104, 146, 10, 51, 30, 40, 27, 46}
}

// The book finds 94 against 46 days at the median to be no evidence (section 2.1: the difference of 48 is
// 1.14 standard errors), so the interval of the ratio holds 1.
func TestUnpairedInterval(t *testing.T) {
	treated, control := mice()
	if got := stat.UnpairedInterval(treated, control, 0.95); !got.Contains(1) || !got.Contains(94.0/46) {
		t.Errorf("interval %+v, want one with 1 and %.2f", got, 94.0/46)
	}
	threefold, one := []float64{3, 3.1, 2.9, 3}, []float64{1, 1.1, 0.9, 1}
	if got := stat.UnpairedInterval(threefold, one, 0.95); got.Lo < 2.5 || got.Hi > 3.6 {
		t.Errorf("three times as much gives %+v", got)
	}
	for _, few := range [][]float64{nil, {1}, {math.NaN(), 2}} {
		if got := stat.UnpairedInterval(few, control, 0.95); got.Coverage != 0 || !math.IsNaN(got.Lo) {
			t.Errorf("%v: %+v, want no interval", few, got)
		}
	}
}

// The same book gives the means, 86.86 and 56.22, and their standard errors, 25.24 and 14.14 (table 2.1).
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

// Lakens, "Equivalence Tests: A Practical Primer", Social Psychological and Personality Science 8, 2017: of
// the replication by Moery and Calin-Jageman, means 5.25 and 5.22, deviations 0.95 and 0.83, 95 and 89
// people, margin d = 0.43 or 0.384; the larger of the two p is that of t(182) = -2.69, p = 0.004.
func TestEquivalence(t *testing.T) {
	// Pairs that differ by 0.03 with the standard error of the two samples: the same t with fewer degrees.
	pairs := stat.Moments{N: 92, Mean: 0.03, SD: 0.1313 * math.Sqrt(92)}
	near(t, "p of pairs", pairs.ZeroP(0.384), 0.004, 0.0005)
	if p := (stat.Moments{N: 1}).ZeroP(1); p != 1 {
		t.Errorf("one pair has p = %g, want 1", p)
	}
	pairs.Mean = 0.43
	if p := pairs.ZeroP(0.384); p < 0.5 {
		t.Errorf("a mean farther from 0 than the margin has p = %g, want above 0.5", p)
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

// ratios returns the ratios whose logarithms are d.
func ratios(d ...float64) stat.Ratio {
	var over, under []float64
	for _, v := range d {
		over, under = append(over, math.Exp(v)), append(under, 1)
	}
	return stat.PairedRatio(over, under, 0)
}

// The hours of sleep that two drugs added, patient by patient (Student 1908): t = -4.0621 with 9 degrees of
// freedom, p = 0.002833 (R, t.test(extra ~ group, sleep, paired = TRUE)).
func TestPairedPOfStudentsSleep(t *testing.T) {
	r := ratios(-1.2, -2.4, -1.3, -1.3, 0, -1, -1.8, -0.8, -4.6, -1.4)
	near(t, "p", r.PairedP(), 0.002833, 5e-7)
}

// Two differences m-s and m+s have t = m/s; n differences of which half are m-s and half m+s have
// t = m/s*sqrt(n-1). At the tabulated 2.5 % points of Student's distribution p is 0.05.
func TestPairedPAtTabulatedPoints(t *testing.T) {
	for n, point := range map[int]float64{4: 3.18245, 6: 2.57058, 10: 2.26216, 20: 2.09302} {
		var d []float64
		for i := range n {
			d = append(d, point/math.Sqrt(float64(n-1))+float64(2*(i%2)-1))
		}
		near(t, fmt.Sprintf("p of %d pairs", n), ratios(d...).PairedP(), 0.05, 2e-6)
	}
	// An even number of degrees of freedom: 2.77645 with 4, by differences -1, 1, 0, 1, -1 around the mean.
	m := 2.77645 / math.Sqrt(5)
	near(t, "p of 5 pairs", ratios(m-1, m+1, m, m+1, m-1).PairedP(), 0.05, 2e-6)
	for _, r := range []stat.Ratio{ratios(), ratios(1), ratios(0, 0, 0, 0), ratios(-1, 1, -1, 1),
		ratios(1, 1, 1)} {
		if p := r.PairedP(); p != 1 {
			t.Errorf("%v: p %v, want 1", r.Values, p)
		}
	}
}

// The example of R's p.adjust: 0.01, 0.02, 0.03, 0.04, 0.05 become 0.05, 0.08, 0.09, 0.09, 0.09.
func TestHolm(t *testing.T) {
	p := []float64{0.04, 0.01, 0.05, 0.02, 0.03}
	want := []float64{0.09, 0.05, 0.09, 0.08, 0.09}
	for i, got := range stat.Holm(p) {
		near(t, fmt.Sprintf("p %v", p[i]), got, want[i], 1e-12)
	}
	if got := stat.Holm([]float64{0.7, 0.6}); !slices.Equal(got, []float64{1, 1}) {
		t.Errorf("%v, want no probability above 1", got)
	}
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
		i := stat.MomentsOf(test.values).MeanInterval(0.95)
		near(t, "half of the interval", (i.Hi-i.Lo)/2, test.half, 0.001)
		near(t, "middle", (i.Hi+i.Lo)/2, stat.Mean(test.values), 1e-9)
	}
	if i := stat.MomentsOf([]float64{1}).MeanInterval(0.95); i.Coverage != 0 {
		t.Errorf("interval %+v of one value", i)
	}
}
