package launcher_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
)

// served returns short with parameter servers.
func served(t *testing.T, workers, servers int, place, link string) setting.Config {
	c := short(t)
	c.Strategy, c.Workers, c.Servers, c.ServerPlace, c.Link = "ps", workers, servers, place, link
	return c
}

// Servers end with the bits of one worker: any number of workers and servers, in one place or apart, as
// goroutines and as processes, with lossless codecs.
func TestServersEndWithTheBitsOfOne(t *testing.T) {
	want := run(t, short(t), launcher.Options{})
	check := func(c setting.Config) {
		t.Helper()
		name := fmt.Sprintf("%d workers, %d servers, %s, %s, %s", c.Workers, c.Servers, c.ServerPlace, c.Link,
			c.Wire)
		s := run(t, c, launcher.Options{})
		if s.ParameterSHA256 != want.ParameterSHA256 || s.Loss != want.Loss ||
			*s.TestAccuracy != *want.TestAccuracy || *s.TrainAccuracy != *want.TrainAccuracy {
			t.Errorf("%s: parameters %s, %+v; want %s, %+v", name, s.ParameterSHA256, s.Loss,
				want.ParameterSHA256, want.Loss)
		}
		checkServers(t, name, c, s)
	}
	for workers := range 4 {
		for servers := range 3 {
			for _, place := range []string{"workers", "apart"} {
				if workers == servers || !testing.Short() && workers+servers == 3 {
					check(served(t, workers+1, servers+1, place, "local"))
				}
			}
		}
	}
	for i, wire := range []string{"deflate", "zstd"} {
		for _, place := range []string{"workers", "apart"} {
			c := served(t, 2+i, 2, place, "local")
			c.Wire = wire
			check(c)
		}
	}
	check(served(t, 2, 2, "apart", "shm"))
	check(served(t, 3, 2, "workers", "tcp"))
	if !testing.Short() {
		check(served(t, 1, 3, "workers", "shm"))
		check(served(t, 4, 1, "workers", "shm"))
		check(served(t, 1, 2, "apart", "tcp"))
	}
}

// checkServers checks what the summary says about servers, and that all bytes are counted at both ends.
func checkServers(t *testing.T, name string, c setting.Config, s *record.Summary) {
	t.Helper()
	if c.Wire == "fp32" && s.BytesVectors != s.BytesSent {
		t.Errorf("%s: %d bytes sent in place of %d without compression", name, s.BytesSent, s.BytesVectors)
	}
	if len(s.Servers) != c.Servers || s.ServerPlace != c.ServerPlace {
		t.Fatalf("%s: %d servers %s, %+v", name, len(s.Servers), s.ServerPlace, s.Servers)
	}
	var sent, received, elements, busiest int64
	for _, r := range s.Ranks {
		sent, received = sent+r.BytesSent, received+r.BytesReceived
		busiest = max(busiest, r.BytesSent+r.BytesReceived)
	}
	for i, p := range s.Servers {
		elements += p.Elements
		if p.Server != i || p.Rank != c.ServerRank(i) || p.PID == 0 || p.Updates != s.Steps ||
			p.OptimizerBytes < 4*p.Elements || (p.PlannedBytes > 0) != (c.ServerPlace == "apart") {
			t.Errorf("%s: server %+v", name, p)
		}
		if c.ServerPlace == "apart" {
			sent, received = sent+p.BytesSent, received+p.BytesReceived
			busiest = max(busiest, p.BytesSent+p.BytesReceived)
		}
	}
	if sent != received || sent != s.BytesSent || received != s.BytesReceived ||
		(sent > 0) != (c.World() > 1) || busiest != s.BusiestBytes {
		t.Errorf("%s: sent %d, received %d, busiest %d; the summary %d, %d, %d", name, sent, received,
			busiest, s.BytesSent, s.BytesReceived, s.BusiestBytes)
	}
	if s.ServerBytes > s.BusiestBytes || c.NumApart() > 0 && s.ServerBytes == 0 ||
		c.NumApart() == 1 && s.ServerBytes != s.BusiestBytes {
		t.Errorf("%s: the busiest server has %d bytes, the busiest process %d", name, s.ServerBytes,
			s.BusiestBytes)
	}
	if first := s.Ranks[0]; s.PlannedBytes < first.PlannedBytes*int64(c.Workers) ||
		c.NumApart() > 0 && s.PlannedBytes == first.PlannedBytes*int64(c.Workers) {
		t.Errorf("%s: %d bytes planned, by the first worker %d", name, s.PlannedBytes, first.PlannedBytes)
	}
	first := s.Ranks[0]
	if len(first.Buckets) == 0 || elements < 50_000 {
		t.Errorf("%s: %d buckets, %d weights on servers", name, len(first.Buckets), elements)
	}
	for i, b := range first.Buckets {
		if b.Hidden != nil {
			t.Errorf("%s: bucket %d: hidden for %v, which servers do not know", name, i, *b.Hidden)
		}
	}
}

