//go:build unix

package launcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/cluster/clustertest"
)

// onHosts returns the options of a run on two hosts with two slots each.
func onHosts(t *testing.T) (*clustertest.Hosts, launcher.Options) {
	t.Helper()
	h := clustertest.New(t, cluster.ProcessEnvironment(), 2, "a", "b")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return h, launcher.Options{Environment: h.Environment, Worker: []string{self}, Server: []string{self}}
}

// Two hosts with two workers each end with the bits of one worker, whatever is exchanged how, and the run
// directory has the steps, the events and the spans of all ranks.
func TestHostsEndWithTheSameBits(t *testing.T) {
	h, o := onHosts(t)
	want := run(t, short(t), launcher.Options{}).ParameterSHA256
	for name, change := range map[string]func(*setting.Config){
		"shared memory and tcp": func(c *setting.Config) { c.Trace = true },
		"tcp":                   func(c *setting.Config) { c.Link, c.Algorithm = "tcp", "hierarchical" },
		"servers apart": func(c *setting.Config) {
			c.Strategy, c.Servers, c.ServerPlace = "ps", 2, "apart"
		},
	} {
		c := short(t)
		c.Workers = 4
		change(&c)
		s := run(t, c, o)
		if s.ParameterSHA256 != want {
			t.Errorf("%s: parameters %s, want those of one worker, %s", name, s.ParameterSHA256, want)
		}
		var hosts []string
		for _, r := range s.Ranks {
			hosts = append(hosts, r.Host)
		}
		if !slices.Equal(hosts, []string{"a", "a", "b", "b"}) {
			t.Errorf("%s: workers on %v", name, hosts)
		}
		checkFiles(t, name, c, s.Steps)
		if left, err := filepath.Glob(filepath.Join(h.Folders[1], "rank*")); err != nil || left != nil {
			t.Errorf("%s: left on host b: %v, %v", name, left, err)
		}
	}
}

// checkFiles checks that the run directory has the lines of all ranks in order, and their other files.
func checkFiles(t *testing.T, name string, c setting.Config, steps int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Out, "steps.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	next := make([]int, c.Workers)
	for line := range strings.Lines(string(text)) {
		var l record.Step
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%s: %s: %v", name, line, err)
		}
		if l.Step != next[l.Rank] {
			t.Fatalf("%s: step %d of rank %d follows %d", name, l.Step, l.Rank, next[l.Rank]-1)
		}
		next[l.Rank]++
	}
	for rank := range next {
		if next[rank] != steps {
			t.Errorf("%s: %d lines of rank %d, want %d", name, next[rank], rank, steps)
		}
		events, err := filepath.Glob(filepath.Join(c.Out, "events", "rank"+string(rune('0'+rank)), "*"))
		if err != nil || len(events) != 1 {
			t.Errorf("%s: events of rank %d: %v, %v", name, rank, events, err)
		}
	}
	if trace, err := os.ReadFile(filepath.Join(c.Out, "trace.json")); c.Trace && (err != nil ||
		!strings.Contains(string(trace), `"pid":3`)) {
		t.Errorf("%s: trace.json of %d bytes, %v; want spans of rank 3", name, len(trace), err)
	}
}

// Losing a host ends the run with the host's name and the status of a lost peer.
func TestLostHostEndsTheRun(t *testing.T) {
	h, o := onHosts(t)
	began := make(chan bool)
	go func() {
		<-began
		h.Lose(1, "its ssh connection has ended")
	}()
	isBegun := false
	o.Progress = func(p launcher.Progress) {
		if p.Step > 1 && !isBegun {
			isBegun = true
			began <- true
		}
	}
	c := short(t)
	c.Workers, c.Epochs = 4, 1000
	_, err := launcher.Run(t.Context(), c, o)
	named := regexp.MustCompile(`^host b is lost, with rank 2, rank 3|^rank [23] \(pid \d+ on b\) was lost`)
	if job.ExitCode(err) != job.ExitPeerLost || !named.MatchString(err.Error()) {
		t.Errorf("status %d, %v; want the loss of host b", job.ExitCode(err), err)
	}
}

// A run on hosts that has been stopped goes on with those that are left.
func TestRunGoesOnWithoutAHost(t *testing.T) {
	_, o := onHosts(t)
	c := short(t)
	c.Epochs = 80 // it does not end before it is asked to stop
	want := run(t, c, launcher.Options{}).ParameterSHA256
	c.Out, c.Workers, c.CheckpointEvery = filepath.Join(t.TempDir(), "run"), 4, "10"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(p launcher.Progress) {
		if p.Step >= 3 {
			cancel()
		}
	}
	if _, err := launcher.Run(ctx, c, o); !errors.As(err, new(*job.StoppedError)) {
		t.Fatalf("%v, want that it was stopped", err)
	}
	o.Progress = nil
	o.Environment = o.Environment.With(cluster.RosterEnvironment([]cluster.RosterHost{
		{Name: "a", Address: "127.0.0.1", Slots: 2}}))
	c, origins, err := setting.Resolve(setting.Source{Environment: o.Environment,
		Flags: map[string]string{"resume": c.Out}})
	if err != nil {
		t.Fatal(err)
	}
	if c.Workers != 2 || origins["workers"] == "" {
		t.Errorf("%d workers, want 2", c.Workers)
	}
	if got := run(t, c, o).ParameterSHA256; got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
}

// What a run starts from is only needed on the launcher's host: weights, the vocabulary beside them, and
// checkpoints reach the other hosts by themselves.
func TestHostsGetWhatTheRunStartsFrom(t *testing.T) {
	h, o := onHosts(t)
	t.Chdir(t.TempDir()) // whose files the folder of host b does not have
	first := short(t)
	first.Out, first.CheckpointEvery = "first", "3"
	run(t, first, launcher.Options{})
	for name, weights := range map[string]string{"a file": "first/model.safetensors", "a folder": "first"} {
		c := short(t)
		c.Weights = weights
		want := run(t, c, launcher.Options{}).ParameterSHA256
		c.Workers, c.Out = 4, filepath.Join(t.TempDir(), "run")
		if got := run(t, c, o).ParameterSHA256; got != want {
			t.Errorf("from %s: parameters %s, want %s", name, got, want)
		}
	}
	resumed, origins, err := setting.Resolve(setting.Source{Environment: o.Environment,
		Flags: map[string]string{"resume": "first", "epochs": "4", "workers": "4"}})
	if err != nil {
		t.Fatal(err)
	}
	o.Origins = origins
	whole := short(t)
	whole.Epochs = 4
	want := run(t, whole, launcher.Options{}).ParameterSHA256
	if got := run(t, resumed, o).ParameterSHA256; got != want {
		t.Errorf("resumed: parameters %s, want %s", got, want)
	}
	if left, err := filepath.Glob(filepath.Join(h.Folders[1], "rank*")); err != nil || left != nil {
		t.Errorf("left on host b: %v, %v", left, err)
	}
}
