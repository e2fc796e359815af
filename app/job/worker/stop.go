package worker

import (
	"context"

	"lockstep/app/job"
)

// cancelled ends what is in progress between workers when ctx is cancelled: a worker that waits for a peer
// fails. Workers that finish their step go on, and before the first step there is nothing to save.
func (w *Worker) cancelled(ctx context.Context) {
	halt := w.halt.Load()
	switch {
	case w.Mesh == nil:
	case !w.IsTraining.Load() || !job.FinishesStep(ctx, w.Config):
		w.Mesh.Shutdown()
	case halt != nil:
		(*halt)()
	}
}
