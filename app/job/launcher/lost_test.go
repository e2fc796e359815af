package launcher_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job/launcher"
	"lockstep/app/rundir"
)

// Where the disk is full for logs and metrics, which /dev/full plays, the run says so once and ends with the
// same parameters.
func TestFullDiskForLogsDoesNotEndTheRun(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip(err)
	}
	want := run(t, short(t), launcher.Options{})
	for _, link := range []string{"local", "tcp"} {
		c := short(t)
		c.Workers, c.Link, c.Trace, c.CheckpointEvery = 2, link, true, "1h"
		var warnings []string
		s := run(t, c, launcher.Options{Progress: func(p launcher.Progress) {
			if p.Phase == "load data" { // nothing is open yet
				os.Mkdir(filepath.Join(c.Out, rundir.SpansFolder), 0o777) // there for the second worker
				for _, name := range []string{"steps.jsonl", rundir.SpansFile(0)} {
					os.Symlink(full, filepath.Join(c.Out, name)) // likewise
				}
			}
			if p.IsWarning {
				warnings = append(warnings, p.Note)
			}
		}})
		if s.ParameterSHA256 != want.ParameterSHA256 || s.Saved == nil || s.Checkpoints.Count == 0 {
			t.Errorf("%s: parameters %s, want %s; %+v", link, s.ParameterSHA256, want.ParameterSHA256, s)
		}
		lost := map[string]int{}
		for _, l := range s.Lost {
			lost[l.File]++
			if !strings.Contains(l.Reason, "no space left on device") {
				t.Errorf("%s: %v", link, l)
			}
		}
		if len(lost) != 2 || lost["steps.jsonl"] != 2 || lost[rundir.SpansFolder] != 1 || len(warnings) != 3 {
			t.Errorf("%s: lost %v; warnings %q", link, s.Lost, warnings)
		}
		found, _ := filepath.Glob(filepath.Join(c.Out, "*trace*")) // the pattern is well formed
		if _, err := os.Stat(filepath.Join(c.Out, "summary.json")); err != nil || len(found) > 0 {
			t.Errorf("%s: %v; left: %v", link, err, found)
		}
	}
}

// An asynchronous run goes on without the log of its updates, wherever its servers are.
func TestAsynchronousRunGoesOnWithoutItsUpdateLog(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip(err)
	}
	for place, link := range map[string]string{"workers": "local", "apart": "tcp"} {
		c := stale(t, 2, 1, place, link)
		var warnings []string
		s := run(t, c, launcher.Options{Progress: func(p launcher.Progress) {
			if p.Phase == "load data" { // nothing is open yet
				os.Symlink(full, filepath.Join(c.Out, rundir.UpdatesFile)) // there already for worker 1
			}
			if p.IsWarning {
				warnings = append(warnings, p.Note)
			}
		}})
		if len(s.Lost) != 1 || s.Lost[0].File != rundir.UpdatesFile || len(warnings) != 1 ||
			!strings.Contains(s.Lost[0].Reason, "no space left on device") {
			t.Errorf("%s: lost %v, warnings %q, want the log of updates once", place, s.Lost, warnings)
		}
		if s.Async == nil || s.Async.Updates != s.Steps || s.Saved == nil {
			t.Errorf("%s: %+v, want all %d updates", place, s.Async, s.Steps)
		}
	}
}
