//go:build unix

package command

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lockstep/app/report"
)

// A benchmark that was killed without notice goes on with the runs that are left, and its report tells of it.
func TestABenchmarkThatWasKilledIsResumed(t *testing.T) {
	out := filepath.Join(t.TempDir(), "b")
	c := tool(t, "bench", "--quiet", "--strategies", "single,ddp", "--workers", "1,2",
		"--threads", "1", "--no-one-process", "--steps", "6", "--limit-train", "384", "--limit-test", "0",
		"--repeats", "3", "--out", out)
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
	must(t, "bench", "--quiet", "--resume", out)
	r, err := report.Read(out)
	if err != nil || !r.Complete || len(r.Sittings) != 2 {
		t.Fatalf("%v; complete %v, sittings %+v", err, r.Complete, r.Sittings)
	}
}
