package analysis_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lockstep/app/analysis"
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
		near(t, "quantile", analysis.Quantile(x, q), want, 1e-12)
	}
	near(t, "median of three", analysis.Median([]float64{9, 1, 5}), 5, 0)
	near(t, "mean", analysis.Mean(x), 2.5, 0)
	if !math.IsNaN(analysis.Median(nil)) || !math.IsNaN(analysis.Mean(nil)) {
		t.Error("an empty sample has a median or a mean")
	}
	if x[0] != 4 {
		t.Error("the sample was sorted in place")
	}
}

func TestRunningMedian(t *testing.T) {
	got := analysis.RunningMedian([]float64{9, 1, 2, 30, 4}, 1)
	if want := []float64{5, 2, 2, 4, 17}; !slices.Equal(got, want) {
		t.Errorf("running median %v, want %v", got, want)
	}
}

func TestSummarize(t *testing.T) {
	s := analysis.Summarize([]float64{10, 12, 11, 9, 13})
	if s.N != 5 || s.Min != 9 || s.Median != 11 || s.Max != 13 {
		t.Errorf("summary %+v", s)
	}
	near(t, "p10", s.P10, 9.4, 1e-12)
	near(t, "p90", s.P90, 12.6, 1e-12)
	near(t, "spread", s.Spread(), 4.0/11, 1e-12)
	if one := analysis.Summarize([]float64{7}); one.Median != 7 || !math.IsNaN(one.Spread()) {
		t.Errorf("one value has the spread %v", one.Spread())
	}
}

// The coverages are those of the binomial distribution with p = 1/2; for n = 20 the pair is the
// 6th and 15th value (David and Nagaraja, table of distribution-free intervals: 0.959).
func TestMedianInterval(t *testing.T) {
	upTo := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(n - i)
		}
		return x
	}
	for n, want := range map[int]analysis.Interval{
		2:  {Lo: 1, Hi: 2, Coverage: 0.5},
		3:  {Lo: 1, Hi: 3, Coverage: 0.75},
		5:  {Lo: 1, Hi: 5, Coverage: 0.9375},
		6:  {Lo: 1, Hi: 6, Coverage: 0.96875},
		10: {Lo: 2, Hi: 9, Coverage: 0.978515625},
		20: {Lo: 6, Hi: 15, Coverage: 0.9586105346679688},
	} {
		if got := analysis.MedianInterval(upTo(n), 0.95); got != want {
			t.Errorf("n %d: %+v, want %+v", n, got, want)
		}
	}
	if got := analysis.MedianInterval([]float64{1}, 0.95); got.Coverage != 0 || got.Contains(1) {
		t.Errorf("one value has the interval %+v", got)
	}
}

func TestPairedRatio(t *testing.T) {
	// A drift that doubles both sides leaves the pairs alone; unpaired medians would say 1.5.
	single := []float64{2, 2, 4, math.NaN()}
	ddp := []float64{1, 1, 2, 3}
	r := analysis.PairedRatio(single, ddp)
	if len(r.Values) != 3 || r.Median != 2 || r.Interval.Lo != 2 || r.Interval.Hi != 2 {
		t.Errorf("ratio %+v, want three pairs of 2", r)
	}
	near(t, "efficiency", r.Scaled(0.5).Median, 1, 0)
	if analysis.PairedRatio([]float64{math.NaN()}, []float64{1}).Known() {
		t.Error("a ratio without a pair is known")
	}
	defer func() {
		if recover() == nil {
			t.Error("slices of different length are taken")
		}
	}()
	analysis.PairedRatio(single, ddp[:1])
}

func TestSummaryProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(0.001, 1000), 2, 40).Draw(t, "x")
		s, i := analysis.Summarize(x), analysis.MedianInterval(x, 0.95)
		if !(s.Min <= s.P10 && s.P10 <= s.Median && s.Median <= s.P90 && s.P90 <= s.Max) {
			t.Fatalf("not in order: %+v", s)
		}
		if !i.Contains(s.Median) || i.Coverage <= 0 || i.Coverage >= 1 {
			t.Fatalf("the interval %+v does not fit the median %v", i, s.Median)
		}
		if len(x) >= 6 && i.Coverage < 0.95 {
			t.Fatalf("%d values cover with %v only", len(x), i.Coverage)
		}
	})
}
