package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/record"
)

// A results.json with the samples of one run halved is refused, and no report is made of it.
func TestDoctoredResults(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "results", "r3", "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "results.json")
	write := func(text []byte) {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const reason = "Row 1 (single 1×1), round 1: its steps trained on 10240 samples together, the run on " +
		"5120."
	write(bytes.Replace(text, []byte(`"samples":10240`), []byte(`"samples":5120`), 1))
	status, _, stderr := execute("report", folder)
	if status != job.ExitCheck || !strings.Contains(stderr, "lockstep: refused: "+reason) {
		t.Errorf("report: status %d, %q", status, stderr)
	}
	if _, err := os.Stat(filepath.Join(folder, "report.html")); err == nil {
		t.Error("a report was made")
	}
	status, stdout, stderr := execute("check", path)
	if status != job.ExitCheck || !strings.Contains(stdout, "refused: contradiction: "+reason) ||
		stderr != "" {
		t.Errorf("check: status %d, %q, %q", status, stdout, stderr)
	}
	for name, change := range map[string]func(r *record.Results){
		"a rank's time":    func(r *record.Results) { r.Rows[4].Runs[1].Ranks[2].Steps.Seconds[7] *= 0.9 },
		"a projection":     func(r *record.Results) { r.Rows[4].Runs[0].Ranks = nil },
		"a label cut":      func(r *record.Results) { r.Rows[3].Setting.Strategy = "all" },
		"a repeat removed": func(r *record.Results) { r.Rows[1].Runs = r.Rows[1].Runs[:2] },
		"a repeat and a budget": func(r *record.Results) {
			r.CutShort, r.Complete, r.Rows[1].Runs = true, false, r.Rows[1].Runs[:2]
		},
		"two rows swapped": func(r *record.Results) { r.Rows[2], r.Rows[3] = r.Rows[3], r.Rows[2] },
	} {
		r, err := record.Decode(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		var b bytes.Buffer
		if err := record.Encode(&b, r); err != nil {
			t.Fatal(err)
		}
		write(b.Bytes())
		for _, args := range [][]string{{"report", folder}, {"check", path}} {
			status, stdout, stderr := execute(args...)
			if status != job.ExitCheck || !strings.Contains(stdout+stderr, "refused") {
				t.Errorf("%s: %v: status %d, %q, %q", name, args, status, stdout, stderr)
			}
		}
	}
	write(text)
	for _, args := range [][]string{{"report", folder}, {"check", path}} {
		if status, stdout, stderr := execute(args...); status != 0 {
			t.Errorf("%v of what was measured: status %d, %q, %q", args, status, stdout, stderr)
		}
	}
}
