package analysis_test

import (
	"math"
	"strings"
	"testing"

	"lockstep/app/analysis"
	"lockstep/app/record"
)

func TestGPUText(t *testing.T) {
	g := &record.RankGPU{GPU: record.GPU{MemoryBytes: 140e9}, BytesInUse: 5.25e9,
		Time: &record.GPUTime{Steps: 4, Seconds: 0.04, Forward: 0.01, Backward: 0.02, Optimizer: 0.002}}
	want := "forward 2.50 ms, backward 5.00 ms, update 0.500 ms of a step of 10.0 ms by its own clock, " +
		"busy for 80 % of it (4 steps watched); 5.25 of 140 GB in use at most, by all processes"
	if got := analysis.GPUText(g); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	g.Time.Optimizer, g.BytesInUse = 0, 0
	if got := analysis.GPUText(g); strings.Contains(got, "update") || strings.Contains(got, "GB") {
		t.Errorf("%q tells what is not known", got)
	}
	for _, none := range []*record.RankGPU{nil, {}, {Time: &record.GPUTime{}}} {
		if got := analysis.GPUText(none); got != "" {
			t.Errorf("%+v: %q", none, got)
		}
	}
}

// What a GPU cannot have done is refused.
func TestContradictionsOfGPUs(t *testing.T) {
	for _, test := range []struct {
		name string
		gpu  record.RankGPU
		want string
	}{
		{"as measured", record.RankGPU{BytesInUse: 5 << 30, Time: &record.GPUTime{Steps: 2, Seconds: 0.2,
			Forward: 0.05, Backward: 0.1, Optimizer: 0.01}}, ""},
		{"no time", record.RankGPU{}, ""},
		{"longer than the steps", record.RankGPU{Time: &record.GPUTime{Steps: 2, Seconds: 0.2, Forward: 0.1,
			Backward: 0.21}}, "was busy for 310 ms in 2 of"},
		{"more steps", record.RankGPU{Time: &record.GPUTime{Steps: 1e6, Seconds: 0.2}}, "in 1000000 of"},
		{"no number", record.RankGPU{Time: &record.GPUTime{Steps: 2, Seconds: math.NaN()}}, "is NaN"},
		{"negative", record.RankGPU{BytesInUse: -1}, "the memory in use of the GPU of rank 0 is -1"},
	} {
		r := unsealed(t)
		r.Rows[0].Runs[0].Ranks[0].GPU = &test.gpu
		got := ""
		for _, c := range analysis.Compare(r).Contradictions() {
			got += c.Text + "\n"
		}
		if !strings.Contains(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s: contradictions %q, want %q", test.name, got, test.want)
		}
	}
}

func TestPriceOf(t *testing.T) {
	if p, isKnown := analysis.PriceOf("NVIDIA H100 80GB HBM3"); !isKnown || math.Abs(p.Device()-6.88) > 1e-9 {
		t.Errorf("%+v, want $6.88 for a GPU", p)
	}
	for _, name := range []string{"", "emulated GPU"} {
		if p, isKnown := analysis.PriceOf(name); isKnown {
			t.Errorf("%q has the price %+v", name, p)
		}
	}
}
