package report_test

import (
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report"
)

// What made the times of kernels longer, or limits lower, is said above them, in the text and in the file; of
// one thread, the distance of the cores is nothing.
func TestKernelsCautions(t *testing.T) {
	const taken, distance, peak, step = "8.0 % of the cores' time went to other processes; measure again",
		"A cache line took 341 ns to another core and back",
		"reached 118 GFLOP/s at least, 236 at most, and bounds are by the median, 118",
		"A step took 4.3 times as long as its ops"
	ops := []compare.Timing{{Op: "conv", Median: 0.010}, {Op: "linear", Median: 0.014}}
	type numbers = record.Numbers
	for _, test := range []struct {
		kernels compare.Kernels
		want    string // of the above; "": none
	}{
		{compare.Kernels{Threads: 2, CoreLatency: numbers{60, 341}}, distance},
		{compare.Kernels{Threads: 1, CoreLatency: numbers{60, 341},
			Taken: &record.Taken{Others: 0.08}}, taken},
		{compare.Kernels{Threads: 2, CoreLatency: numbers{60, 72}}, ""},
		{compare.Kernels{Threads: 2, PeakSamples: numbers{118e9, 118e9, 236e9}, PeakFLOPs: 118e9}, peak},
		{compare.Kernels{Threads: 2, PeakSamples: numbers{231e9, 233e9, 236e9}, PeakFLOPs: 233e9}, ""},
		{compare.Kernels{Threads: 1, StepSeconds: numbers{0.103}, Layers: ops}, step},
		{compare.Kernels{Threads: 1, StepSeconds: numbers{0.025}, Layers: ops}, ""},
	} {
		var text, file strings.Builder
		if err := report.Kernels(&test.kernels, false).Text(&text); err != nil {
			t.Fatal(err)
		}
		if err := report.Kernels(&test.kernels, false).Markdown(&file); err != nil {
			t.Fatal(err)
		}
		for _, out := range []string{text.String(), file.String()} {
			for _, caution := range []string{taken, distance, peak, step} {
				if strings.Contains(out, caution) != (caution == test.want) {
					t.Errorf("%+v: %q, want %q", test.kernels, out, test.want)
				}
			}
		}
	}
}
