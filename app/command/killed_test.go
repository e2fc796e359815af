//go:build unix

package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/app/report"
)

// A benchmark that was killed without notice goes on with the runs that are left, and its report tells of it.
func TestABenchmarkThatWasKilledIsResumed(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "b")
	c := exec.Command(self, "bench", "--quiet", "--strategies", "single,ddp", "--workers", "1,2",
		"--threads", "1", "--no-one-process", "--steps", "6", "--limit-train", "384", "--limit-test", "0",
		"--repeats", "3", "--out", out)
	c.Args[0] = "lockstep"
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if r, err := report.Read(out); err == nil && len(r.Rows[0].Runs)+len(r.Rows[1].Runs) >= 2 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("two runs did not end")
		}
	}
	c.Process.Signal(syscall.SIGKILL)
	c.Wait() // it was killed
	again := exec.Command(self, "bench", "--quiet", "--resume", out)
	again.Args[0] = "lockstep"
	if text, err := again.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	r, err := report.Read(out)
	if err != nil || !r.Complete || len(r.Sittings) != 2 {
		t.Fatalf("%v; complete %v, sittings %+v", err, r.Complete, r.Sittings)
	}
	text, err := os.ReadFile(filepath.Join(out, report.MarkdownFile))
	if err != nil || !bytes.Contains(text, []byte("The benchmark was interrupted and resumed (")) {
		t.Errorf("%v; the report does not tell of it", err)
	}
}

// What a run that was killed before its first step has left is told from a folder without a run, with how to
// start it again.
func TestRunWithoutAStep(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(want string) {
		t.Helper()
		for _, args := range [][]string{{"report", folder}, {"report", folder, folder}, {"check", folder},
			{"bundle", folder}} {
			status, _, stderr := execute(args...)
			if status != job.ExitUsage || !strings.Contains(stderr, want) {
				t.Errorf("%q: status %d, %q, want %q", args, status, stderr, want)
			}
		}
	}
	again := "; lockstep train --config " + filepath.Join(folder, "config.yaml") +
		" starts it again, in a new folder\n"
	write("config.yaml", "batch: 8\n")
	refused("no training run")
	write("host.json", `{"started":"2026-11-28T10:00:00Z"}`)
	refused(folder + " holds a run that has made no step" + again)
	write("steps.jsonl", "")
	refused(folder + " holds a run that has made no step" + again)
	write("config.yaml", "eval-only: true\n")
	refused(folder + " holds an evaluation that has not ended" + again)
	write("host.json", `{"started":"2026-11-28T10:00:00Z","lab":"--hosts 2"}`)
	refused("; lockstep lab --hosts 2 -- train --config ")
}
