package launcher_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
)

// stale returns short with asynchronous updates.
func stale(t *testing.T, workers, servers int, place, link string) setting.Config {
	c := served(t, workers, servers, place, link)
	c.Strategy, c.Shards, c.Epochs, c.Steps = "ps-async", 4, 2, 0
	return c
}

// With one worker, or a bound of 0, the hash is that of one worker without servers. Otherwise each batch is
// used once, and none is too stale.
func TestAsynchronousUpdates(t *testing.T) {
	one := short(t)
	one.Shards, one.Epochs, one.Steps = 4, 2, 0
	want := run(t, one, launcher.Options{})
	alone := run(t, stale(t, 1, 1, "workers", "local"), launcher.Options{})
	bound := stale(t, 3, 2, "workers", "local")
	bound.Staleness = "0"
	for _, s := range []*record.Summary{alone, run(t, bound, launcher.Options{})} {
		if s.ParameterSHA256 != want.ParameterSHA256 || *s.TestAccuracy != *want.TestAccuracy {
			t.Errorf("%d workers: parameters %s, want %s", s.Workers, s.ParameterSHA256, want.ParameterSHA256)
		}
	}
	checkUpdates(t, run(t, stale(t, 3, 1, "workers", "shm"), launcher.Options{}))
}

// checkUpdates checks that a run made an update of each step, and none that is too stale.
func checkUpdates(t *testing.T, s *record.Summary) {
	t.Helper()
	if a := s.Async; a == nil || a.Updates != s.Steps || len(a.Staleness) > a.Bound+1 {
		t.Errorf("%+v, want %d updates", s.Async, s.Steps)
	}
}

// A run goes on without a worker that is killed, its batches taken by others, and says so; without rank 0, or
// a server, it ends with that name.
func TestAsynchronousRunLosesAWorker(t *testing.T) {
	self, _ := os.Executable()
	kill := func(c setting.Config, rank int) (*record.Summary, error) {
		var killed bool
		return launcher.Run(t.Context(), c, launcher.Options{Worker: []string{self}, Server: []string{self},
			Progress: func(p launcher.Progress) {
				if p.Step > 3 && !killed {
					killed = true
					syscall.Kill(pidOf(t, c, rank), syscall.SIGKILL)
				}
			}})
	}
	c := stale(t, 3, 1, "workers", "shm")
	c.Epochs = 60
	s, err := kill(c, 2)
	if err != nil {
		t.Fatal(err)
	}
	checkUpdates(t, s)
	if len(s.LostWorkers) != 1 || s.LostWorkers[0].Rank != 2 ||
		!strings.Contains(s.LostWorkers[0].Cause, "rank 2 (pid") || len(s.Ranks) != 2 {
		t.Errorf("lost %+v, %d ranks, want rank 2 lost", s.LostWorkers, len(s.Ranks))
	}
	for rank, want := range map[int]string{0: "rank 0 (pid", 3: "server 0 (rank 3, pid"} {
		c := stale(t, 3, 1, "apart", "tcp")
		c.Epochs = 60
		if _, err := kill(c, rank); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rank %d: got %v, want %q", rank, err, want)
		}
	}
}

// A run that is stopped is saved after whole batches, and goes on with other workers and servers.
func TestAsynchronousRunIsResumed(t *testing.T) {
	c := stale(t, 3, 2, "apart", "local")
	c.Epochs, c.CheckpointEvery = 80, "1h"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := launcher.Run(ctx, c, launcher.Options{Progress: func(p launcher.Progress) {
		if p.Step > 2 {
			cancel()
		}
	}})
	if job.ExitCode(err) != job.ExitInterrupted || !strings.Contains(err.Error(), "is saved") {
		t.Fatal(err)
	}
	s, _, err := resumed(t, c.Out, "workers", "2", "servers", "1", "link", "local")
	if err != nil {
		t.Fatal(err)
	}
	if done := s.Resumed.Steps; done < 3 || s.Async.Updates != s.Steps-done {
		t.Errorf("%+v, %d of %d steps before", s.Async, done, s.Steps)
	}
}

// pidOf returns the process of a rank, from its log.
func pidOf(t *testing.T, c setting.Config, rank int) int {
	t.Helper()
	path := rundir.Directory(c.Out).Log(rank)
	if rank >= c.Workers {
		path = rundir.Directory(c.Out).ServerLog(rank - c.Workers)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	_, after, _ := strings.Cut(string(text), "pid ")
	pid := 0
	if _, err := fmt.Sscanf(after, "%d", &pid); err != nil {
		t.Error(err)
	}
	return pid
}
