package launcher_test

import (
	"os"
	"strings"
	"testing"

	"lockstep/app/job"
	"lockstep/app/job/launcher"
	"lockstep/app/setting"
	"lockstep/train"
)

// averaging returns a run of eight steps in two epochs whose three workers average their weights, in
// parts and late.
func averaging(t *testing.T, strategy string) setting.Config {
	c := short(t)
	c.Strategy, c.Workers, c.Shards, c.Link = strategy, 3, 5, "local"
	c.AverageEvery, c.OuterParts, c.OuterOverlap, c.OuterWire = 2, 2, 1, "bf16"
	c.Optimizer.Name, c.Optimizer.LR = "adamw", 1e-3
	return c
}

// The result is the same for threads and processes, over shared memory and TCP; the summary says what
// was averaged. Two workers end with another result than three.
func TestAveragedRuns(t *testing.T) {
	links := []string{"shm", "tcp"}
	if testing.Short() {
		links = links[1:]
	}
	for _, strategy := range []string{"local-sgd", "diloco"} {
		c := averaging(t, strategy)
		want := run(t, c, launcher.Options{})
		counts := train.OuterConfig{Every: 2, Parts: 2}.Averages(want.Steps, want.Steps/int(want.Epochs))
		a := want.Averages
		if a == nil || a.Every != 2 || a.Parts != 2 || a.Overlap != 1 ||
			a.Rounds != max(counts[0], counts[1]) || a.Sent == 0 || a.Sent > want.BytesSent ||
			a.Exposed+a.Hidden <= 0 || want.Wire != "bf16" {
			t.Errorf("%s: averages %+v, wire %s", strategy, a, want.Wire)
		}
		if isPlain := a.LR == 1 && a.Momentum == 0; isPlain != (strategy == "local-sgd") {
			t.Errorf("%s: outer optimizer %+v", strategy, a)
		}
		if want.Steps != 8 || want.Samples != 300 || want.TestSamples != 30 || len(want.Evaluations) != 2 {
			t.Errorf("%s: %+v", strategy, want)
		}
		for _, link := range links {
			c.Link, c.Threads, c.Out = link, 2, t.TempDir()+"/run"
			if got := run(t, c, launcher.Options{}); got.ParameterSHA256 != want.ParameterSHA256 {
				t.Errorf("%s over %s: parameters %s, want %s", strategy, link, got.ParameterSHA256,
					want.ParameterSHA256)
			}
		}
		c.Workers, c.Link, c.Out = 2, "local", t.TempDir()+"/run"
		if got := run(t, c, launcher.Options{}); got.ParameterSHA256 == want.ParameterSHA256 {
			t.Errorf("%s: two workers end like three, so the test shows nothing", strategy)
		}
	}
}

// A run of averaged weights is resumed with as many workers, to the same bits; other workers and other
// strategies are refused.
func TestAveragedRunIsResumed(t *testing.T) {
	strategies := []string{"local-sgd", "diloco"}
	if testing.Short() {
		strategies = strategies[1:]
	}
	for _, strategy := range strategies {
		c := averaging(t, strategy)
		want := run(t, c, launcher.Options{})
		c.Out, c.CheckpointEvery = t.TempDir()+"/run", "5" // after 6 steps they meet
		run(t, c, launcher.Options{})
		if err := os.RemoveAll(c.Out + "/checkpoints/step-8"); err != nil {
			t.Fatal(err)
		}
		for flags, refusal := range map[string]string{
			"workers 2":    "want 3",
			"strategy ddp": "cannot go on as ddp",
		} {
			_, _, err := resumed(t, c.Out, strings.Fields(flags)...)
			if err == nil || !strings.Contains(err.Error(), refusal) || job.ExitCode(err) != job.ExitUsage {
				t.Errorf("%s, %s: error %v, want %q", strategy, flags, err, refusal)
			}
		}
		got, notes, err := resumed(t, c.Out, "link", "tcp")
		if err != nil {
			t.Fatal(err)
		}
		if got.ParameterSHA256 != want.ParameterSHA256 || *got.TrainAccuracy != *want.TrainAccuracy ||
			got.Resumed.Steps != 6 {
			t.Errorf("%s: parameters %s, want %s", strategy, got.ParameterSHA256, want.ParameterSHA256)
		}
		if strings.Contains(notes, "averaged") {
			t.Errorf("%s: a run that was not lengthened notes %q", strategy, notes)
		}
	}
}
