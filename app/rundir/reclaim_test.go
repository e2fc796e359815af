package rundir_test

import (
	"os"
	"path/filepath"
	"testing"

	"lockstep/app/rundir"
)

// An ended run that is resumed from an earlier step, and makes none, stays as it was, with all lines that its
// summary is of. One that makes a step loses what was done again.
func TestReclaimOfAnEndedRun(t *testing.T) {
	const lines = `{"rank":0,"step":0}` + "\n" + `{"rank":0,"step":1}` + "\n" + `{"rank":0,"step":2}` + "\n"
	files := map[string]string{"config.yaml": "c", "host.json": "h", "summary.json": "s",
		"steps.jsonl": lines, "evaluations.jsonl": "e\n"}
	for _, hasStep := range []bool{false, true} {
		folder := t.TempDir()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		d, err := rundir.Reclaim(folder, 1)
		if err == nil {
			err = d.CutEvaluations(nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(d.Path("steps.jsonl"))
		if err != nil || string(text) != lines[:len(lines)/3] {
			t.Errorf("%v, %q", err, text)
		}
		if hasStep {
			err = os.WriteFile(d.Path("steps.jsonl"), append(text, text...), 0o644)
		}
		if err != nil || d.IsAsItWas() == hasStep {
			t.Errorf("%v, as it was: %t", err, d.IsAsItWas())
		}
		if err := d.Abandon(false); err != nil {
			t.Fatal(err)
		}
		d.Unlock()
		left, err := os.ReadDir(folder)
		if want := map[bool]int{false: len(files), true: 1}[hasStep]; err != nil || len(left) != want {
			t.Errorf("%v, %d files, want %d: %v", err, len(left), want, left)
		}
		for name, want := range files {
			if got, _ := os.ReadFile(filepath.Join(folder, name)); !hasStep && string(got) != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	}
}
