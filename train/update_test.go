package train_test

import (
	"fmt"
	"testing"

	"lockstep/compute"
	"lockstep/optim"
	"lockstep/train"
)

// Every optimizer, with its followers, has one final hash for any number of workers and threads.
func TestOneHashForEveryRule(t *testing.T) {
	plain := run(t, example(t, "lenet", 100, 37), 1, 1, compute.Best())[0]
	for _, change := range []func(c *train.Config){
		func(c *train.Config) { c.Clip = 0.5 },
		func(c *train.Config) { c.EMA = 0.9 },
		func(c *train.Config) { c.Lookahead = optim.LookaheadConfig{Every: 2, Alpha: 0.5} },
		func(c *train.Config) { c.Optimizer.Name, c.Optimizer.LR = "lars", 5 },
		func(c *train.Config) { c.Optimizer.Name = "lamb" },
		func(c *train.Config) { c.Optimizer.Name = "muon" },
		func(c *train.Config) { c.Optimizer.Name = "unit-muon" },
	} {
		c := example(t, "lenet", 100, 37)
		change(&c)
		want := run(t, c, 1, 1, compute.Best())[0]
		if want.ParameterSHA256 == plain.ParameterSHA256 {
			t.Errorf("%+v changes nothing", c.Optimizer)
		}
		for workers := 2; workers <= 3; workers++ {
			for rank, got := range run(t, c, workers, 2, compute.Best()) {
				compareOutcomes(t, fmt.Sprintf("%s, %d workers, rank %d", c.Optimizer.Name, workers, rank),
					got, want)
			}
		}
	}
}

// The average starts at the initial values, so with a decay near 1 the run ends about there,
// whatever the live weights are; and the run ends with the values that it evaluated.
func TestRunEndsWithTheAverage(t *testing.T) {
	c := example(t, "vgg11", 20, 10)
	c.Batch, c.Steps = 10, 3
	c.EMA = 1 - 1e-9 // less than float32 resolves here
	l := alone(t, c)
	start := append([]float32(nil), l.Variables().Weights...)
	r, err := l.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range l.Variables().Weights {
		if d := w - start[i]; d > 1e-6 || d < -1e-6 {
			t.Fatalf("weight %d went from %v to %v", i, start[i], w)
		}
	}
	if r.Test.Samples != 10 || r.LastLoss == r.FirstLoss {
		t.Errorf("%d samples evaluated, loss from %v to %v", r.Test.Samples, r.FirstLoss, r.LastLoss)
	}
}
