package train_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"lockstep/trace"
	"lockstep/train"
)

// ticking is an executor whose clock moves by itself: a millisecond from each mark to the next.
type ticking struct {
	*apart
	marks []trace.Phase
	asked int
	left  int // marks until it fails; below 0: it does not
}

func (e *ticking) Mark(p trace.Phase) {
	e.marks = append(e.marks, p)
	e.left--
}

func (e *ticking) Err() error {
	if e.left == 0 {
		return errors.New("the device is gone")
	}
	return nil
}

func (e *ticking) Marked() (took trace.Phases) {
	for i, p := range e.marks {
		if i+1 < len(e.marks) && p != trace.Other {
			took[p] += time.Millisecond
		}
	}
	e.marks = nil
	e.asked++
	return took
}

// An executor's clock is read in steps 3, 19 and 35 of a run, for the passes of each shard and, where the
// executor updates the weights, for that.
func TestStopwatch(t *testing.T) {
	for _, test := range []struct {
		name           string
		steps, watched int
		optimizer      string
		updates        int // of a step, by the executor
	}{
		{"resident", 36, 3, "sgd", 1},
		{"short", 3, 0, "sgd", 0},
		{"weights on the host", 4, 1, "lars", 0},
	} {
		c := example(t, "lenet", 75, 0)
		c.Test, c.Steps, c.Optimizer.Name = nil, test.steps, test.optimizer
		c, ex := resident(t, c)
		clock := &ticking{apart: ex, left: -1}
		c.Executor = clock
		done, err := alone(t, c).Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := done.Watched
		if test.watched == 0 {
			if seen != nil {
				t.Errorf("%s: saw %+v", test.name, seen)
			}
			continue
		}
		shards := c.Plan.Shards()
		want := trace.Phases{
			trace.Forward:   time.Duration(test.watched*shards) * time.Millisecond,
			trace.Backward:  time.Duration(test.watched*shards) * time.Millisecond,
			trace.Optimizer: time.Duration(test.watched*test.updates) * time.Millisecond,
		}
		if seen == nil || seen.Steps != test.watched || seen.Phases != want || seen.Time <= 0 ||
			seen.Time > done.Time {
			t.Errorf("%s: saw %+v, want %d steps and %v", test.name, seen, test.watched, want)
		}
		if clock.marks != nil {
			t.Errorf("%s: %d marks are left", test.name, len(clock.marks))
		}
	}
}

// What was marked in a step that fails is not told with those that were finished.
func TestStopwatchOfAFailedStep(t *testing.T) {
	c := example(t, "lenet", 75, 0)
	c.Test, c.Steps = nil, 36
	c, ex := resident(t, c)
	shards := c.Plan.Shards()
	marks := 3*shards + 2                             // of step 3
	c.Executor = &ticking{apart: ex, left: marks + 3} // and those of a shard of step 19
	done, err := alone(t, c).Run(context.Background(), nil)
	if err == nil || done.Steps != 19 {
		t.Fatalf("%d steps, error %v, want one in step 19", done.Steps, err)
	}
	want := time.Duration(shards) * time.Millisecond
	if seen := done.Watched; seen == nil || seen.Steps != 1 || seen.Phases[trace.Forward] != want {
		t.Errorf("saw %+v, want one step and %v forward", seen, want)
	}
}

var _ train.Stopwatch = (*ticking)(nil)
