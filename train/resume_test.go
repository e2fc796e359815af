package train_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/optim"
	"lockstep/train"
)

// album keeps copies of the snapshots after the given steps.
type album struct {
	after     []int
	snapshots []train.Snapshot
	weights   [][]float32
	states    [][]float32
	vectors   [][][]float32
}

// keptVectors returns the vectors of a snapshot.
func keptVectors(m train.Snapshot) []optim.Vector { return slices.Concat(m.Optimizer, m.Statistics) }

func (a *album) Save(m train.Snapshot, isLast bool) (bool, error) {
	if !slices.Contains(a.after, m.Step) && !isLast {
		return false, nil
	}
	if err := m.Settle(); err != nil {
		return false, err
	}
	a.snapshots = append(a.snapshots, m)
	a.weights = append(a.weights, slices.Clone(m.Variables.Weights))
	a.states = append(a.states, slices.Clone(m.Variables.State))
	var vectors [][]float32
	for _, v := range keptVectors(m) {
		vectors = append(vectors, slices.Clone(v.Data))
	}
	a.vectors = append(a.vectors, vectors)
	return true, nil
}

// restore copies snapshot i to a loop.
func (a *album) restore(t *testing.T, l *train.Loop, i int) {
	t.Helper()
	m := l.Snapshot()
	copy(m.Variables.Weights, a.weights[i])
	copy(m.Variables.State, a.states[i])
	for j, v := range keptVectors(m) {
		copy(v.Data, a.vectors[i][j])
	}
	if err := l.Resume(a.snapshots[i].Progress); err != nil {
		t.Fatal(err)
	}
}

// A run of two and a half epochs, resumed from the middle and the end of an epoch and from its own
// end, has the same result as an uninterrupted run, whatever state its update has.
func TestResumedRunEndsAsTheUndisturbed(t *testing.T) {
	for name, change := range map[string]func(c *train.Config){
		"sgd":   func(c *train.Config) {},
		"adamw": func(c *train.Config) { c.Optimizer.Name = "adamw" },
		"lars":  func(c *train.Config) { c.Optimizer.Name, c.Optimizer.LR = "lars", 5 },
		"lamb":  func(c *train.Config) { c.Optimizer.Name = "lamb" },
		"muon":  func(c *train.Config) { c.Optimizer.Name = "muon" },
		"unit-muon": func(c *train.Config) {
			c.Optimizer.Name = "unit-muon"
			c.Optimizer.Groups = []optim.Group{{Match: "*.bias", Rate: 2, Steps: 5}}
		},
		"groups": func(c *train.Config) {
			c.Optimizer.Groups = []optim.Group{{Match: "*.bias", Rate: 2, Steps: 5}}
		},
		"clip and average": func(c *train.Config) { c.Clip, c.EMA = 0.5, 0.9 },
		"lookahead": func(c *train.Config) {
			c.Lookahead = optim.LookaheadConfig{Every: 3, Alpha: 0.5, Power: 1}
		},
	} {
		c := example(t, "lenet", 100, 20)
		change(&c)
		checkResumed(t, name, c)
	}
	c := example(t, "resnet20", 20, 10) // it has running statistics
	c.Batch, c.EMA, c.Lookahead = 5, 0.9, optim.LookaheadConfig{Every: 3, Alpha: 0.5}
	checkResumed(t, "averages of statistics", c)
}

