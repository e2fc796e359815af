//go:build unix

package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

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
}
