package rundir_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"lockstep/app/rundir"
)

// FuzzStepLog cuts a step log: what stays is whole lines of it, of earlier steps.
func FuzzStepLog(f *testing.F) {
	f.Add([]byte(`{"rank":0,"step":0}`+"\n"+`{"rank":0,"step":7}`+"\n"+`{"rank":1,"st`), 5)
	f.Add([]byte("\n\nnull\n[]\n"), 0)
	folder := f.TempDir()
	path := filepath.Join(folder, "steps.jsonl")
	f.Fuzz(func(t *testing.T, text []byte, step int) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := rundir.CutSteps(folder, step); err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(kept) {
			var l struct{ Step int }
			if !bytes.Contains(text, line) || json.Unmarshal(line, &l) != nil || l.Step >= step {
				t.Fatalf("%q stays of %q", line, text)
			}
		}
	})
}
