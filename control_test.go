package lockstep_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep"
	"lockstep/app/setting"
	"lockstep/train"
)

// stopAt returns callbacks that end a run after so many steps.
func stopAt(steps int) lockstep.Callbacks {
	return lockstep.Callbacks{OnStep: func(s train.Step) error {
		if s.Number+1 == steps {
			return lockstep.ErrStop
		}
		return nil
	}}
}

// A callback that stops a run does so at the same step on every worker: the weights are those of a run of
// that length, for any number of workers and strategy, with a run directory and without.
func TestCallbacksStopAllWorkersAtOneStep(t *testing.T) {
	training, test := glyphs(t)
	base := lockstep.Config{Name: "lenet", Train: training, Test: test, Threads: 1, Shards: 4, Batch: 32,
		Seed: 7, Steps: 7}
	want, err := lockstep.Train(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	base.Steps, base.Callbacks = 40, stopAt(7)
	for _, c := range []lockstep.Config{{}, {Workers: 2}, {Workers: 3, Strategy: "all-reduce"},
		{Workers: 4, Strategy: "ps"}, {Workers: 2, Out: filepath.Join(t.TempDir(), "run")},
		{Workers: 2, Wire: "zstd", Algorithm: "tree"},
		{Workers: 3, Adjust: func(s *setting.Config) { s.ShardOptimizer = true }}} {
		run := base
		run.Workers, run.Out, run.Adjust = c.Workers, c.Out, c.Adjust
		run.Strategy, run.Wire, run.Algorithm = c.Strategy, c.Wire, c.Algorithm
		got, err := lockstep.Train(t.Context(), run)
		if err != nil {
			t.Fatalf("%d workers, %q: %v", c.Workers, c.Strategy, err)
		}
		if got.Steps != 7 || got.ParameterSHA256 != want.ParameterSHA256 || got.TestLoss != want.TestLoss {
			t.Errorf("%d workers, %q: %d steps, %.8s, loss %v, want %.8s, %v", c.Workers, c.Strategy,
				got.Steps, got.ParameterSHA256, got.TestLoss, want.ParameterSHA256, want.TestLoss)
		}
	}
}

// A callback after an evaluation ends the run there; the one at the end hears of the result.
func TestCallbacksAfterEvaluations(t *testing.T) {
	training, test := glyphs(t)
	evaluations, ended := 0, (*lockstep.Result)(nil)
	got, err := lockstep.Train(t.Context(), lockstep.Config{Name: "lenet", Train: training, Test: test,
		Workers: 2, Threads: 1, Epochs: 6, EvalEvery: 1, Callbacks: lockstep.Callbacks{
			OnEvaluation: func(e train.Evaluation) error {
				if evaluations++; evaluations == 2 {
					return lockstep.ErrStop
				}
				return nil
			},
			OnEnd: func(r *lockstep.Result) error { ended = r; return nil },
		}})
	if err != nil || evaluations != 2 || got.Steps != 6 || ended != got {
		t.Errorf("%d evaluations, %+v, %v, at the end %+v", evaluations, got, err, ended)
	}
}

// The error of a callback after the last evaluation is that of the run, which is not complete; the end is not
// called.
func TestErrorAfterTheLastEvaluation(t *testing.T) {
	training, test := glyphs(t)
	bad := errors.New("too bad")
	for _, out := range []string{"", filepath.Join(t.TempDir(), "run")} {
		got, err := lockstep.Train(t.Context(), lockstep.Config{Name: "lenet", Train: training, Test: test,
			Threads: 1, Steps: 2, Out: out, Callbacks: lockstep.Callbacks{
				OnEvaluation: func(train.Evaluation) error { return bad },
				OnEnd:        func(*lockstep.Result) error { t.Error("OnEnd is called"); return nil },
			}})
		if !errors.Is(err, bad) || got != nil {
			t.Errorf("%q: result %v, error %v", out, got, err)
		}
		if _, err := os.Stat(filepath.Join(out, "summary.json")); out != "" && err == nil {
			t.Error("the run has a summary")
		}
	}
}

// A run with a directory leaves what the command line leaves, and goes on from its checkpoint with another
// number of workers to the same bits.
func TestTrainResumes(t *testing.T) {
	training, test := glyphs(t)
	c := lockstep.Config{Name: "lenet", Train: training, Test: test, Threads: 1, Shards: 4, Batch: 32,
		Steps: 8, Workers: 2}
	want, err := lockstep.Train(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.Out, c.CheckpointEvery = filepath.Join(t.TempDir(), "run"), "3"
	broken := errors.New("the power fails")
	c.OnStep = func(s train.Step) error {
		if s.Number == 4 {
			return broken
		}
		return nil
	}
	if _, err := lockstep.Train(t.Context(), c); !errors.Is(err, broken) {
		t.Fatalf("error %v, want that of the callback", err)
	}
	got, err := lockstep.Train(t.Context(), lockstep.Config{Name: "lenet", Train: training, Test: test,
		Resume: c.Out, Workers: 3, Threads: 1})
	if err != nil || got.ParameterSHA256 != want.ParameterSHA256 || got.Steps != 8 || len(got.Losses) == 8 {
		t.Fatalf("resumed: %+v, %v, want %.8s", got, err, want.ParameterSHA256)
	}
	for _, file := range []string{"summary.json", "steps.jsonl", "model.safetensors", "config.yaml"} {
		if _, err := os.Stat(filepath.Join(c.Out, file)); err != nil {
			t.Error(err)
		}
	}
	_, err = lockstep.Train(t.Context(), lockstep.Config{Name: "lenet", Train: test, Resume: c.Out, Steps: 9})
	if err == nil || !strings.Contains(err.Error(), "training") {
		t.Errorf("resumed with other samples: %v", err)
	}
}

func TestConfigErrors(t *testing.T) {
	training, test := glyphs(t)
	for want, c := range map[string]lockstep.Config{
		"want a run directory":       {CheckpointEvery: "3"},
		"unknown strategy":           {Workers: 2, Strategy: "sharded"},
		"unknown wire":               {Workers: 2, Wire: "fp64"},
		"choose by Validation":       {Patience: 1},
		"unknown math":               {Math: "fancy"},
		"workers of strategy diloco": {Workers: 2, Strategy: "diloco", Callbacks: stopAt(1)},
		"change the sets instead":    {Adjust: func(s *setting.Config) { s.ClassWeights = "balanced" }},
	} {
		c.Name, c.Train, c.Test, c.Threads, c.Steps = "lenet", training, test, 1, 3
		if r, err := lockstep.Train(t.Context(), c); r != nil || err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("result %v, error %v, want %q", r, err, want)
		}
	}
}
