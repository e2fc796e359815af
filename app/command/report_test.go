package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/app/job"
)

// A report of nothing, or of a folder of runs, says which folders there are.
func TestReportNamesFolders(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	for i, name := range []string{"c", "a", "b"} { // from the oldest to the newest
		run := filepath.Join("runs", name)
		if err := os.MkdirAll(run, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(run, "summary.json"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1e9+i), 0)
		if err := os.Chtimes(run, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join("runs", "other"), 0o777); err != nil {
		t.Fatal(err)
	}
	kernels := filepath.Join("runs", "kernels") // newest of all, but there is no report of it
	if err := os.Mkdir(kernels, 0o777); err != nil {
		t.Fatal(err)
	}
	text := []byte(`{"kind":"kernels","schema":1,"command":["lockstep","bench","kernels"]}`)
	if err := os.WriteFile(filepath.Join(kernels, "results.json"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	refuses := func(want string, args ...string) {
		t.Helper()
		status, _, stderr := execute(args...)
		if status != job.ExitUsage || !strings.HasSuffix(stderr, want+"\n") {
			t.Errorf("%v: status %d, %q, want %q", args, status, stderr, want)
		}
	}
	const newest = ", such as runs/b or runs/a"
	refuses("report: no folder; give one, or those of several training runs"+newest, "report")
	refuses("runs holds no results.json and no training run; give the folder of a benchmark or of a "+
		"training run"+newest, "report", "runs")
	refuses("or of a training run", "report", "runs/other")
	refuses("runs holds no results.json and no training run; give the folder of a benchmark or of a "+
		"training run"+newest, "check", "runs")
	t.Chdir(filepath.Join("runs", "c"))
	refuses("report: no folder; that of the current one: lockstep report .", "report")
}
