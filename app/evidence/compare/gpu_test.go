package compare_test

import (
	"math"
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

func TestGPUText(t *testing.T) {
	g := &record.RankGPU{GPU: record.GPU{MemoryBytes: 140 << 30}, BytesInUse: 5 << 30,
		Time: &record.GPUTime{Steps: 4, Seconds: 0.04, Forward: 0.01, Backward: 0.02, Optimizer: 0.002}}
	want := "forward 2.50 ms, backward 5.00 ms, optimizer 0.500 ms of a step of 10.0 ms by its own clock, " +
		"idle for 20 % of it (4 steps watched); at most 5 of 140 GiB of its memory seen in use, by all " +
		"processes"
	if got := compare.GPUText(g); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	g.Time.Optimizer, g.BytesInUse = 0, 0
	if got := compare.GPUText(g); strings.Contains(got, "optimizer") || strings.Contains(got, "GiB") {
		t.Errorf("%q tells what is not known", got)
	}
	for _, none := range []*record.RankGPU{nil, {}, {Time: &record.GPUTime{}},
		{Time: &record.GPUTime{Steps: 2}}} {
		if got := compare.GPUText(none); got != "" {
			t.Errorf("%+v: %q", none, got)
		}
	}
}

func TestPriceOf(t *testing.T) {
	p, isKnown := compare.PriceOf([]string{"NVIDIA H100 80GB HBM3"})
	if !isKnown || math.Abs(p.Device()-6.88) > 1e-9 {
		t.Errorf("%+v, want $6.88 for a GPU", p)
	}
	for _, names := range [][]string{nil, {""}, {"emulated GPU"}, {"NVIDIA H100 80GB HBM3", "NVIDIA H200"}} {
		if p, isKnown := compare.PriceOf(names); isKnown {
			t.Errorf("%q have the price %+v", names, p)
		}
	}
}
