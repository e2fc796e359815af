package worker

import (
	"context"
	"time"

	"lockstep/app/job"
)

// cancelled ends what is in progress between workers when ctx is cancelled: a worker that waits for a peer
// fails. Workers that finish their step go on, and before the first step there is nothing to save.
func (w *Worker) cancelled(ctx context.Context, ended <-chan struct{}) {
	halt := w.halt.Load()
	switch {
	case w.Mesh == nil:
	case !w.IsTraining.Load() || !job.FinishesStep(ctx, w.Config):
		w.Mesh.Shutdown()
	case halt != nil:
		(*halt)()
	case w.Rank > 0: // it has nothing to save, and loses its links when rank 0 leaves
	case !w.Config.StopsTogether():
		w.cutWhenKept(ended)
	}
}

// cutWhenKept cuts the links once a peer keeps rank 0 waiting at the end of a step or in an evaluation, so
// that it depends on no other to save what it has. The last step is lost then.
func (w *Worker) cutWhenKept(ended <-chan struct{}) {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	var before uint64
	for since := time.Now(); ; {
		select {
		case <-ended:
			return
		case now := <-look.C:
			moves, isKept, limit := w.Beacon.Kept()
			if !isKept || moves != before {
				before, since = moves, now
			}
			if now.Sub(since) > limit {
				w.Mesh.Shutdown()
				return
			}
		}
	}
}
