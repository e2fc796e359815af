package report_test

import (
	"strings"
	"testing"

	"lockstep/app/record"
)

// onGPU makes the first rows be computed by a GPU of that name.
func onGPU(r *record.Results, name string, rows int) *record.Results {
	for i := range r.Rows[:rows] {
		for j := range r.Rows[i].Runs {
			run := &r.Rows[i].Runs[j]
			run.Device, run.GPU, run.GPUWorkers, run.GPUs = "cuda", name, 1, len(run.Ranks)
			for k := range run.Ranks {
				tellGPU(&run.Ranks[k], name)
			}
		}
	}
	return r
}

// tellGPU fills what the GPU of a rank did.
func tellGPU(rank *record.Rank, name string) {
	rank.GPU = &record.RankGPU{GPU: record.GPU{Name: name, MemoryBytes: 80 << 30}, BytesInUse: 3 << 30,
		Time: &record.GPUTime{Steps: 2, Seconds: 0.02, Forward: 0.004, Backward: 0.01, Optimizer: 0.001}}
	for range rank.Steps.Seconds {
		rank.Steps.GPU = append(rank.Steps.GPU, 3<<30)
	}
}

// A page of rows on GPUs shows what these did, their memory, and what their time costs at a price of theirs.
func TestGPUs(t *testing.T) {
	all := len(rich().Rows)
	for _, test := range []struct {
		name        string
		rows        int
		want, never []string
	}{
		{"NVIDIA H100 80GB HBM3", 1, []string{"What the GPU did", "GPU-minutes", "core-minutes",
			"p5.48xlarge", "c5.2xlarge", "these devices were not rented"}, []string{"No price is known"}},
		{"NVIDIA T4", all, []string{"What the GPU did", "GPU-minutes", "memory of the GPU",
			"No price is known here of a machine with NVIDIA T4"}, []string{"c5.2xlarge", "p5.48xlarge",
			"projection: ", "core-minutes"}},
		{"", 0, []string{"core-minutes", "these devices were not rented"}, []string{"GPU did", "GPU-minutes",
			"memory of the GPU"}},
	} {
		page := render(t, asPage, onGPU(rich(), test.name, test.rows))
		for _, want := range test.want {
			if !strings.Contains(page, want) {
				t.Errorf("%q: the page lacks %q", test.name, want)
			}
		}
		for _, never := range test.never {
			if strings.Contains(page, never) {
				t.Errorf("%q: the page has %q", test.name, never)
			}
		}
	}
}
