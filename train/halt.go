package train

import (
	"context"
	"fmt"
)

// Note: dropped steps
//
// A step changes weights, state and counters at its end only. A worker that exchanges gradients with nobody
// can therefore drop the step at hand when it is to stop, and save what the step before has left: its passes
// end between two ops. The step is computed again when the run is resumed.

// halt ends the passes of a worker.
type halt struct {
	ctx context.Context // nil: they do not end early
}

// isAsked reports whether the pass is to end.
func (h *halt) isAsked() bool { return h.ctx != nil && h.ctx.Err() != nil }

// dropsSteps reports whether the worker drops the step at hand when it is to stop. A pass on an executor of
// its own is short, and may be recorded.
func (c Config) dropsSteps() bool {
	return (c.Updater == nil || c.IsLocal) && c.Executor == nil && !c.StopsTogether
}

// halted returns the error of a worker whose pass may have ended early.
func (l *Loop) halted() error {
	if h := l.programs.halt; h.isAsked() {
		return fmt.Errorf("train: rank %d stopped in step %d: %w", l.config.Rank, l.step+1, h.ctx.Err())
	}
	return nil
}
