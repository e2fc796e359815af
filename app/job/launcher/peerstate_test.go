package launcher_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/setting"
)

// memories are the wires that hold back gradients.
func memories() []string { return []string{"top-k", "powersgd-2"} }

// What workers have held back is part of a checkpoint: the resumed run ends with the bits of the
// undisturbed one, also where a worker has several pieces, and at a moment that a clock has chosen.
func TestResumedRunRemembersWhatWasHeldBack(t *testing.T) {
	skipIfShort(t)
	for _, wire := range memories() {
		for _, v := range []struct {
			link    string
			workers int
			every   string
		}{{"local", 3, "1"}, {"local", 2, "1ns"}, {"shm", 3, "2"}} {
			if wire != "top-k" && v.link == "local" {
				continue // they have nothing to do with the wire
			}
			change := func(c *setting.Config) {
				c.Wire, c.Link, c.Workers, c.Shards = wire, v.link, v.workers, 5
			}
			c := short(t)
			change(&c)
			want := run(t, c, launcher.Options{})
			first := begun(t, 5, func(c *setting.Config) {
				change(c)
				c.CheckpointEvery = v.every
			})
			s, _, err := resumed(t, first.Out, "steps", "8")
			if err != nil {
				t.Fatalf("%s, %+v: %v", wire, v, err)
			}
			if s.ParameterSHA256 != want.ParameterSHA256 || s.Resumed.Steps != 5 {
				t.Errorf("%s, %+v: parameters %s, want %s; %+v", wire, v, s.ParameterSHA256,
					want.ParameterSHA256, s.Resumed)
			}
			text, err := os.ReadFile(filepath.Join(s.Checkpoints.Last, "exchange.safetensors"))
			if err != nil || v.workers == 3 && !strings.Contains(string(text), `"fc1.bias.held_back.2-3"`) {
				t.Errorf("%s, %+v: exchange.safetensors: %.2000q, %v", wire, v, text, err)
			}
		}
	}
}

// On other workers nothing is lost: their results are others, but the same each time.
func TestOtherWorkersTakeOverWhatWasHeldBack(t *testing.T) {
	skipIfShort(t)
	for _, wire := range memories() {
		var hashes []string
		for range 2 {
			first := begun(t, 5, func(c *setting.Config) { c.Wire, c.Link, c.Workers = wire, "local", 3 })
			_, _, err := resumed(t, first.Out, "steps", "8", "workers", "1")
			if job.ExitCode(err) != job.ExitUsage || !strings.Contains(err.Error(),
				"would lose the gradients that 3 held back with --wire "+wire) {
				t.Errorf("one worker: %v", err)
			}
			s, _, err := resumed(t, first.Out, "steps", "8", "workers", "2")
			if err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, s.ParameterSHA256)
		}
		if hashes[0] != hashes[1] {
			t.Errorf("%s: hashes %s", wire, hashes)
		}
	}
}

// A run whose workers have a state of their own, and which is stopped, loses no step: all workers end after
// the same one.
func TestStoppedRunWithAMemory(t *testing.T) {
	skipIfShort(t)
	for name, v := range map[string]struct {
		link   string
		change func(c *setting.Config)
	}{
		"top-k":     {"shm", func(c *setting.Config) { c.Wire = "top-k" }},
		"powersgd":  {"local", func(c *setting.Config) { c.Wire = "powersgd-2" }},
		"sharded":   {"shm", func(c *setting.Config) { c.ShardOptimizer, c.Shards = true, 5 }},
		"local-sgd": {"local", func(c *setting.Config) { c.Strategy, c.AverageEvery = "local-sgd", 3 }},
		"diloco": {"shm", func(c *setting.Config) {
			c.Strategy, c.AverageEvery, c.OuterParts, c.OuterOverlap = "diloco", 3, 2, 2
		}},
		"diloco alone": {"local", func(c *setting.Config) {
			c.Strategy, c.AverageEvery, c.Workers = "diloco", 1000, 1
		}},
	} {
		t.Run(name, func(t *testing.T) { checkStopped(t, v.link, v.change) })
	}
}

// A run that is stopped before its first step says that there is no checkpoint.
func TestStoppedRunWithoutACheckpoint(t *testing.T) {
	c := short(t)
	c.Epochs, c.Workers, c.Link, c.Wire, c.CheckpointEvery = 80, 2, "local", "top-k", "1h"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := launcher.Run(ctx, c, launcher.Options{Progress: func(launcher.Progress) { cancel() }})
	var stopped *job.StoppedError
	if !errors.As(err, &stopped) || stopped.Step != 0 || job.ExitCode(err) != job.ExitInterrupted ||
		!strings.Contains(err.Error(), "no checkpoint has been written") {
		t.Errorf("got %v, want that there is no checkpoint", err)
	}
}

// checkStopped stops a run of two workers, which has no checkpoint before that, and resumes it.
func checkStopped(t *testing.T, link string, change func(c *setting.Config)) {
	t.Helper()
	c := short(t)
	c.Epochs, c.Workers, c.Link = 40, 2, "local"
	change(&c)
	want := run(t, c, launcher.Options{})
	c.Out, c.Link, c.CheckpointEvery = filepath.Join(t.TempDir(), "run"), link, "1h"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	self, _ := os.Executable()
	_, err := launcher.Run(ctx, c, launcher.Options{Worker: []string{self},
		Progress: func(p launcher.Progress) {
			if p.Step > 6 {
				cancel()
			}
		}})
	var stopped *job.StoppedError
	if !errors.As(err, &stopped) || stopped.Step < 7 {
		t.Fatalf("%v", err)
	}
	s, _, err := resumed(t, c.Out)
	if err != nil || s.ParameterSHA256 != want.ParameterSHA256 || s.Resumed.Steps != stopped.Step {
		t.Errorf("%v, %+v", err, s)
	}
}
