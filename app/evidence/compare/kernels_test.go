package compare_test

import (
	"math"
	"slices"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

func limits() *compare.Kernels {
	return &compare.Kernels{PeakFLOPs: 100,
		Bandwidth: []compare.Bandwidth{{Bytes: 10, PerSecond: 50}, {Bytes: 100, PerSecond: 20}}}
}

func TestRate(t *testing.T) {
	k := limits()
	for _, c := range []struct {
		flops, bytes int64
		bound        float64
		by           string
	}{
		{200, 5, 2, "flops"},       // 5 bytes are fewer than were measured: as fast as the fewest
		{1, 100, 5, "bytes"},       // exactly the second working set
		{1, 99, 99. / 50, "bytes"}, // not yet
		{400, 200, 10, "bytes"},    // more than the largest: as slow as that
	} {
		timing := compare.Timing{FLOPs: c.flops, Bytes: c.bytes, Seconds: record.Numbers{40, 20, 10}}
		k.Rate(&timing)
		if timing.Median != 20 || timing.BoundBy != c.by || math.Abs(timing.Bound-c.bound) > 1e-12 {
			t.Errorf("%d FLOPs, %d bytes: %+v", c.flops, c.bytes, timing)
		}
		if got, want := timing.FLOPsPerSecond, float64(c.flops)/20; got != want {
			t.Errorf("%v FLOP/s, want %v", got, want)
		}
		if got, want := timing.OfPeak, float64(c.flops)/2000; math.Abs(got-want) > 1e-12 {
			t.Errorf("%v of the peak, want %v", got, want)
		}
		if got := timing.OfBound; math.Abs(got-c.bound/20) > 1e-12 {
			t.Errorf("%v of the bound, want %v", got, c.bound/20)
		}
	}
}

// Products of parts are bound by what such products reach, all else by multiply-adds of float32.
func TestRateOfParts(t *testing.T) {
	k := limits()
	k.PartsFLOPs = 400
	for ofParts, want := range map[bool]float64{false: 8, true: 2} {
		timing := compare.Timing{OfParts: ofParts, FLOPs: 800, Bytes: 5, Seconds: record.Numbers{16}}
		k.Rate(&timing)
		if timing.Bound != want || timing.OfPeak != want/16 {
			t.Errorf("of parts %v: %+v, want a bound of %v", ofParts, timing, want)
		}
	}
}

// What costs most is not what has the smallest share of its bound.
func TestFurthest(t *testing.T) {
	list := []compare.Timing{
		{Op: "tiny", Median: 0.1, Bound: 0.001}, {Op: "large", Median: 10, Bound: 8},
		{Op: "faster than its bound", Median: 5, Bound: 9}, {Op: "middle", Median: 3, Bound: 2},
	}
	got := compare.Furthest(list, 3)
	if len(got) != 3 || got[0].Op != "large" || got[1].Op != "middle" || got[2].Op != "tiny" {
		t.Errorf("%+v", got)
	}
	if n := len(compare.Furthest(list, 9)); n != 4 {
		t.Errorf("%d of 4", n)
	}
	if median, least := compare.Total(list); math.Abs(median-18.1) > 1e-9 || math.Abs(least-15.001) > 1e-9 {
		t.Errorf("total %v, %v at the bounds", median, least)
	}
}

// Calls of a kind add up; one that beats its bound makes good for no other, and what has no kind is
// left out.
func TestByKind(t *testing.T) {
	got := compare.ByKind([]compare.Timing{
		{Kind: "add", Median: 2, Bound: 1}, {Kind: "conv 3x3", Median: 9, Bound: 7},
		{Kind: "conv 3x3", Median: 3, Bound: 4}, {Op: "by itself", Median: 9, Bound: 1},
	})
	want := []compare.Work{{Kind: "conv 3x3", Calls: 2, Median: 12, Bound: 11, Lost: 2},
		{Kind: "add", Calls: 1, Median: 2, Bound: 1, Lost: 1}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
