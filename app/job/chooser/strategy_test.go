package chooser

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/app/job/launcher"
	"lockstep/app/record"
	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/comm"
)

// A probe takes the passes of every rank, and the links between hosts if there are some.
func TestProbeOfASummary(t *testing.T) {
	c := setting.Default()
	c.Workers, c.Shards, c.Threads = 2, 4, 1
	s := &record.Summary{GradientBytes: 1000, Tensors: 10, AlgorithmChoice: &comm.Tuning{
		Inside: comm.LinkSpeed{Latency: 1, Byte: 1}, Add: 3}}
	for rank := range 2 {
		f := float64(rank + 1) // rank 1 is half as fast; nine steps of 100 ms in all
		s.Ranks = append(s.Ranks, record.RankStat{StepMS: record.Quantiles{Median: 100 * f},
			Phases: record.Phases{Forward: 0.3 * f, Backward: 0.5 * f, Optimizer: 0.1 * f, Evaluation: 9}})
	}
	p := probeOf(s, c)
	for name, pair := range map[string][2]float64{
		"compute 0": {p.Compute[0], 0.8 / 0.9 * 0.1}, "compute 1": {p.Compute[1], 0.8 / 0.9 * 0.2},
		"forward": {p.Forward, 0.3 / 0.9 * 0.15}, "last backward": {p.Backward, 0.5 / 0.9 * 0.075},
		"update": {p.Update, 0.1 / 0.9 * 0.2}, "link": {p.Link.Byte, 1}, "add": {p.Add, 3},
		"shards": {float64(p.Shards), 4},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	s.AlgorithmChoice.Outside = comm.LinkSpeed{Byte: 5}
	if p := probeOf(s, c); p.Link.Byte != 5 {
		t.Errorf("link %+v, want that between hosts", p.Link)
	}
}

// Only ways that the settings allow are ranked, and each knows whether it is exact.
func TestUsableWays(t *testing.T) {
	c := setting.Default()
	c.Workers, c.Strategy, c.Clip = 2, setting.Auto, 1
	names := map[string]bool{}
	for _, w := range rank(record.Probe{Compute: []float64{2, 1}}, c.Complete()) {
		names[w.Way] = w.Inexact == ""
	}
	if !names["ddp"] || !names["all-reduce"] || !names["gather-scatter"] {
		t.Errorf("ways %v, want the exact ones", names)
	}
	if _, ok := names["ddp:overlap-forward"]; ok {
		t.Error("overlap-forward is usable with --clip")
	}
	for _, name := range []string{"local-sgd", "diloco", "ps-async"} {
		if names[name] {
			t.Errorf("%s is called exact", name)
		}
	}
	c.Wire = "int8"
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "auto chooses among exact") {
		t.Errorf("error %v, want that no strategy is exact", err)
	}
}

// What was given holds for every way; what was derived is derived for each, and for the chosen one.
func TestWaysKeepWhatWasGiven(t *testing.T) {
	for _, way := range []string{"ddp", "ps:servers=2", "ps:server-place=apart"} {
		for _, isGiven := range []bool{false, true} {
			flags := map[string]string{"strategy": setting.Auto, "workers": "3", "shards": "6"}
			if isGiven {
				flags["threads"], flags["link"] = "2", "tcp"
			}
			c, origins, err := setting.Resolve(setting.Source{Flags: flags})
			if err != nil {
				t.Fatal(err)
			}
			got, err := with(c.Reopen(c, origins), way)
			if err != nil {
				t.Fatal(err)
			}
			if isGiven && (got.Threads != 2 || got.Link != "tcp") || !isGiven &&
				(got.Threads != 0 || got.Link != "auto") {
				t.Errorf("%v, given %v: %d threads, link %s", way, isGiven, got.Threads, got.Link)
			}
			c.EvalOnly = true // the choice is made without a run
			done := launcher.Choice{Config: c, Origins: origins}
			err = chooseStrategy(t.Context(), &done, launcher.Options{Stderr: io.Discard})
			if got = done.Config; err != nil || got.Threads != c.Threads || got.Link != c.Link {
				t.Errorf("%d threads, link %s, %v; want %d, %s", got.Threads, got.Link, err, c.Threads,
					c.Link)
			}
		}
	}
	c := setting.Default()
	c.Workers, c.Threads = 2, 3
	if got := c.Complete().Reopen(c, nil); got.Threads != 3 || got.Link != "auto" {
		t.Errorf("%d threads, link %s; want those given without origins", got.Threads, got.Link)
	}
}

