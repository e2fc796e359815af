package report_test

import (
	"strings"
	"testing"

	"lockstep/app/report"
)

// Links in the clear between hosts stand in a red line above the answer; on one machine there is none.
func TestAlertOfClearLinks(t *testing.T) {
	const line = `<p class="alert" role="alert">`
	for hosts, want := range map[int]bool{0: false, 1: false, 2: true} {
		r := only(sample(), "lenet")
		for i := range r.Rows {
			r.Rows[i].Setting.Hosts, r.Rows[i].Setting.PerHost = hosts, 1
			for j := range r.Rows[i].Runs {
				r.Rows[i].Runs[j].Config = []byte(`{"insecure":true}`)
			}
		}
		page := render(t, asPage, r)
		at := strings.Index(page, line)
		if (at >= 0) != want || want && at > strings.Index(page, `id="answer"`) {
			t.Errorf("%d hosts: the line is at %d", hosts, at)
		}
	}
	run := training(t, "lenet")
	run.Cautions = append(run.Cautions, "links between hosts were not encrypted (--insecure)")
	folder := t.TempDir()
	if err := report.Run(run).Write(folder); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(read(t, folder, report.HTMLFile), line); n != 1 {
		t.Errorf("%d red lines, want 1", n)
	}
	if !strings.Contains(read(t, folder, report.MarkdownFile), "**Warning**: links between hosts") {
		t.Error("the text has no warning")
	}
}
