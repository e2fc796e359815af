package launcher_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// updatesOf returns the updates of a run, after checking that each batch is used once and none is too stale.
func updatesOf(t *testing.T, s *record.Summary) []record.Update {
	t.Helper()
	_, updates, err := rundir.ReadUpdates(filepath.Join(s.Directory, rundir.UpdatesFile))
	if err != nil {
		t.Fatal(err)
	}
	var batches []int
	for number, u := range updates {
		if u.Update != number || u.Staleness > s.Async.Bound || u.Staleness != number-u.Version {
			t.Errorf("update %d: %+v, want at most %d stale", number, u, s.Async.Bound)
		}
		batches = append(batches, u.Batch)
	}
	slices.Sort(batches)
	for i, batch := range batches {
		if i != batch {
			t.Fatalf("batches %v, want each once", batches)
		}
	}
	if len(batches) != s.Steps {
		t.Errorf("%d updates, want %d", len(batches), s.Steps)
	}
	return updates
}

// A replay ends with the hash of its run, with other workers and servers, in other places; that of another
// run is refused before it starts. With one worker, or a bound of 0, the hash is that of one
// worker without servers.
func TestReplayEndsWithTheHash(t *testing.T) {
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
	first := run(t, stale(t, 3, 1, "workers", "shm"), launcher.Options{})
	updatesOf(t, first)
	again := stale(t, 2, 2, "apart", "local")
	again.Replay = filepath.Join(first.Directory, rundir.UpdatesFile)
	if s := run(t, again,
		launcher.Options{}); s.ParameterSHA256 != first.ParameterSHA256 || !s.Async.Replayed ||
		s.Async.Bound != first.Async.Bound {
		t.Errorf("replay: parameters %s, bound %d, want %s, %d", s.ParameterSHA256, s.Async.Bound,
			first.ParameterSHA256, first.Async.Bound)
	}
	for want, change := range map[string]func(*setting.Config){
		`its seed is "1", here it is "5"`:   func(c *setting.Config) { c.Seed = 5 },
		`its shards is "4", here it is "6"`: func(c *setting.Config) { c.Shards = 6 },
		`its model is "lenet"`:              func(c *setting.Config) { c.Model = "vgg11" },
		`no such file`:                      func(c *setting.Config) { c.Replay += "x" },
		`its first line does not describe a`: func(c *setting.Config) {
			c.Replay = filepath.Join(first.Directory, rundir.StepsFile)
		},
	} {
		c := again
		c.Out = t.TempDir() + "/run"
		change(&c)
		_, err := launcher.Run(t.Context(), c, launcher.Options{})
		if job.ExitCode(err) != job.ExitUsage || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if _, err := os.Stat(c.Out); err == nil {
			t.Errorf("%s: the run directory was made", want)
		}
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
	updatesOf(t, s)
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

// A run that is stopped is saved after whole batches, and goes on with other workers and servers; the replay
// of both parts ends with the same hash.
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
	updatesOf(t, s)
	again := stale(t, 1, 1, "workers", "local")
	again.Epochs, again.Replay = 80, filepath.Join(c.Out, rundir.UpdatesFile)
	if r := run(t, again, launcher.Options{}); r.ParameterSHA256 != s.ParameterSHA256 {
		t.Errorf("replay: parameters %s, want %s", r.ParameterSHA256, s.ParameterSHA256)
	}
}

// The replay of a run that ended with its target ends there too, whatever target it has itself.
func TestReplayOfARunThatReachedItsTarget(t *testing.T) {
	c := stale(t, 2, 1, "workers", "local")
	c.Epochs, c.Until = 20, 0.01
	first := run(t, c, launcher.Options{})
	if perEpoch := c.StepsPerEpoch(150); first.Steps != perEpoch {
		t.Fatalf("%d steps, want those of the first epoch, %d", first.Steps, perEpoch)
	}
	for _, until := range []float64{0.01, 0} {
		c := stale(t, 1, 1, "workers", "local")
		c.Epochs, c.Until = 20, until
		c.Replay = filepath.Join(first.Directory, rundir.UpdatesFile)
		s := run(t, c, launcher.Options{})
		if s.ParameterSHA256 != first.ParameterSHA256 || s.Steps != first.Steps {
			t.Errorf("until %v: %d steps, parameters %s, want %d, %s", until, s.Steps, s.ParameterSHA256,
				first.Steps, first.ParameterSHA256)
		}
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
