package job

import (
	"context"
	"fmt"
	"time"

	"lockstep/app/rundir"
	"lockstep/app/setting"
	"lockstep/internal/spelling"
	"lockstep/trace"
)

// finishesStep reports whether a run of c that ctx has cancelled first makes the step at hand, to save it.
// Asynchronous workers go on until what is lent is applied.
func finishesStep(ctx context.Context, c setting.Config) bool {
	return (c.KeepsCheckpoints() || c.IsAsync()) && isInterrupt(context.Cause(ctx))
}

// cancelled ends what is in progress between workers when ctx is cancelled: a worker that waits for a peer
// fails. Workers that finish their step go on, and before the first step there is nothing to save.
func (w *worker) cancelled(ctx context.Context, ended <-chan struct{}) {
	halt := w.halt.Load()
	switch {
	case w.mesh == nil:
	case !w.isTraining.Load() || !finishesStep(ctx, w.config):
		w.mesh.Shutdown()
	case halt != nil:
		(*halt)()
	case w.rank > 0: // it has nothing to save, and loses its links when rank 0 leaves
	case !w.config.StopsTogether():
		w.cutWhenKept(ended)
	}
}

// sayWaits says what a run of c in dir that ctx has cancelled goes on for, if that takes long.
func (o Options) sayWaits(ctx context.Context, c setting.Config, dir rundir.Directory) {
	if finishesStep(ctx, c) && c.Averages() && c.Workers > 1 && HasSteps(string(dir)) {
		o.warn(fmt.Sprintf("the run stops after the next average, in at most %s",
			spelling.Count(c.AverageEvery+c.OuterOverlap, "step")))
	}
}

// cutWhenKept cuts the links once a peer keeps rank 0 waiting at the end of a step or in an evaluation, so
// that it depends on no other to save what it has. The last step is lost then.
func (w *worker) cutWhenKept(ended <-chan struct{}) {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	var before uint64
	for since := time.Now(); ; {
		select {
		case <-ended:
			return
		case now := <-look.C:
			moves, isKept, limit := w.beacon.kept()
			if !isKept || moves != before {
				before, since = moves, now
			}
			if now.Sub(since) > limit {
				w.mesh.Shutdown()
				return
			}
		}
	}
}

// kept reports whether the worker has nothing to do but to wait for a peer, how much has moved so far, and
// how long a worker that is to stop waits while nothing moves.
func (b *beacon) kept() (moves uint64, isKept bool, limit time.Duration) {
	b.mu.Lock()
	phase, step := b.at.Phase, b.step
	b.mu.Unlock()
	limit = max(time.Second, step/10)
	l := b.links.Load()
	if l == nil || phase != trace.SyncExposed.String() && phase != trace.Evaluation.String() {
		return 0, false, limit
	}
	s := (*l).Standing()
	return s.Moves, s.Wait != nil, limit
}

// whenCancelled arranges for f to be called once ctx ends. The function it returns undoes that,
// or waits for f.
func whenCancelled(ctx context.Context, f func()) (undo func()) {
	called := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(called)
		f()
	})
	return func() {
		if !stop() {
			<-called
		}
	}
}