// checkResumed runs c for two and a half epochs of four steps, and again from snapshots of that
// run.
func checkResumed(t *testing.T, name string, c train.Config) {
	t.Helper()
	c.Steps, c.EvalEvery = 10, 1
	a := &album{after: []int{1, 4, 6}}
	c.Checkpointer = a
	want := run(t, c, 1, 1, compute.Best())[0]
	c.Checkpointer = nil
	for i, m := range a.snapshots {
		l := alone(t, c)
		a.restore(t, l, i)
		var d diary
		got, err := l.Run(context.Background(), &d)
		if err != nil {
			t.Fatal(err)
		}
		if got.ParameterSHA256 != want.ParameterSHA256 {
			t.Errorf("%s from step %d: parameters %s, want %s", name, m.Step, got.ParameterSHA256,
				want.ParameterSHA256)
		}
		got.Test.Time, want.Test.Time, got.Test.Trained, want.Test.Trained = 0, 0, 0, 0
		if got.Steps != 10 || got.Epochs != want.Epochs || got.Samples != want.Samples ||
			got.FirstLoss != want.FirstLoss || got.LastLoss != want.LastLoss ||
			got.TrainCorrect != want.TrainCorrect || got.TrainSamples != want.TrainSamples ||
			!reflect.DeepEqual(got.Test, want.Test) {
			t.Errorf("%s from step %d: %+v, want %+v", name, m.Step, got, want.Result)
		}
		if len(d.steps) != 10-m.Step || len(got.StepTimes) != 10-m.Step {
			t.Errorf("%s from step %d: %d steps", name, m.Step, len(d.steps))
		}
		for j, s := range d.steps {
			if w := want.steps[m.Step+j]; s.Number != w.Number || s.Loss != w.Loss || s.Rate != w.Rate {
				t.Errorf("%s from step %d: step %+v, want %+v", name, m.Step, s, w)
			}
		}
	}
}

// countdown is a context that ends when it is looked at for the last time, and counts.
type countdown struct {
	context.Context
	looks, last int
}

func (c *countdown) Err() error {
	if c.looks++; c.last > 0 && c.looks >= c.last {
		return context.Canceled
	}
	return nil
}

