package rundir_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

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

// FuzzTrace writes the trace of a rank and of one whose spans may be damaged.
func FuzzTrace(f *testing.F) {
	dir := rundir.Directory(f.TempDir())
	for rank := range 2 {
		r := trace.NewRecorder(rank, func() (io.WriteCloser, error) { return dir.CreateSpans(rank) })
		r.Track("train").Span("step", 1, time.Now(), time.Now())
		if err := r.Close(); err != nil {
			f.Fatal(err)
		}
	}
	whole, err := os.ReadFile(dir.Path(rundir.SpansFile(1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, text []byte) {
		os.Remove(dir.Path(rundir.TraceFile))
		if err := os.WriteFile(dir.Path(rundir.SpansFile(1)), text, 0o600); err != nil {
			t.Fatal(err)
		}
		err := dir.WriteTrace(2)
		written, missing := os.ReadFile(dir.Path(rundir.TraceFile))
		if (err == nil) != (missing == nil) || err == nil && !json.Valid(written) {
			t.Errorf("%v; with %q it is no JSON: %v", err, text, missing)
		}
	})
}
