//go:build linux

package launcher_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/setting"
	"lockstep/cluster"

	"golang.org/x/sys/unix"
)

// A worker that is stuck, here in a write to a step log that is a full pipe, is named with step and phase,
// and its log has its stack: in this process, in one of its own, and among others.
func TestStuckWorkerIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds; the watch itself is tested in package cluster")
	}
	for name, change := range map[string]func(*setting.Config, *launcher.Options){
		"here":          func(*setting.Config, *launcher.Options) {},
		"two here":      func(c *setting.Config, _ *launcher.Options) { c.Workers, c.Link = 2, "local" },
		"isolated":      func(_ *setting.Config, o *launcher.Options) { o.Isolate = true },
		"two processes": func(c *setting.Config, _ *launcher.Options) { c.Workers = 2 },
		"with servers": func(c *setting.Config, _ *launcher.Options) {
			c.Workers, c.Strategy, c.ServerPlace = 2, "ps", "apart"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			c := short(t)
			c.Epochs, c.CheckpointEvery = 20, "1h" // each step is written at once
			begin := filepath.Join(t.TempDir(), "begin")
			o := launcher.Options{Worker: []string{self}, Environment: cluster.ProcessEnvironment().With(
				cluster.Environment{beginWith: begin})}
			change(&c, &o)
			pipes := make(chan *os.File, 1)
			if strings.HasSuffix(name, "here") {
				defer waitForWorkers()
				o.Progress = func(p launcher.Progress) {
					if p.Phase == "load data" && len(pipes) == 0 { // nothing is open yet
						pipes <- fullPipe(t, filepath.Join(c.Out, "steps.jsonl"))
					}
				}
			} else {
				go func() {
					waitFor(filepath.Join(c.Out, "config.yaml"))
					pipes <- fullPipe(t, filepath.Join(c.Out, "steps.jsonl"))
					os.WriteFile(begin, nil, 0o600)
				}()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err = launcher.Run(ctx, c, o)
			(<-pipes).Close() // whoever is left in this process gets on
			var stuck *cluster.WorkerError
			if !errors.As(err, &stuck) || job.ExitCode(err) != job.ExitPeerLost {
				t.Fatalf("got %v, want a WorkerError", err)
			}
			want := `^rank \d \(pid \d+ on .+\) is stuck: it has not got on for (9|\d\d)\S*s ` +
				`after step \d+, phase optimizer(, in lockstep/app/rundir\.\(\*\w+Log\)\.\w+ .*)? ` +
				`\(its output: .*rank\d\.log\)`
			if !regexp.MustCompile(want).MatchString(err.Error()) || stuck.Step == 0 {
				t.Errorf("%q, want %s", err, want)
			}
			log, err := os.ReadFile(stuck.Log)
			if err != nil || !strings.Contains(string(log), "(*StepLog).") {
				t.Errorf("%v; no stack of the step log in %s", err, stuck.Log)
			}
		})
	}
}

// A run that is asked to stop does not wait for a worker that is stuck.
func TestStuckWorkerDoesNotHoldUpAnInterrupt(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	t.Parallel()
	c := short(t)
	c.Epochs, c.CheckpointEvery = 20, "1h"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var pipe *os.File
	last, since := 0, time.Now()
	_, err := launcher.Run(ctx, c, launcher.Options{Progress: func(p launcher.Progress) {
		if p.Phase == "load data" && pipe == nil {
			pipe = fullPipe(t, filepath.Join(c.Out, "steps.jsonl"))
		}
		if p.Step != last || p.Step == 0 {
			last, since = p.Step, time.Now()
		} else if time.Since(since) > 3*time.Second {
			cancel() // it is stuck, and nobody has said so yet
		}
	}})
	pipe.Close()
	defer waitForWorkers()
	want := "interrupted; no checkpoint was saved: rank 0"
	if job.ExitCode(err) != job.ExitInterrupted || !strings.Contains(err.Error(), want) ||
		!strings.Contains(err.Error(), "is stuck: it has not got on for ") {
		t.Errorf("got %v, want %q", err, want)
	}
}

// waitForWorkers returns when no worker of this process is left, or after some seconds.
func waitForWorkers() {
	stacks := make([]byte, 1<<20)
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); {
		if !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("lockstep/app/job/worker.")) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// fullPipe makes a pipe that has room for a few lines, and returns an end from which nothing is read.
func fullPipe(t *testing.T, path string) *os.File {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Error(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Error(err)
		return nil
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Error(err)
	}
	return f
}
