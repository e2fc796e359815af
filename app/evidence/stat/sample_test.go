package stat_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lockstep/app/evidence/stat"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestQuantile(t *testing.T) {
	x := []float64{4, math.NaN(), 1, 3, 2}
	for q, want := range map[float64]float64{0: 1, 0.1: 1.3, 0.25: 1.75, 0.5: 2.5, 0.9: 3.7, 1: 4} {
		near(t, "quantile", stat.Quantile(x, q), want, 1e-12)
	}
	near(t, "median of three", stat.Median([]float64{9, 1, 5}), 5, 0)
	near(t, "mean", stat.Mean(x), 2.5, 0)
	if !math.IsNaN(stat.Median(nil)) || !math.IsNaN(stat.Mean(nil)) {
		t.Error("an empty sample has a median or a mean")
	}
	if x[0] != 4 {
		t.Error("the sample was sorted in place")
	}
}

func TestSummarize(t *testing.T) {
	s := stat.Summarize([]float64{10, 12, 11, 9, 13})
	if s.N != 5 || s.Min != 9 || s.Median != 11 || s.Max != 13 {
		t.Errorf("summary %+v", s)
	}
	near(t, "p10", s.P10, 9.4, 1e-12)
	near(t, "p90", s.P90, 12.6, 1e-12)
	near(t, "spread", s.Spread(), 4.0/11, 1e-12)
	if one := stat.Summarize([]float64{7}); one.Median != 7 || !math.IsNaN(one.Spread()) {
		t.Errorf("one value has the spread %v", one.Spread())
	}
}

func TestPairedRatio(t *testing.T) {
	// A drift that doubles both sides leaves the pairs alone; unpaired medians would say 1.5.
	single := []float64{2, 2, 4, math.NaN(), 2}
	ddp := []float64{1, 1, 2, 3, 1}
	r := stat.PairedRatio(single, ddp, stat.Noise{})
	if len(r.Values) != 4 || r.Median != 2 || !r.IsDecided() || !r.IsWithin(1e-9) {
		t.Errorf("ratio %+v, want four pairs of 2", r)
	}
	near(t, "efficiency", r.Scaled(0.5).Median, 1, 0)
	if stat.PairedRatio([]float64{math.NaN()}, []float64{1}, stat.Noise{}).Known() {
		t.Error("a ratio without a pair is known")
	}
	defer func() {
		if recover() == nil {
			t.Error("slices of different length are taken")
		}
	}()
	stat.PairedRatio(single, ddp[:1], stat.Noise{})
}

func TestSummaryProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(0.001, 1000), stat.LeastRounds, 40).Draw(t, "x")
		ones := slices.Repeat([]float64{1}, len(x))
		s, i := stat.Summarize(x), stat.PairedRatio(x, ones, stat.Noise{Correlation: 0.5}).Interval
		if !(s.Min <= s.P10 && s.P10 <= s.Median && s.Median <= s.P90 && s.P90 <= s.Max) {
			t.Fatalf("not in order: %+v", s)
		}
		if !i.Contains(s.Median) || i.Coverage <= 0 || i.Coverage >= 1 {
			t.Fatalf("the interval %+v does not fit the median %v", i, s.Median)
		}
	})
}
