//go:build unix

package command

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/app/setting"
)

// interruptOnce interrupts a command as soon as something is so, and returns what it has told.
func interruptOnce(t *testing.T, c *exec.Cmd, is func() bool) string {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(60 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.Process.Kill()
			c.Wait() // it was killed
			t.Fatal("waited in vain")
		}
	}
	c.Process.Signal(os.Interrupt)
	c.Wait() // its status is checked
	if got := c.ProcessState.ExitCode(); got != job.ExitInterrupted {
		t.Errorf("%v: status %d, want %d: %s", c.Args, got, job.ExitInterrupted, c.Stderr)
	}
	return c.Stderr.(*bytes.Buffer).String()
}

// succeed runs the tool, which is to succeed.
func succeed(t *testing.T, args ...string) {
	t.Helper()
	c := tool(t, args...)
	if err := c.Run(); err != nil {
		t.Fatalf("%v: %v: %s", args, err, c.Stderr)
	}
}

// A run that is resumed and interrupted before its next step says how to go on as it was asked to.
func TestAResumedRunInterruptedAtOnceSaysHowToGoOn(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run")
	succeed(t, "train", "--quiet", "--workers", "2", "--steps", "4", "--checkpoint-every", "2",
		"--limit-test", "50", "--out", out)
	var stderr bytes.Buffer
	a := &app{stderr: &stderr}
	a.showUnfinished(setting.Config{Output: setting.Output{Resume: out}}, context.Canceled, false)
	want := "lockstep: lockstep train --resume " + out + " goes on after step 4\n"
	if stderr.String() != want {
		t.Errorf("told %q, want %q", stderr.String(), want)
	}
}
