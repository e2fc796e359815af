package train_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/compute"
	"lockstep/optim"
	"lockstep/trace"
	"lockstep/train"
)

// All workers end a run whose length is a time with the same step, and the result equals that of a
// run with that number of steps.
func TestTimeEndsTheRunAtOneStep(t *testing.T) {
	c := example(t, "lenet", 100, 37)
	c.Schedule, c.EMA = optim.ScheduleConfig{}, 0.9
	c.Lookahead = optim.LookaheadConfig{Every: 4, Alpha: 0.5}
	for workers := 1; workers <= 3; workers++ {
		c.Steps, c.For = 0, 60*time.Millisecond
		got := run(t, c, workers, 1, compute.Best())
		c.Steps, c.For = got[0].Steps, 0
		want := run(t, c, 1, 1, compute.Best())[0]
		for rank, o := range got {
			compareOutcomes(t, fmt.Sprintf("rank %d of %d", rank, workers), o, want)
		}
		last := got[0].StepTimes[max(0, got[0].Steps-2):]
		if expected := got[0].Trained + last[0]; expected < 60*time.Millisecond {
			t.Errorf("ended after %v, with steps of %v", got[0].Trained, last[0])
		}
		if o := got[0]; o.Trained != o.Time-o.Phases[trace.Evaluation] || o.Test.Trained > o.Trained {
			t.Errorf("trained for %v of %v, evaluated after %v", o.Trained, o.Time, o.Test.Trained)
		}
	}
}

// Isolated workers each use their own clock.
func TestTimeEndsIsolatedWorkers(t *testing.T) {
	c := example(t, "lenet", 100, 0)
	c.Test, c.Schedule, c.Isolated = nil, optim.ScheduleConfig{}, true
	c.Steps, c.For = 0, 30*time.Millisecond
	for rank, o := range run(t, c, 2, 1, compute.Best()) {
		if o.Steps < 1 || o.Trained > time.Minute {
			t.Errorf("rank %d: %d steps in %v", rank, o.Steps, o.Trained)
		}
	}
}

// A run whose time is up does not continue when resumed; one with time left does.
func TestResumedRunGoesOnCountingTime(t *testing.T) {
	c := example(t, "lenet", 100, 0)
	c.Test, c.Schedule = nil, optim.ScheduleConfig{}
	c.Steps, c.For = 0, 50*time.Millisecond
	a := &album{after: []int{1}}
	c.Checkpointer = a
	whole := run(t, c, 1, 1, compute.Best())[0]
	c.Checkpointer = nil
	last := len(a.snapshots) - 1
	a.snapshots[0].Trained = 0 // on a busy machine one step may take all of the time
	a.snapshots[last].Trained = c.For
	for i, more := range map[int]bool{0: true, last: false} {
		l := alone(t, c)
		a.restore(t, l, i)
		o, err := l.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if isMore := o.Steps > a.snapshots[i].Step; isMore != more || o.Trained < a.snapshots[i].Trained {
			t.Errorf("after %v and %d steps of %d: %d steps, %v", a.snapshots[i].Trained, a.snapshots[i].Step,
				whole.Steps, o.Steps, o.Trained)
		}
	}
}

// The first evaluation that reaches the target ends the run, for any number of workers, and is the
// last. The result equals that of a run with that number of epochs, with the averages or slow
// weights that were evaluated.
func TestTargetEndsTheRun(t *testing.T) {
	skipShort(t)
	for name, change := range map[string]func(c *train.Config){
		"average":   func(c *train.Config) { c.EMA = 0.5 },
		"lookahead": func(c *train.Config) { c.Lookahead = optim.LookaheadConfig{Every: 6, Alpha: 0.5} },
		"both": func(c *train.Config) {
			c.EMA, c.Lookahead = 0.5, optim.LookaheadConfig{Every: 6, Alpha: 0.5}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := example(t, "lenet", 150, 100)
			change(&c)
			checkTarget(t, c)
		})
	}
}

// checkTarget runs c until the best accuracy of eight epochs.
func checkTarget(t *testing.T, c train.Config) {
	t.Helper()
	c.Schedule, c.Steps, c.Epochs, c.EvalEvery = optim.ScheduleConfig{}, 0, 8, 1
	whole := run(t, c, 1, 1, compute.Best())[0]
	best := 0.0
	for _, e := range whole.evaluations[:len(whole.evaluations)-1] {
		best = max(best, e.Accuracy())
	}
	c.Target = best
	first := 0
	for whole.evaluations[first].Accuracy() < best {
		first++
	}
	short := c
	short.Target, short.Epochs = 0, first+1
	want := run(t, short, 1, 1, compute.Best())[0]
	for workers := 1; workers <= 2; workers++ {
		for rank, o := range run(t, c, workers, 1, compute.Best()) {
			compareOutcomes(t, fmt.Sprintf("rank %d of %d", rank, workers), o, want)
			if o.Test.Accuracy() != best {
				t.Errorf("ended with %v, want %v", o.Test.Accuracy(), best)
			}
		}
	}

	a := &album{after: []int{5 * (first + 1)}}
	c.Checkpointer, c.Target = a, 0
	run(t, c, 1, 1, compute.Best())
	c.Checkpointer, c.Target = nil, best
	l := alone(t, c)
	a.restore(t, l, 0)
	if o, err := l.Run(context.Background(), nil); err != nil ||
		o.ParameterSHA256 != want.ParameterSHA256 {
		t.Errorf("from the snapshot that reached the target: %d steps, %s, want %s; %v", o.Steps,
			o.ParameterSHA256, want.ParameterSHA256, err)
	}
}

func TestLengthsThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(c *train.Config){
		"length of 6 steps, 0 epochs and 1s": func(c *train.Config) { c.For = time.Second },
		"and -1ns":                           func(c *train.Config) { c.Steps, c.For = 0, -1 },
		"schedule cosine":                    func(c *train.Config) { c.Steps, c.For = 0, time.Second },
		"lookahead of power 2": func(c *train.Config) {
			c.Steps, c.For, c.Schedule = 0, time.Second, optim.ScheduleConfig{}
			c.Lookahead = optim.LookaheadConfig{Every: 5, Alpha: 0.5, Power: 2}
		},
		"accuracy of 1.1":    func(c *train.Config) { c.Target = 1.1 },
		"workers that never": func(c *train.Config) { c.Target, c.Isolated = 0.5, true },
	} {
		c := example(t, "lenet", 100, 10)
		c.CPU = &compute.CPU{}
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
