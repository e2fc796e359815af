package report_test

import (
	"strings"
	"testing"

	"lockstep/app/analysis"
	"lockstep/app/record"
	"lockstep/app/report"
)

// What made the times of kernels longer is said above them, in the text and in the file; of one thread, the
// distance of the cores is nothing.
func TestKernelsCautions(t *testing.T) {
	const taken, distance = "8.0 % of the cores' time went to other processes; measure again",
		"a cache line took 341 ns to another core and back"
	for _, test := range []struct {
		kernels         analysis.Kernels
		taken, distance bool
	}{
		{analysis.Kernels{Threads: 2, CoreLatency: record.Numbers{60, 341}}, false, true},
		{analysis.Kernels{Threads: 1, CoreLatency: record.Numbers{60, 341},
			Taken: &record.Taken{Others: 0.08}}, true, false},
		{analysis.Kernels{Threads: 2, CoreLatency: record.Numbers{60, 72}}, false, false},
		{analysis.Kernels{Threads: 2}, false, false},
	} {
		var text, file strings.Builder
		if err := report.KernelsText(&text, &test.kernels, false); err != nil {
			t.Fatal(err)
		}
		if err := report.KernelsMarkdown(&file, &test.kernels); err != nil {
			t.Fatal(err)
		}
		for _, out := range []string{text.String(), file.String()} {
			if strings.Contains(out, taken) != test.taken ||
				strings.Contains(out, distance) != test.distance {
				t.Errorf("%+v: %s", test.kernels, out)
			}
		}
	}
}
