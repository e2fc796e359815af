package report_test

import (
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/report"
)

// What made the times of kernels longer is said above them.
func TestKernelsCautions(t *testing.T) {
	const taken, step = "8.0 % of the cores' time went to other processes; measure again",
		"A step took 4.3 times as long as its ops"
	ops := []compare.Timing{{Op: "conv", Median: 0.010}, {Op: "linear", Median: 0.014}}
	for _, test := range []struct {
		kernels compare.Kernels
		want    string // of the above; "": none
	}{
		{compare.Kernels{Taken: &record.Taken{Others: 0.08}}, taken},
		{compare.Kernels{StepSeconds: record.Numbers{0.103}, Layers: ops}, step},
		{compare.Kernels{StepSeconds: record.Numbers{0.025}, Layers: ops}, ""},
	} {
		var text strings.Builder
		if err := report.Kernels(&test.kernels, false).Text(&text); err != nil {
			t.Fatal(err)
		}
		for _, caution := range []string{taken, step} {
			if strings.Contains(text.String(), caution) != (caution == test.want) {
				t.Errorf("%+v: %q, want %q", test.kernels, text.String(), test.want)
			}
		}
	}
}
