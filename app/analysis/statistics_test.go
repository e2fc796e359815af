package analysis_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/app/analysis"
	"lockstep/app/record"
)

// Efron, Annals of Statistics 7, 1979, section 3: the bootstrap median of 13 values is the l-th smallest with
// probability 0.0015 (l = 2, 12), 0.0142 (3, 11), 0.0550 (4, 10), 0.1242 (5, 9), 0.1936 (6, 8), 0.2230 (7).
func TestBootstrapAgainstEfron(t *testing.T) {
	var x []float64
	for l := range 13 {
		x = append(x, float64(13-l))
	}
	for _, want := range []struct{ coverage, lo, hi float64 }{
		{0.95, 4, 10}, // 0.0157 of the medians lie below 4, 0.0707 at or below it
		{0.80, 5, 9},  // 0.0707 below 5, 0.1949 at or below it
		{0.50, 6, 8},  // 0.1949 below 6, 0.3885 at or below it
	} {
		for seed := range uint64(5) {
			got := analysis.BootstrapRatio(x, slices.Repeat([]float64{1}, len(x)), want.coverage, seed)
			if got.Lo != want.lo || got.Hi != want.hi || got.Coverage != want.coverage {
				t.Errorf("seed %d: %+v, want %+v", seed, got, want)
			}
		}
	}
	if x[0] != 13 {
		t.Error("the sample was sorted in place")
	}
}

// Efron and Tibshirani, An Introduction to the Bootstrap, 1993, table 2.1: survival of mice in days.
func mice() (treated, control []float64) {
	return []float64{94, 197, 16, 38, 99, 141, 23}, []float64{52, 104, 146, 10, 51, 30, 40, 27, 46}
}

// The book finds 94 against 46 days at the median to be no evidence (section 2.1: the difference of 48 is
// 1.14 standard errors), so the interval of the ratio holds 1.
func TestBootstrapRatio(t *testing.T) {
	treated, control := mice()
	got := analysis.BootstrapRatio(treated, control, 0.95, 1)
	if !got.Contains(1) || !got.Contains(94.0/46) {
		t.Errorf("interval %+v, want one with 1 and %.2f", got, 94.0/46)
	}
	if again := analysis.BootstrapRatio(treated, control, 0.95, 1); again != got {
		t.Errorf("the same seed gives %+v and %+v", got, again)
	}
	threefold, one := []float64{3, 3.1, 2.9, 3}, []float64{1, 1.1, 0.9, 1}
	if got := analysis.BootstrapRatio(threefold, one, 0.95, 1); got.Lo < 2.5 {
		t.Errorf("three times as much gives %+v", got)
	}
	for _, few := range [][]float64{nil, {1}, {math.NaN(), 2}} {
		if got := analysis.BootstrapRatio(few, control, 0.95, 1); got.Coverage != 0 || !math.IsNaN(got.Lo) {
			t.Errorf("%v: %+v, want no interval", few, got)
		}
	}
}

// The same book gives the means, 86.86 and 56.22, and their standard errors, 25.24 and 14.14 (table 2.1).
func TestMoments(t *testing.T) {
	treated, control := mice()
	a, b := analysis.MomentsOf(treated), analysis.MomentsOf(control)
	near(t, "mean of the treated", a.Mean, 86.86, 0.005)
	near(t, "mean of the control", b.Mean, 56.22, 0.005)
	near(t, "standard error of the treated", a.SD/math.Sqrt(7), 25.24, 0.005)
	near(t, "standard error of the control", b.SD/3, 14.14, 0.02)
	if m := analysis.MomentsOf([]float64{1}); m.N != 1 || !math.IsNaN(m.SD) {
		t.Errorf("moments of one value: %+v", m)
	}
}

// Lakens, "Equivalence Tests: A Practical Primer", Social Psychological and Personality Science 8, 2017: of
// the replication by Moery and Calin-Jageman, means 5.25 and 5.22, deviations 0.95 and 0.83, 95 and 89
// people, margin d = 0.43 or 0.384; the larger of the two p is that of t(182) = -2.69, p = 0.004.
func TestEquivalence(t *testing.T) {
	// Pairs that differ by 0.03 with the standard error of the two samples: the same t with fewer degrees.
	pairs := analysis.Moments{N: 92, Mean: 0.03, SD: 0.1313 * math.Sqrt(92)}
	near(t, "p of pairs", pairs.ZeroP(0.384), 0.004, 0.0005)
	if p := (analysis.Moments{N: 1}).ZeroP(1); p != 1 {
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
			at := analysis.Scaled{Processors: float64(i + 2), Speedup: s}
			near(t, "serial fraction", analysis.KarpFlatt(at), c.want[i], 0.0012)
		}
	}
}

// Amdahl's law as its textbooks tabulate it: 95 % parallel gives 5.93 on 8 and 9.14 on 16 processors.
func TestAmdahl(t *testing.T) {
	near(t, "8 processors", analysis.Amdahl(0.05, 8), 5.93, 0.005)
	near(t, "16 processors", analysis.Amdahl(0.05, 16), 9.14, 0.005)
	near(t, "1.78 on 2", analysis.KarpFlatt(analysis.Scaled{Processors: 2, Speedup: 1.78}), 0.1236, 0.0001)
}

// Each row has one serial fraction, with that of the interval of its speed-up.
func TestSerialFractionHasAnInterval(t *testing.T) {
	m := newMaker(6, 8)
	m.add(record.Setting{Strategy: "single", Workers: 1}, slices.Repeat([]float64{1}, 6)...)
	m.add(record.Setting{Strategy: "ddp", Workers: 2}, 0.59, 0.6, 0.61, 0.59, 0.6, 0.61)
	m.add(record.Setting{Strategy: "ddp", Workers: 4}, slices.Repeat([]float64{0.325}, 6)...)
	text := note(analysis.Compare(m.Results), "serial fraction")
	for _, want := range []string{"ddp 2×1 20 % (17 % to 23 %)", "ddp 4×1 10 % (10 % to 10 %)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

// The report of two devices: 2,469.67 s on one and 1,224 s on two at 1.50 dollars an hour.
func TestCost(t *testing.T) {
	near(t, "one device", analysis.Cost(2469.67, 1, 1.5), 1.03, 0.005)
	near(t, "two devices", analysis.Cost(1224, 2, 1.5), 1.02, 0.005)
	near(t, "device-minutes", analysis.DeviceMinutes(1224, 2), 40.8, 1e-9)
	for _, p := range analysis.Prices() {
		if p.Devices < 1 || p.Hour <= 0 || len(p.Date) < 7 || p.Source == "" || p.Device() > p.Hour {
			t.Errorf("price %+v lacks a part", p)
		}
	}
}
