//go:build unix

package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/app/rundir"
)

// launchHere starts a run on two hosts that both are this machine, and waits until it trains.
func launchHere(t *testing.T, more ...string) *running {
	t.Helper()
	c := tool(t, append([]string{"launch", "--hosts", "localhost:1,127.0.0.1:1", "--", "train", "--out",
		"run", "--epochs", "2000", "--quiet"}, more...)...)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "XDG_CACHE_HOME="+c.Dir)
	r := &running{out: filepath.Join(c.Dir, "run")}
	r.started(t, c)
	r.until(t, "rank 1 trains", func() bool {
		steps, _ := os.ReadFile(filepath.Join(r.out, "steps.jsonl"))
		return strings.Contains(string(steps), `"rank":0,`) && r.away(t) > 0
	})
	return r
}

// away returns the process of the worker of the other host; 0 if there is none.
func (r *running) away(t *testing.T) int {
	t.Helper()
	logs, _ := filepath.Glob(filepath.Join(r.Dir, "lockstep", "jobs", "*", "logs", "*", "rank1.log"))
	if len(logs) != 1 {
		return 0
	}
	name, err := filepath.Rel(r.out, logs[0])
	if err != nil {
		t.Fatal(err)
	}
	return r.pidIn(name)
}

// Signals at the console have the effect that they have on one machine, and leave nothing running.
func TestSignalsOfAConsole(t *testing.T) {
	if testing.Short() {
		t.Skip("starts runs")
	}
	for _, test := range []struct {
		name    string
		signals []os.Signal
		more    []string
		status  int
		says    string
	}{
		{"Ctrl-C with checkpoints", []os.Signal{os.Interrupt}, []string{"--checkpoint-every", "1000000"},
			job.ExitInterrupted, "lockstep train --resume run goes on from there"},
		{"Ctrl-C twice", []os.Signal{os.Interrupt, os.Interrupt}, nil, job.ExitInterrupted, "stopping"},
		{"SIGTERM", []os.Signal{syscall.SIGTERM}, []string{"--checkpoint-every", "1000000"},
			job.ExitPreempted, "is saved"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := launchHere(t, test.more...)
			pids := []int{r.pid(0), r.away(t)}
			for _, s := range test.signals {
				r.Process.Signal(s)
				time.Sleep(50 * time.Millisecond) // two that come together may be one
			}
			r.Wait() // the status is checked below
			if got := r.ProcessState.ExitCode(); got != test.status {
				t.Errorf("exit status %d, want %d", got, test.status)
			}
			if !strings.Contains(r.stderr.String(), test.says) {
				t.Errorf("%q, want %q", r.stderr.String(), test.says)
			}
			for _, pid := range pids {
				r.until(t, "the workers end", func() bool { return !isAlive(pid) })
			}
		})
	}
}

// Of two commands with one --out, whose first hosts are other machines, the second is refused before it
// starts, and the results of the first are there.
func TestTwoConsolesWithOneFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a run over an ssh that is a shell")
	}
	folder := t.TempDir()
	ssh := filepath.Join(folder, "ssh")
	script := "#!/bin/sh\nfor last; do :; done\nexec /bin/sh -c \"$last\"\n"
	if err := os.WriteFile(ssh, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	console := func(seed string) *exec.Cmd {
		c := tool(t, "launch", "--ssh", ssh, "--hosts", "elsewhere:1", "--", "train", "--steps",
			"20", "--quiet", "--seed", seed, "--out", "out")
		c.Dir, c.Env = folder, append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(folder, "cache"))
		c.Stderr = &shared{}
		return c
	}
	first, second := console("1"), console("2")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { first.Process.Kill() }) // it has ended, unless the test failed
	out := rundir.Directory(filepath.Join(folder, "out"))
	for deadline := time.Now().Add(time.Minute); !out.IsGoingOn(); {
		if time.Now().After(deadline) {
			t.Fatal("the first does not take the folder: ", first.Stderr.(*shared).String())
		}
		time.Sleep(2 * time.Millisecond)
	}
	second.Run() // the status is checked below
	if got, said := second.ProcessState.ExitCode(), second.Stderr.(*shared).String(); got != job.ExitUsage ||
		!strings.Contains(said, "--out: out") {
		t.Errorf("the second ends with %d: %s", got, said)
	}
	if err := first.Wait(); err != nil {
		t.Errorf("the first: %v: %s", err, first.Stderr.(*shared).String())
	}
	config, _ := os.ReadFile(out.Path("config.yaml"))
	if !strings.Contains(string(config), "seed: 1 ") {
		t.Errorf("the folder does not hold the first run: %.200s", config)
	}
}
