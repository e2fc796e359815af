package report_test

import (
	"strings"
	"testing"

	"lockstep/app/record"
)

// A worker whose processors drop for a tenth of a second has its reason beside it, and what it used is drawn.
func TestDropsOfProcessors(t *testing.T) {
	r := only(sample(), "lenet")
	r.Rows = r.Rows[:1]
	for i := range r.Rows[0].Runs {
		s := &r.Rows[0].Runs[i].Ranks[0].Steps
		n := len(s.Seconds)
		column := func(v float64) record.Numbers {
			values := make(record.Numbers, n)
			for i := range values {
				values[i] = v
			}
			return values
		}
		s.Usage, s.CPU, s.RSS = column(0.11), column(0.11), column(1<<20)
		s.Checkpoint, s.Paused = column(0), column(0)
		s.CPU[2], s.Checkpoint[2] = 0.02, 0.09
		s.CPU[4], s.Paused[4] = 0.05, 0.06
		s.CPU[5] = 0.01
	}
	page := render(t, asText, r)
	for _, want := range []string{"3 of ", ", 1 at a checkpoint, 1 untold, 1 with Go's collector at work |",
		"### Processors in use", "| 1 |"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page[strings.Index(page, "What each worker did"):][:1500])
		}
	}
}
