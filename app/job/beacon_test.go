package job

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/data"
	"lockstep/trace"
	"lockstep/train"
)

// waits is links whose messages wait for rank 1, or for nobody.
type waits struct {
	Links
	isWaiting bool
}

func (w *waits) Standing() comm.Standing {
	if w.isWaiting {
		return comm.Standing{Wait: &comm.Wait{Peer: 1, Op: comm.Message, Name: "push 1 of 2"}}
	}
	return comm.Standing{}
}

// A server that waits for a step to begin may wait for any time; one that waits for the rest of a step's
// pushes, or updates its weights, may not.
func TestServerThatWaitsIsNotStuck(t *testing.T) {
	b, w := NewBeacon(), &waits{}
	b.Watch(w)
	b.Serve(7)
	if p := b.Read(); p.Limit != 0 || p.Wait != nil || p.Step != 7 || p.Phase != phaseServe {
		t.Errorf("between steps: %+v", p)
	}
	w.isWaiting = true
	if p := b.Read(); p.Limit != cluster.StuckAfter.Seconds() || p.Wait == nil || p.Wait.Rank != 1 {
		t.Errorf("in a step: %+v", p)
	}
	w.isWaiting = false
	b.Enter(PhaseUpdate)
	if p := b.Read(); p.Limit != cluster.StuckAfter.Seconds() {
		t.Errorf("in an update: %+v", p)
	}
}

// A beat says how long the phase may last: three times what has been measured, at least as long as the
// launcher is patient, and much longer where nothing has been measured.
func TestBeaconLearnsItsLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBeacon()
		want := func(what string, limit time.Duration) {
			t.Helper()
			if got := b.Read().Limit; got != limit.Seconds() {
				t.Errorf("%s: limit %v s, want %v", what, got, limit)
			}
		}
		want("load data", Preparing)
		b.Enter(PhaseSetUp)
		want("set up", Preparing)
		b.Begin(0, 0, time.Hour)
		want("the first batch of data", loading)
		b.Move(trace.Forward)
		want("the first step", Preparing)
		b.Finish(time.Now(), train.Step{Number: 0, Time: time.Second})
		b.Move(trace.Forward)
		want("after a quick step", cluster.StuckAfter)
		b.Finish(time.Now(), train.Step{Number: 1, Time: 40 * time.Second})
		want("data after a slow step", 2*time.Minute)
		b.Move(trace.Forward)
		want("after a slow step", 2*time.Minute)
		b.Finish(time.Now(), train.Step{Number: 2, Time: time.Second})
		b.Move(trace.Forward)
		want("the slowest counts", 2*time.Minute)
		one, other := &data.Set{}, &data.Set{}
		score := func(what string, set *data.Set, done int, limit time.Duration) {
			t.Helper()
			b.Scored(set, done, 300)
			b.Move(trace.Evaluation)
			want(what, limit)
		}
		score("the first batch of an evaluation", one, 0, Preparing)
		time.Sleep(20 * time.Second)
		score("its second batch", one, 100, time.Minute)
		b.Enter(PhaseCheckpoint)
		want("a checkpoint", Preparing)
		score("the first batch of the same set again", one, 0, time.Minute)
		score("the first batch of another one, as long", other, 0, Preparing)
		time.Sleep(time.Second)
		score("that one's second batch", other, 100, cluster.StuckAfter)
	})
}

// A worker whose cores others have is given the time that it lost, from a second after its last progress on,
// and no more than one that prepares.
func TestStarvedWorkerIsGivenTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBeacon()
		starved := 3 * time.Minute
		b.still.starving = func(int) func() time.Duration {
			before := starved
			return func() time.Duration { return starved - before }
		}
		b.Begin(0, 0, time.Hour)
		b.Finish(time.Now(), train.Step{Time: time.Second})
		b.Move(trace.Forward)
		for _, c := range []struct{ sleep, lost, limit time.Duration }{
			{0, 0, cluster.StuckAfter},
			{standing / 2, time.Second, cluster.StuckAfter},
			{standing, time.Second, cluster.StuckAfter},
			{standing, 5 * time.Second, cluster.StuckAfter + 5*time.Second},
			{standing, -2 * time.Second, cluster.StuckAfter + 3*time.Second},
			{standing, time.Hour, Preparing},
		} {
			time.Sleep(c.sleep)
			starved += c.lost
			if got := b.Read().Limit; got != c.limit.Seconds() {
				t.Errorf("after %v more, of %v: limit %v s, want %v", c.lost, starved, got, c.limit)
			}
		}
		b.Move(trace.Backward)
		if got := b.Read().Limit; got != cluster.StuckAfter.Seconds() {
			t.Errorf("after progress: limit %v s, want %v", got, cluster.StuckAfter)
		}
	})
}

// A worker that takes ten times as long for the only batch of an evaluation as it may stand still is not
// stuck, whatever it did just before: the end of a step and the start of an evaluation are no batch.
func TestSlowEvaluationIsNotStuck(t *testing.T) {
	for what, before := range map[string]func(*Beacon){
		"the last step": func(b *Beacon) { b.Finish(time.Now(), train.Step{Number: 2}) },
		"another evaluation": func(b *Beacon) {
			validation := &data.Set{}
			b.Scored(validation, 0, 24)
			time.Sleep(time.Nanosecond)
			b.Scored(validation, 24, 24)
		},
		"an exchange of scores": func(b *Beacon) { b.Enter(trace.Evaluation.String()) },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				b := NewBeacon()
				b.Begin(0, 3, 0)
				go func() {
					defer cancel()
					before(b)
					time.Sleep(time.Millisecond)
					test := &data.Set{}
					b.Scored(test, 0, 24)
					b.Move(trace.Evaluation)
					time.Sleep(10 * cluster.StuckAfter)
					b.Scored(test, 24, 24)
				}()
				read := func(int) (cluster.Progress, bool) { return b.Read(), true }
				if err := cluster.Watch(ctx, 1, 0, read, func(int, cluster.Progress) {}); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Beats come while the training goroutine stands still, and only work makes Moves grow.
func TestBeaconBeatsOnItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBeacon()
		var beats []cluster.Progress
		stop := b.Follow(func(p cluster.Progress) { beats = append(beats, p) })
		b.Move(trace.Evaluation)
		time.Sleep(time.Second)
		b.Move(trace.Evaluation)
		time.Sleep(time.Second)
		stop()
		first, last := beats[2], beats[len(beats)-1]
		if len(beats) < 20 || first.Moves == last.Moves || beats[len(beats)-5].Moves != last.Moves {
			t.Errorf("%d beats, the third %+v, the last %+v", len(beats), first, last)
		}
	})
}

// The beacon says how much of an evaluation is done and how long it took, until another phase begins.
func TestBeaconOfAnEvaluation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBeacon()
		b.Move(trace.Evaluation)
		b.Scored(nil, 0, 80)
		time.Sleep(3 * time.Second)
		b.Scored(nil, 20, 80)
		if p := b.Read(); p.Scored != 0.25 || p.Scoring != 3 {
			t.Errorf("%v of the evaluation in %v s, want 0.25 in 3 s", p.Scored, p.Scoring)
		}
		b.Move(trace.Forward)
		if p := b.Read(); p.Scored != 0 {
			t.Errorf("%v of an evaluation that is over", p.Scored)
		}
	})
}
