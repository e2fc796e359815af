package train_test

import (
	"math"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/optim"
	"lockstep/train"
)

// nearestEpoch is a Selection's By that likes one epoch best.
func nearestEpoch(epoch float64) func(train.Evaluation) float64 {
	return func(e train.Evaluation) float64 { return -math.Abs(e.Epochs - epoch) }
}

// choosing is a run whose second epoch of seven is the best, and which has patience for two more.
func choosing(t *testing.T) train.Config {
	t.Helper()
	c := example(t, "lenet", 100, 20)
	_, c.Validation = glyphs(t, 1, 30)
	c.Steps, c.Epochs, c.EvalEvery, c.EMA, c.Schedule = 0, 7, 1, 0.5, optim.ScheduleConfig{}
	c.Selection = train.Selection{By: nearestEpoch(2), Patience: 2, Restore: true}
	return c
}

// With the best weights restored, a run ends with the bits of one of as many epochs, whatever the number of
// workers, and scores the test samples once, with these weights.
func TestSelectionEndsWithTheBest(t *testing.T) {
	c := choosing(t)
	short := c
	short.Epochs, short.Selection = 2, train.Selection{}
	want := run(t, short, 1, 1, compute.Best())[0]
	for workers := 1; workers <= 3; workers++ {
		for rank, got := range run(t, c, workers, 1, compute.Best()) {
			if got.ParameterSHA256 != want.ParameterSHA256 || got.Epochs != 4 || got.Best.Since != 2 ||
				got.Best.Evaluation.Epochs != 2 {
				t.Errorf("rank %d of %d: parameters %.8s after %v epochs, best %+v, want %.8s", rank, workers,
					got.ParameterSHA256, got.Epochs, got.Best, want.ParameterSHA256)
			}
			if got.Test.Loss != want.Test.Loss || got.Validation.Loss != want.Validation.Loss ||
				got.Test.Epochs != 2 {
				t.Errorf("rank %d of %d: test %+v, want %+v", rank, workers, got.Test, want.Test)
			}
		}
	}
	c.Selection.Restore = false
	long := c
	long.Epochs, long.Selection = 4, train.Selection{}
	got, want := run(t, c, 1, 1, compute.Best())[0], run(t, long, 1, 1, compute.Best())[0]
	if got.Epochs != 4 || got.ParameterSHA256 != want.ParameterSHA256 || got.Best.Evaluation.Epochs != 2 {
		t.Errorf("without restoring: %v epochs, %.8s, want 4 and %.8s", got.Epochs, got.ParameterSHA256,
			want.ParameterSHA256)
	}
}

// A run resumed before and after its best evaluation chooses as one without interruption.
func TestSelectionOfAResumedRun(t *testing.T) {
	c := choosing(t)
	perEpoch := (100 + c.Batch - 1) / c.Batch
	a := &album{after: []int{perEpoch + 1, 2 * perEpoch, 3*perEpoch + 1, 4 * perEpoch}}
	c.Checkpointer = a
	want := run(t, c, 1, 1, compute.Best())[0]
	c.Checkpointer = nil
	if len(a.snapshots) != 4 {
		t.Fatalf("%d snapshots", len(a.snapshots))
	}
	for i, m := range a.snapshots {
		l := alone(t, c)
		a.restore(t, l, i)
		got, err := l.Run(t.Context(), nil)
		if err != nil || got.ParameterSHA256 != want.ParameterSHA256 || got.Steps != want.Steps ||
			got.Best.Evaluation.Steps != want.Best.Evaluation.Steps {
			t.Errorf("from step %d: %.8s after %d steps, %v, want %.8s after %d", m.Step, got.ParameterSHA256,
				got.Steps, err, want.ParameterSHA256, want.Steps)
		}
	}
}

// IsOver ends a run as its length would.
func TestIsOverEndsARun(t *testing.T) {
	c := example(t, "lenet", 100, 20)
	c.Schedule = optim.ScheduleConfig{}
	short := c
	c.Steps, short.Steps = 9, 5
	want := run(t, short, 1, 1, compute.Best())[0]
	asked := 0
	c.IsOver = func() bool { asked++; return asked >= 5 }
	l := alone(t, c)
	got, err := l.Run(t.Context(), nil)
	if err != nil || got.Steps != 5 || got.ParameterSHA256 != want.ParameterSHA256 ||
		got.Test.Loss != want.Test.Loss {
		t.Errorf("%d steps, %.8s, test %+v, %v", got.Steps, got.ParameterSHA256, got.Test, err)
	}
}

func TestSelectionErrors(t *testing.T) {
	for want, change := range map[string]func(*train.Config){
		"no validation samples":        func(c *train.Config) { c.Validation = nil },
		"nothing to choose by":         func(c *train.Config) { c.Selection.By = nil },
		"a negative patience":          func(c *train.Config) { c.Selection.Patience = -1 },
		"would choose differently":     func(c *train.Config) { c.Isolated = true },
		"workers that do not share th": func(c *train.Config) { c.WholeBatches = true },
	} {
		c := choosing(t)
		change(&c)
		c.Plan = cut(t, 2, 1)
		cpu, err := compute.Open(compute.Config{})
		if err != nil {
			t.Fatal(err)
		}
		c.CPU = cpu
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