// A worker alone that is stopped anywhere, also within a step or an evaluation, saves what the last whole
// step has left, and ends as an undisturbed run once it is resumed.
func TestStoppedStepIsDropped(t *testing.T) {
	c := example(t, "lenet", 60, 20)
	c.Plan, c.EvalEvery, c.EMA = cut(t, 2, 1), 1, 0.9
	c.Lookahead = optim.LookaheadConfig{Every: 3, Alpha: 0.5}
	all := &countdown{Context: t.Context()}
	want, err := runOne(t, c, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	if all.looks < 20*want.Steps {
		t.Fatalf("looked %d times in %d steps", all.looks, want.Steps)
	}
	for last := 2; last < all.looks; last += 1 + all.looks/40 {
		a := &album{}
		c.Checkpointer = a
		ctx := &countdown{Context: t.Context(), last: last}
		got, err := runOne(t, c, ctx, nil)
		if !errors.Is(err, context.Canceled) || len(a.snapshots) != 1 || a.snapshots[0].Step != got.Steps {
			t.Fatalf("stopped at look %d: %v, %d steps, snapshots %+v", last, err, got.Steps, a.snapshots)
		}
		if more := ctx.looks - last; more > 12 {
			t.Errorf("stopped at look %d, and looked %d times more", last, more)
		}
		c.Checkpointer = nil
		l := alone(t, c)
		a.restore(t, l, 0)
		if got, err = l.Run(t.Context(), nil); err != nil || got.ParameterSHA256 != want.ParameterSHA256 ||
			got.TrainCorrect != want.TrainCorrect || got.Test.Correct != want.Test.Correct {
			t.Errorf("stopped at look %d, after step %d: %v, %+v, want %+v", last, a.snapshots[0].Step,
				err, got, want)
		}
	}
}

// A finished run with averages, or Lookahead's slow weights, continues from its live values when it
// is extended, and ends with its averages.
func TestAveragedRunCanBeMadeLongerOrShorter(t *testing.T) {
	average := example(t, "lenet", 100, 20)
	average.Schedule = optim.ScheduleConfig{} // the learning rate must not depend on the length
	slow, both := average, average
	average.EMA, both.EMA = 0.9, 0.9
	slow.Lookahead = optim.LookaheadConfig{Every: 2, Alpha: 0.5}
	both.Lookahead = slow.Lookahead
	for name, c := range map[string]train.Config{"average": average, "slow": slow, "both": both} {
		t.Run(name, func(t *testing.T) { checkOtherLength(t, c) })
	}
}

// checkOtherLength extends a finished run of three steps of c to six, and shortens an interrupted
// run of six to the three that it has done.
func checkOtherLength(t *testing.T, c train.Config) {
	t.Helper()
	c.Steps = 6
	long := run(t, c, 1, 1, compute.Best())[0]
	a := &album{}
	c.Checkpointer, c.Steps = a, 3
	short := run(t, c, 1, 1, compute.Best())[0]
	if !a.snapshots[0].IsAveraged {
		t.Error("the last snapshot has live values")
	}
	c.Checkpointer, c.Steps = nil, 6
	l := alone(t, c)
	a.restore(t, l, 0)
	got, err := l.Run(context.Background(), nil)
	if err != nil || got.ParameterSHA256 != long.ParameterSHA256 {
		t.Errorf("made longer: parameters %s, want %s; %v", got.ParameterSHA256, long.ParameterSHA256, err)
	}

	a = &album{after: []int{3}}
	c.Checkpointer = a
	run(t, c, 1, 1, compute.Best())
	c.Checkpointer, c.Steps = nil, 3
	l = alone(t, c)
	a.restore(t, l, 0)
	if got, err = l.Run(context.Background(), nil); err != nil ||
		got.ParameterSHA256 != short.ParameterSHA256 {
		t.Errorf("made shorter: parameters %s, want %s; %v", got.ParameterSHA256, short.ParameterSHA256, err)
	}
}

// A cancelled run saves its last snapshot and continues from there; an evaluation that was due is
// made then.
func TestCancelledRunKeepsItsLastMoment(t *testing.T) {
	c := example(t, "lenet", 100, 20)
	c.EvalEvery = 1
	want := run(t, c, 1, 1, compute.Best())[0]
	a := &album{}
	c.Checkpointer = a
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := alone(t, c).Run(ctx, &stopper{cancel: cancel}); err == nil {
		t.Fatal("a cancelled run ended well")
	}
	if len(a.snapshots) != 1 || a.snapshots[0].Step != 3 {
		t.Fatalf("kept %d snapshots", len(a.snapshots))
	}
	c.Checkpointer = nil
	l := alone(t, c)
	a.restore(t, l, 0)
	got, err := l.Run(context.Background(), nil)
	if err != nil || got.ParameterSHA256 != want.ParameterSHA256 {
		t.Errorf("parameters %s, want %s; %v", got.ParameterSHA256, want.ParameterSHA256, err)
	}

	// The snapshot at the end of an epoch, before its evaluation.
	c.Checkpointer, c.Steps = &album{after: []int{4}}, 4
	whole := run(t, c, 1, 1, compute.Best())[0]
	a = c.Checkpointer.(*album)
	a.snapshots[0].Test = train.Evaluation{}
	c.Checkpointer = nil
	l = alone(t, c)
	a.restore(t, l, 0)
	var d diary
	if _, err := l.Run(context.Background(), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.evaluations) != 1 || d.evaluations[0].Correct != whole.Test.Correct {
		t.Errorf("evaluations %+v, want one with %d", d.evaluations, whole.Test.Correct)
	}
}

func TestResumeRefusesWhatIsNoMoment(t *testing.T) {
	c := example(t, "lenet", 100, 0)
	c.Test = nil
	for want, p := range map[string]train.Progress{
		"-1 steps are done":           {Step: -1},
		"7 steps are done":            {Step: 7, Samples: 190},
		"want 130 of glyphs":          {Step: 5, Samples: 100},
		"the epoch's samples hash":    {Step: 4, Samples: 100, Coverage: math.MaxUint64},
		"0 samples in 1 steps, want":  {Step: 1},
		"the parameters are averages": {IsAveraged: true},
	} {
		l := alone(t, c)
		err := l.Resume(p)
		if err == nil {
			_, err = l.Run(context.Background(), nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", p, err, want)
		}
	}
}
