package analysis_test

import (
	"math"
	"strings"
	"testing"

	"lockstep/app/analysis"
	"lockstep/app/record"
)

func TestGPUText(t *testing.T) {
	g := &record.RankGPU{GPU: record.GPU{MemoryBytes: 140 << 30}, BytesInUse: 5 << 30,
		Time: &record.GPUTime{Steps: 4, Seconds: 0.04, Forward: 0.01, Backward: 0.02, Optimizer: 0.002}}
	want := "forward 2.50 ms, backward 5.00 ms, optimizer 0.500 ms of a step of 10.0 ms by its own clock, " +
		"idle for 20 % of it (4 steps watched); at most 5 of 140 GiB of its memory seen in use, by all " +
		"processes"
	if got := analysis.GPUText(g); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	g.Time.Optimizer, g.BytesInUse = 0, 0
	if got := analysis.GPUText(g); strings.Contains(got, "optimizer") || strings.Contains(got, "GiB") {
		t.Errorf("%q tells what is not known", got)
	}
	for _, none := range []*record.RankGPU{nil, {}, {Time: &record.GPUTime{}},
		{Time: &record.GPUTime{Steps: 2}}} {
		if got := analysis.GPUText(none); got != "" {
			t.Errorf("%+v: %q", none, got)
		}
	}
}

// What a GPU cannot have done is refused.
func TestContradictionsOfGPUs(t *testing.T) {
	const inUse = 5 << 30
	timed := func(steps int, seconds, forward, backward float64) record.RankGPU {
		return record.RankGPU{Time: &record.GPUTime{Steps: steps, Seconds: seconds, Forward: forward,
			Backward: backward, Optimizer: 0.01}}
	}
	for _, test := range []struct {
		name   string
		gpu    record.RankGPU
		change func(*record.Run)
		want   string
	}{
		{"as measured", timed(2, 0.2, 0.05, 0.1), nil, ""},
		{"no time", record.RankGPU{BytesInUse: inUse}, nil, ""},
		{"passes longer than their steps", timed(2, 0.2, 0.1, 0.21), nil,
			"took 310 ms for the passes of 2 steps"},
		{"more steps", timed(1e6, 0.2, 0.1, 0.1), nil, "was watched in 1000000 of"},
		{"longer than the run", timed(2, 1e6, 0.1, 0.1), nil, "and all steps took"},
		{"no number", timed(2, math.NaN(), 0, 0), nil, "a time of these steps of NaN"},
		{"negative", record.RankGPU{BytesInUse: -1}, nil, "a memory in use of -1"},
		{"more memory than it has", record.RankGPU{GPU: record.GPU{MemoryBytes: 4 << 30}, BytesInUse: inUse},
			nil, "and 5.369e+09 were in use"},
		{"on the processor", record.RankGPU{}, func(r *record.Run) { r.Device = "cpu" },
			"H100 computed it, and its device is \"cpu\""},
		{"on the processor, unnamed", record.RankGPU{}, func(r *record.Run) { r.Device, r.GPU = "cpu", "" },
			"the device of the run is \"cpu\""},
		{"without a GPU", record.RankGPU{}, func(r *record.Run) { r.Ranks[0].GPU = nil },
			"no rank names the GPU \"H100\""},
		{"on another's GPU", record.RankGPU{}, func(r *record.Run) {
			r.Device, r.GPU, r.Ranks[0].GPU = "rocm", "", nil
		}, `its device is "rocm", and there are cpu and cuda`},
		{"on a GPU beyond all", record.RankGPU{}, func(r *record.Run) { r.Device = "cuda:64" },
			`its device is "cuda:64"`},
		{"on the last GPU", record.RankGPU{}, func(r *record.Run) { r.Device = "cuda:63" }, ""},
		{"a billion GPUs", record.RankGPU{}, func(r *record.Run) { r.GPUs = 1e9 }, "gpus is 1000000000"},
		{"fewer than no workers", record.RankGPU{}, func(r *record.Run) { r.GPUWorkers = -7 },
			"gpu_workers, those on the busiest one, -7"},
		{"updates longer than the run", record.RankGPU{Time: &record.GPUTime{Steps: 2, Seconds: 0.2,
			Optimizer: 1e6}}, nil, "for updates, and all steps took"},
		{"passes in no time", timed(2, 0, 0.1, 0.1), nil, "watched in 2 steps of 0 ms"},
		{"beyond any GPU", record.RankGPU{}, func(r *record.Run) { r.PeakFLOPs = 1e18 }, "which none does"},
		{"a processor that says it is a GPU", record.RankGPU{}, func(r *record.Run) {
			r.Device, r.GPU, r.PeakFLOPs, r.Ranks[0].GPU = "cpu", "", 1e15, nil
		}, "which no processor does"},
	} {
		r := unsealed(t)
		run := &r.Rows[0].Runs[0]
		test.gpu.Name = "H100"
		run.Device, run.GPU, run.Ranks[0].GPU = "cuda", "H100", &test.gpu
		if test.change != nil {
			test.change(run)
		}
		got := ""
		for _, c := range analysis.Compare(r).Contradictions() {
			got += c.Text + "\n"
		}
		if !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "GPU of rank") {
			t.Errorf("%s: contradictions %q, want %q", test.name, got, test.want)
		}
	}
}

func TestPriceOf(t *testing.T) {
	p, isKnown := analysis.PriceOf([]string{"NVIDIA H100 80GB HBM3"})
	if !isKnown || math.Abs(p.Device()-6.88) > 1e-9 {
		t.Errorf("%+v, want $6.88 for a GPU", p)
	}
	for _, names := range [][]string{nil, {""}, {"emulated GPU"}, {"NVIDIA H100 80GB HBM3", "NVIDIA H200"}} {
		if p, isKnown := analysis.PriceOf(names); isKnown {
			t.Errorf("%q have the price %+v", names, p)
		}
	}
}
