package rundir_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"lockstep/app/rundir"
	"lockstep/trace"
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

// FuzzEvaluations reads the evaluations of a run.
func FuzzEvaluations(f *testing.F) {
	f.Add([]byte(`{"steps":1,"loss":0.5}` + "\n" + `{"steps":2,"lo`))
	f.Add([]byte("\n\nnull\n[]\n"))
	dir := rundir.Directory(f.TempDir())
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(dir.Path(rundir.EvaluationsFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := dir.Evaluations()
		if lines := bytes.Count(text, []byte("\n")) + 1; err != nil || len(all) > lines {
			t.Errorf("%d evaluations in %d lines: %v", len(all), lines, err)
		}
	})
}

// FuzzRecording merges a worker's recording with another's.
func FuzzRecording(f *testing.F) {
	f.Add([]byte(`{"rank":1,"origin":5,"lanes":[{"name":"a","spans":[{"name":"b","start":1,"length":2}]}]}`))
	f.Add([]byte(`{"origin":-9223372036854775808,"lanes":[{"dropped":-1,"spans":[{"length":-2}]}]}`))
	dir := rundir.Directory(f.TempDir())
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := dir.KeepRecording(0, trace.Recording{}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir.Path(".trace1.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if dir.MergeTraces(2) != nil {
			return
		}
		merged, err := os.ReadFile(dir.Path(rundir.TraceFile))
		if err != nil || !json.Valid(merged) {
			t.Errorf("merged with %q it is no JSON: %v", text, err)
		}
	})
}
