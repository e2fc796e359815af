package report_test

import (
	"bytes"
	"strings"
	"testing"

	"lockstep/app/record"
	"lockstep/app/report"
)

// asked returns the page of results that are asked something, as Markdown.
func asked(t *testing.T, r *record.Results, of record.Inquiry) string {
	t.Helper()
	r.Inquiry = &of
	var page bytes.Buffer
	if err := report.Benchmark(r).Markdown(&page); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// A question whose row was not run has no figure of ours, and surely not 0.
func TestAnUnmeasuredAnswerHasNoFigure(t *testing.T) {
	page := asked(t, sample(), record.Inquiry{Questions: []record.Question{{Ask: "Is ps slower?",
		Quantity: "step", Of: record.Selector{"strategy": "ps"}, Over: []record.Selector{{"workers": "1"}},
		Above: new(1.0)}}})
	if want := "not measured (one of its rows was not run); asked: above 1"; !strings.Contains(page, want) {
		t.Errorf("no %q in\n%.2000s", want, page)
	}
}
