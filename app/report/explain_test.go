package report_test

import (
	"bytes"
	"strings"
	"testing"

	"lockstep/app/explain"
	"lockstep/app/report"
)

// A cause that has all of a difference is said to; of one that others make up for in part, the difference
// comes first, then both parts. What computed is named where it differs.
func TestASentenceAddsUp(t *testing.T) {
	e := explain.Explanation{A: explain.Compared{Name: "one", StepMS: 5, Runs: 3},
		B: explain.Compared{Name: "two", StepMS: 4.415, Runs: 3}, DifferenceMS: -0.585, IsTold: true,
		Rounds: 3, Terms: []explain.Term{{Name: "work", MS: -0.760, Low: -0.8, High: -0.7, Measured: true,
			Intervention: "one worker alone"}}, Culprit: "work", CulpritMS: -0.760}
	for _, test := range []struct {
		culprit float64
		want    string
	}{
		{-0.760, "A step of two takes 0.585 ms less than one of one: 0.760 ms less by samples that a " +
			"worker computes (work: measured by one worker alone), and 0.175 ms longer by the rest."},
		{-0.585, "A step of two takes 0.585 ms less than one of one: all of it by samples that a worker " +
			"computes (work: measured by one worker alone)."},
		{-0.5, "A step of two takes 0.585 ms less than one of one: 0.500 ms of it by samples that a worker " +
			"computes (work: measured by one worker alone)."},
	} {
		e.CulpritMS = test.culprit
		if got := report.NewExplained(&e).Sentence; got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
	e.B.Kernels = "plain"
	var text bytes.Buffer
	err := report.NewExplained(&e).Report().Text(&text)
	if err != nil || !strings.Contains(text.String(), "two (computed by plain; 3 runs recorded") {
		t.Errorf("%v, %s", err, text.String())
	}
}
