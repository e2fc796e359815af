package report_test

import (
	"strings"
	"testing"

	"lockstep/app/record"
)

// reconfigured gives the runs of a row other values of settings, and other parameters.
func reconfigured(row *record.Row, config, hash string) {
	for i := range row.Runs {
		row.Runs[i].Config, row.Runs[i].ParameterSHA256 = []byte(config), hash
	}
}

// A row of other work is told apart from the rows that end with the same parameters, which are not all then.
func TestParametersOfOtherWork(t *testing.T) {
	r := only(sample(), "lenet")
	if page := render(t, asPage, r); strings.Count(page, "= all rows") != 5 {
		t.Errorf("%d cells say that all rows agree, want 5", strings.Count(page, "= all rows"))
	}
	reconfigured(&r.Rows[4], `{"model":"lenet","optimizer":"adamw"}`, strings.Repeat("b", 64))
	page := render(t, asPage, r)
	for text, want := range map[string]int{"= all rows": 0, "= rows of equal work": 4,
		"<small>other work</small>": 1} {
		if got := strings.Count(page, text); got != want {
			t.Errorf("%d cells say %q, want %d", got, text, want)
		}
	}
}

// Where a row has no efficiency, its cell says why.
func TestEfficiencyAcrossMaths(t *testing.T) {
	r := only(sample(), "lenet")
	for i := range r.Rows {
		config := `{"math":"fast"}`
		if i == 4 {
			config = `{"math":"bf16x3"}`
		}
		reconfigured(&r.Rows[i], config, strings.Repeat("b", 64))
	}
	if got := strings.Count(render(t, asPage, r), "<small>other math</small>"); got != 1 {
		t.Errorf("%d cells say that the math is another, want 1", got)
	}
}
