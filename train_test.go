package lockstep_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"lockstep"
	"lockstep/checkpoint"
	"lockstep/data"
	"lockstep/optim"
	"lockstep/train"
)

func glyphs(t *testing.T) (training, test *data.Set) {
	t.Helper()
	training, test, err := data.Load(t.Context(), "glyphs", data.Options{TrainSize: 150, TestSize: 40})
	if err != nil {
		t.Fatal(err)
	}
	return training, test
}

func TestTrainGivesTheSameBitsForAnyWorkers(t *testing.T) {
	training, test := glyphs(t)
	var want *lockstep.Result
	for workers := 1; workers <= 4; workers++ {
		steps, evaluations := 0, 0
		got, err := lockstep.Train(t.Context(), lockstep.Config{Name: "lenet", Train: training, Test: test,
			Workers: workers, Threads: 1, Shards: 4, Batch: 32, Epochs: 2, EvalEvery: 1, Seed: 7,
			Callbacks: lockstep.Callbacks{
				OnStep:       func(train.Step) error { steps++; return nil },
				OnEvaluation: func(train.Evaluation) error { evaluations++; return nil }}})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if got.ParameterSHA256 != want.ParameterSHA256 || got.TestLoss != want.TestLoss ||
			got.TestAccuracy != want.TestAccuracy || got.Losses[9] != want.Losses[9] {
			t.Errorf("%d workers: %+v, want %+v", workers, got, want)
		}
		if len(got.Losses) != 10 || steps != 10 || evaluations != 2 {
			t.Errorf("%d workers: %d losses, %d steps, %d evaluations", workers, len(got.Losses), steps,
				evaluations)
		}
	}
	path := filepath.Join(t.TempDir(), "model.safetensors")
	if err := want.Save(path); err != nil {
		t.Fatal(err)
	}
	r, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if d, err := r.Describe(); err != nil || len(d.Classes) != 10 || d.Classes[9] != "9" || len(d.Mean) != 3 {
		t.Errorf("the file says of itself %+v, %v", d, err)
	}
}

// A task other than classification: the samples have targets in place of labels, and no accuracy.
func TestTrainOfATask(t *testing.T) {
	digits, _ := glyphs(t)
	set := *digits
	set.Labels, set.Classes, set.NumTargets = nil, nil, 1
	for _, digit := range digits.Labels {
		set.Targets = append(set.Targets, float32(digit)/10)
	}
	got, err := lockstep.Train(t.Context(), lockstep.Config{Name: "lenet", Train: &set, Test: &set,
		Task: train.Regression(), Workers: 2, Threads: 1, Steps: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.TestMetrics) != 3 || math.Abs(got.TestMetrics[0].Value-math.Sqrt(got.TestLoss)) > 1e-12 ||
		!math.IsNaN(got.TestAccuracy) {
		t.Errorf("metrics %v, loss %v, accuracy %v", got.TestMetrics, got.TestLoss, got.TestAccuracy)
	}
}

// A task of targets that says which outputs are right has an accuracy, to end a run by and to choose by.
func TestTrainOfATaskWithAnAccuracy(t *testing.T) {
	digits, _ := glyphs(t)
	set := *digits
	set.Labels, set.Classes, set.NumTargets = nil, nil, 1
	for _, digit := range digits.Labels {
		set.Targets = append(set.Targets, float32(digit)/10)
	}
	test, task := set, train.Regression()
	task.Name = "near"
	task.Correct = func(output []float32, s *data.Shard) int { return len(output) }
	c := lockstep.Config{Name: "lenet", Train: &set, Test: &test, Validation: &set, Task: task, Threads: 1,
		Epochs: 3, EvalEvery: 1, Until: 0.9, RestoreBest: true}
	for by, want := range map[string]string{"": "", "accuracy": "", "loss": "",
		"macro-f1": "want accuracy or loss"} {
		c.BestBy = by
		got, err := lockstep.Train(t.Context(), c)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("by %q: error %v, want %q", by, err, want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got.TestAccuracy != 1 || got.Steps != 3 || by != "loss" && got.Best.Value != 1 {
			t.Errorf("by %q: accuracy %v after %d steps, best %+v", by, got.TestAccuracy, got.Steps, got.Best)
		}
	}
}

func TestTrainErrors(t *testing.T) {
	training, _ := glyphs(t)
	var diverged *train.DivergedError
	_, err := lockstep.Train(t.Context(), lockstep.Config{Name: "lenet", Train: training, Workers: 2,
		Steps: 30, Optimizer: optim.Config{LR: 1e3, WeightDecay: 1e3}})
	if !errors.As(err, &diverged) {
		t.Errorf("error %v, want a *train.DivergedError", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = lockstep.Train(ctx, lockstep.Config{Name: "lenet", Train: training, Workers: 2, Steps: 1000,
		Callbacks: lockstep.Callbacks{OnStep: func(s train.Step) error {
			if s.Number == 2 {
				cancel()
			}
			return nil
		}}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
	wrong := *training
	wrong.Name, wrong.Classes = "wrong", []string{"all"}
	for want, c := range map[string]lockstep.Config{
		"data: set wrong: label 1 of": {Train: &wrong, Name: "lenet"},
		"data: set wrong: label ":     {Train: training, Test: &wrong, Name: "lenet"},
		"no training samples":         {Name: "lenet"},
		"want either a Model":         {Train: training},
		"no model":                    {Train: training, Name: "lenot"},
		"2 shards over 3":             {Train: training, Name: "lenet", Workers: 3, Shards: 2},
		"over -3 workers":             {Train: training, Name: "lenet", Workers: -3, Shards: 4},
	} {
		r, err := lockstep.Train(t.Context(), c)
		if r != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	r, err := lockstep.Train(t.Context(), lockstep.Config{Name: "lenet", Train: training, Steps: 1})
	if err != nil || !math.IsNaN(r.TestLoss) {
		t.Errorf("without a test set: %+v, %v", r, err)
	}
}