// Long steps are tried less often, and a single way is not tried at all.
func TestTrialsTakeBoundedTime(t *testing.T) {
	for _, test := range []struct {
		step  float64 // seconds
		want  int     // runs
		steps int     // of each
	}{{0.01, 6, 121}, {0.3, 6, 5}, {0.9, 6, 3}, {2, 4, 3}, {20, 0, 0}} {
		ranking := []record.StrategyTerms{{Way: "ddp", Step: test.step},
			{Way: "ps", Step: 1.01 * test.step}, {Way: "all-reduce", Step: 1.02 * test.step}}
		got := trials(ranking)
		if len(got) != test.want || len(got) > 0 && got[0].steps != test.steps {
			t.Errorf("steps of %v s: %+v, want %d runs of %d steps", test.step, got, test.want, test.steps)
		}
		if test.want > 0 && got[0].way != got[test.want-1].way {
			t.Errorf("steps of %v s: %+v, want the second round in reverse order", test.step, got)
		}
	}
	if got := trials([]record.StrategyTerms{{Way: "ddp", Step: 0.01}}); got != nil {
		t.Errorf("one way: %+v, want no runs", got)
	}
}

// The choice changes no bit, leaves its reasons in the summary and no files behind.
func TestStrategyAuto(t *testing.T) {
	if testing.Short() {
		t.Skip("makes short runs for some seconds")
	}
	t.Setenv("TMPDIR", t.TempDir())
	run := func(name string, workers int) (*record.Summary, string) {
		c := setting.Default()
		c.Workers, c.Strategy, c.Shards, c.Link = workers, name, 2, "local"
		c.Steps, c.LimitTrain, c.LimitTest, c.Save, c.Out = 5, 320, 0, false, t.TempDir()
		var said bytes.Buffer
		origins := setting.Origins{"strategy": "--strategy", "seed": "default"}
		s, err := Run(context.Background(), c, launcher.Options{Stderr: &said, Origins: origins})
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(filepath.Join(c.Out, rundir.ConfigFile))
		isChosen := strings.Contains(string(file), "# chosen by strategy auto")
		if err != nil || isChosen != (name == setting.Auto) || origins["strategy"] != "--strategy" {
			t.Errorf("%s: %v, config.yaml:\n%s", name, err, file)
		}
		return s, said.String()
	}
	one, _ := run("single", 1)
	s, said := run(setting.Auto, 2)
	if s.ParameterSHA256 != one.ParameterSHA256 {
		t.Errorf("parameters %s, of one worker %s", s.ParameterSHA256, one.ParameterSHA256)
	}
	found := s.StrategyChoice
	if found == nil || len(found.Probe.Compute) != 2 || found.Probe.Link.Byte <= 0 {
		t.Fatalf("choice %+v", found)
	}
	first := choose(found.Ranking)
	if way := found.Ranking[first].Way; way != found.Chosen || strategy.Named(way).Name != s.Strategy {
		t.Errorf("%s is the first of the ranking, %s is chosen, the run is %s", way, found.Chosen, s.Strategy)
	}
	for _, want := range []string{"strategy auto: probing",
		"strategy auto: " + found.Chosen + ", found in "} {
		if !strings.Contains(said, want) {
			t.Errorf("it says %q, want %q", said, want)
		}
	}
}
