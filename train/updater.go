package train

import (
	"fmt"

	"lockstep/optim"
)

// Updater turns the gradients of a step into the weights of the next one: everything between "this
// gradient is final" and "this weight may be read", on this worker and on others.
//
// The loop calls it from the training goroutine. A step is Next, Begin, Share and Ready during the
// backward pass, Wait, Update. Weights may still be changing after Update; the loop then calls
// Settle where the next forward pass reads them. An Updater works on the loop's memory:
// Loop.Variables and Loop.Pieces.
type Updater interface {
	Exchange
	// Next returns what this worker computes next; step is the number after its last one. It may
	// block, and it may change which shards are this worker's: Loop.Pieces changes with them.
	Next(step int) (Work, error)
	// Wait blocks until the rows [lo, hi) of the step are filled and Update may be called. After an
	// error the run cannot go on.
	Wait() (lo, hi int, err error)
	// Update changes the weights by the step's gradients, or begins to. An error that has a peer as
	// its cause comes from Settle.
	Update(u Update) error
	// IsSettled reports whether all weights may be read.
	IsSettled() bool
	// Settle blocks until the weights of a parameter may be read, or all weights if param is
	// negative. After an error weights of two steps may be mixed and the run cannot go on.
	Settle(param int) error
	// Optimizer returns the update rule of this worker, whose state belongs to a checkpoint: over the
	// whole vector of weights if shares is nil, else over these ranges [lo, hi) of it, one after
	// another. It is nil where another process has it.
	Optimizer() (rule optim.Optimizer, shares [][2]int)
}

// Work is one step of one worker: the shards [Lo, Hi) of batch number Step.
type Work struct{ Step, Lo, Hi int }

// Update says by how much the weights change.
type Update struct {
	// Rate is the learning rate.
	Rate float64
	// Samples is the size of the batch, by which the sum of gradients is divided.
	Samples int
}

// Exchange is what every Updater wants of the workers' connection.
type Exchange interface {
	// Begin starts the exchange of a step.
	Begin(step int)
	// Share hands over the shard rows, of which this worker's own are filled. Called once per step,
	// before the last Ready. The loop does not touch rows until the Updater's Wait has returned.
	Share(rows Rows)
	// Ready says that this parameter's gradient is final in all pieces. Called once per step and
	// parameter, in Variables.Order.
	Ready(param int)
	// Sum replaces counts by the elementwise sum over all workers, wrapping around; it blocks.
	Sum(counts []int64) error
}

// Rows holds one row per virtual shard, one after another: loss sum, correct, samples, hash of
// the samples, whether the step is the last, then the shard's batch statistics.
type Rows = []float32

// local is the Updater of a worker that exchanges nothing.
type local struct{ *whole }

// NewLocal returns the Updater of a worker that exchanges nothing, because it is the only one or
// isolated.
func NewLocal(l *Loop) (Updater, error) {
	u, err := newWhole(l, silent{})
	return local{u}, err
}

// Wait returns this worker's own rows.
func (u local) Wait() (lo, hi int, err error) {
	lo, hi = u.loop.config.Plan.Run(u.loop.config.Rank)
	return lo, hi, nil
}

// silent is the GradSync of a local Updater: one piece, which is the sum already.
type silent struct{}

func (silent) Begin(int)         {}
func (silent) Share(Rows)        {}
func (silent) Ready(int)         {}
func (silent) Wait() error       { return nil }
func (silent) Sum([]int64) error { return nil }

// checkExchange refuses an exchange between workers that have none.
func (c Config) checkExchange() error {
	if c.Isolated {
		return fmt.Errorf("train: isolated workers with an exchange, want NewLocal")
	}
	return nil
}

// fixed is what all Updaters have in common whose workers keep their shards.
type fixed struct{ loop *Loop }

// Next returns the run of shards that the plan gives this worker.
func (f fixed) Next(step int) (Work, error) {
	lo, hi := f.loop.config.Plan.Run(f.loop.config.Rank)
	return Work{Step: step, Lo: lo, Hi: hi}, nil
}

// allRows returns the range of all rows, or what kept them from being filled.
func (f fixed) allRows(err error) (lo, hi int, _ error) {
	if err != nil {
		return 0, 0, fmt.Errorf("exchange of gradients: %w", err)
	}
	return 0, f.loop.config.Plan.Shards(), nil
}