// Every update rule ends with the bits of one worker, also with those that need whole tensors, with clipping
// by the only server, and with averages of the weights.
func TestServersRunEveryOptimizer(t *testing.T) {
	for name, change := range map[string]func(*setting.Config){
		"adamw":   func(c *setting.Config) { c.Optimizer.Name = "adamw" },
		"muon":    func(c *setting.Config) { c.Optimizer.Name = "muon" },
		"lamb":    func(c *setting.Config) { c.Optimizer.Name = "lamb" },
		"average": func(c *setting.Config) { c.EMA, c.Accumulate, c.Batch = 0.9, 2, 20 },
		"clip":    func(c *setting.Config) { c.Clip, c.Servers = 0.5, 1 },
	} {
		one := short(t)
		change(&one)
		one.Servers = 1
		c := served(t, 3, 2, "apart", "local")
		change(&c)
		want, got := run(t, one, launcher.Options{}), run(t, c, launcher.Options{})
		if got.ParameterSHA256 != want.ParameterSHA256 {
			t.Errorf("%s: parameters %s, want %s", name, got.ParameterSHA256, want.ParameterSHA256)
		}
	}
}

// A run with servers that is stopped leaves a checkpoint of the last step, which all workers have made.
func TestStoppedServersLeaveACheckpoint(t *testing.T) {
	c := short(t)
	c.Epochs = 40
	want := run(t, c, launcher.Options{})
	for _, v := range []struct{ place, link string }{{"apart", "local"}, {"workers", "shm"}} {
		c := served(t, 2, 2, v.place, v.link)
		c.Epochs, c.CheckpointEvery = 40, "1h"
		ctx, cancel := context.WithCancel(t.Context())
		self, _ := os.Executable()
		_, err := launcher.Run(ctx, c, launcher.Options{Worker: []string{self},
			Progress: func(p launcher.Progress) {
				if p.Step > 2 {
					cancel()
				}
			}})
		cancel()
		if job.ExitCode(err) != job.ExitInterrupted || !strings.Contains(err.Error(), "is saved") {
			t.Fatalf("%v: %v", v, err)
		}
		s, _, err := resumed(t, c.Out, "strategy", "ddp")
		if err != nil || s.ParameterSHA256 != want.ParameterSHA256 || s.Resumed.Steps < 3 {
			t.Errorf("%v: %v, %+v; want parameters %s", v, err, s, want.ParameterSHA256)
		}
	}
}

// A trace of a run with servers has the exchange of the workers and the updates of the servers, wherever
// they are.
func TestServersAreTraced(t *testing.T) {
	for _, place := range []string{"apart", "workers"} {
		for strategy, span := range map[string]string{"ps": "sum and update", "ps-async": "update"} {
			c := served(t, 2, 2, place, "local")
			c.Trace, c.Strategy = true, strategy
			s := run(t, c, launcher.Options{})
			text, err := os.ReadFile(filepath.Join(c.Out, rundir.TraceFile))
			if err != nil || s.Lost != nil {
				t.Fatalf("%s: %v; lost %v", place, err, s.Lost)
			}
			for _, want := range []string{`"exchange"`, `"server 0"`, `"server 1"`, `"` + span + `"`} {
				if !strings.Contains(string(text), want) {
					t.Errorf("%s, %s: no %s in the trace", strategy, place, want)
				}
			}
		}
	}
}

// An evaluation needs no servers.
func TestServersDoNotEvaluate(t *testing.T) {
	c := short(t)
	trained := run(t, c, launcher.Options{})
	e := served(t, 2, 2, "apart", "local")
	e.Weights, e.EvalOnly = trained.Saved.Path, true
	if s := run(t, e, launcher.Options{}); *s.TestAccuracy != *trained.TestAccuracy || s.Servers != nil {
		t.Errorf("accuracy %v, servers %+v; want %v", *s.TestAccuracy, s.Servers, *trained.TestAccuracy)
	}
}
