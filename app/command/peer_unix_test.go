//go:build unix

package command

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/cluster"
)

// pythonOf writes a program in place of Python that says hello, and does lines when it is asked for a run.
func pythonOf(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	text := "#!/bin/sh\necho '{\"hello\":{\"torch\":\"9.9\"}}'\nread path\n" + lines
	if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
	return path
}

// smallPeer returns the arguments of a benchmark of two steps.
func smallPeer(t *testing.T) []string {
	return []string{"bench", "--quiet", "--strategies", "single", "--workers", "1", "--threads", "1",
		"--batch", "4", "--steps", "2", "--limit-train", "32", "--limit-test", "0", "--repeats", "1",
		"--peer", "pytorch", "--out", filepath.Join(t.TempDir(), "b")}
}

// Ctrl-C while PyTorch trains leaves no process of it.
func TestInterruptEndsPyTorch(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	c := tool(t, smallPeer(t)...)
	python := pythonOf(t, "sleep 1000 &\necho $! > "+pipe+"\nwait\n")
	c.Env = append(os.Environ(), cluster.EnvPython+"="+python)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(pipe)
	if err != nil {
		t.Fatal(err)
	}
	c.Process.Signal(os.Interrupt)
	c.Wait()
	if code := c.ProcessState.ExitCode(); code != job.ExitInterrupted {
		t.Errorf("exit code %d: %s", code, c.Stderr)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) { // the system ends it in its own time
		if err := syscall.Kill(child, 0); errors.Is(err, syscall.ESRCH) || isZombie(child) {
			return
		}
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("process %d is left", child)
		}
	}
}

// isZombie reports whether a process has ended and nobody has asked how.
func isZombie(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && bytes.Contains(text, []byte(") Z "))
}

// A PyTorch that dies while losses are compared ends the benchmark, with its last words.
func TestPyTorchDies(t *testing.T) {
	c := tool(t, smallPeer(t)...)
	c.Env = append(os.Environ(), cluster.EnvPython+"="+pythonOf(t, "echo out of luck >&2\nexit 4\n"))
	c.Run()
	want := "it ended: out of luck"
	if said := c.Stderr.(*bytes.Buffer).String(); c.ProcessState.ExitCode() != job.ExitInternal ||
		!strings.Contains(said, want) {
		t.Errorf("exit code %d, stderr %q, want %q", c.ProcessState.ExitCode(), said, want)
	}
}
