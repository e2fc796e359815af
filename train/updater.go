package train

import (
	"fmt"

	"lockstep/optim"
)

// Updater turns the gradients of a step into the weights of the next one: everything between "this
// gradient is final" and "this weight may be read", on this worker and on others.
//
// The loop calls it from the training goroutine. A step is Next, Begin, GatherRows and Ready during the
// backward pass, Wait, Update. Weights may still change after Update; the next forward pass calls
// Settle for each parameter before it reads it. An Updater works on the loop's memory:
// Loop.Variables and Loop.Pieces.
type Updater interface {
	Exchange
	// Next returns this worker's work for the next step; step is the number of updates so far. It
	// may block, and it may assign other shards to this worker: Loop.Pieces changes with them.
	Next(step int) (Work, error)
	// Wait blocks until the rows [lo, hi) of the step are filled and Update may be called. If there
	// are none, this worker's gradient becomes an update later, and the Updater accounts for the rows
	// of every update when it has been made. After an error the run cannot continue.
	Wait() (lo, hi int, err error)
	// Update changes the weights by the step's gradients, or starts to; Settle then returns an error
	// caused by a peer. After an error the run cannot continue.
	Update(u Update) error
	// IsQuiet reports whether no gradient is on its way to become an update. Only then does the loop
	// evaluate, save and stop.
	IsQuiet() bool
	// IsSettled reports whether all weights may be read.
	IsSettled() bool
	// Settle blocks until the weights of param may be read, or all weights if param is negative.
	// After an error the weights may be a mixture of two steps and the run cannot continue.
	Settle(param int) error
	// Optimizer returns this worker's optimizer, whose state belongs to a checkpoint. It updates
	// the whole vector of weights if shares is nil, else these ranges [lo, hi) of it, one after
	// another. It is nil if another process has the optimizer.
	Optimizer() (rule optim.Optimizer, shares [][2]int)
}

// Work is the work of one worker in one step: the shards [Lo, Hi) of batch number Step. Without
// shards there is nothing to compute before the loop has evaluated and saved what is due.
type Work struct {
	Step, Lo, Hi int
	// IsOver says that no batch is left, though the run has fewer steps than it could have.
	IsOver bool
	// IsView says that the loop only evaluates what is due, because gradients are on their way.
	IsView bool
}

// Update has the parameters of one update.
type Update struct {
	// Rate is the learning rate.
	Rate float64
	// Samples is the number of samples in the rows that Wait has returned, by which the sum of
	// gradients is divided.
	Samples int
}

// Exchange has the methods of an exchange between workers that every Updater needs.
type Exchange interface {
	// Begin starts the exchange of a step.
	Begin(step int)
	// GatherRows all-gathers the shard rows, of which this worker has filled its own. It is called once
	// per step, before the last Ready. The loop does not touch rows until the Updater's Wait has
	// returned.
	GatherRows(rows Rows)
	// Ready reports that the gradient of param is final in all pieces. It is called once per step
	// and parameter, in Variables.Order.
	Ready(param int)
	// Sum replaces counts by the elementwise sum over all workers, wrapping around; it blocks.
	Sum(counts []int64) error
}

// Rows holds one row per virtual shard, one after another: sum of losses, correct, samples, hash of
// the samples, whether the step is the last, the shard's batch statistics, and what a balanced Updater
// adds.
type Rows = []float32

// local is the Updater of a worker that exchanges nothing.
type local struct{ *whole }

// NewLocal returns the Updater of a worker that exchanges nothing, because it is alone or isolated.
func NewLocal(l *Loop) (Updater, error) {
	if l.resident != nil {
		return newResident(l)
	}
	u, err := newWhole(l, silent{})
	return local{u}, err
}

// Wait returns this worker's own rows.
func (u local) Wait() (lo, hi int, err error) {
	lo, hi = u.loop.config.Plan.Run(u.loop.config.Rank)
	return lo, hi, nil
}

// silent is the GradSync of a local Updater: its one piece already is the sum.
type silent struct{}

func (silent) Begin(int)         {}
func (silent) GatherRows(Rows)   {}
func (silent) Ready(int)         {}
func (silent) Wait() error       { return nil }
func (silent) Sum([]int64) error { return nil }

// checkExchange returns an error if isolated workers have an exchange.
func (c Config) checkExchange() error {
	if c.Isolated {
		return fmt.Errorf("train: isolated workers with an exchange, want NewLocal")
	}
	return nil
}

// fixed is the part common to all Updaters whose workers keep their shards.
type fixed struct{ loop *Loop }

// Next returns the shards that the plan assigns to this worker.
func (f fixed) Next(step int) (Work, error) {
	lo, hi := f.loop.config.Plan.Run(f.loop.config.Rank)
	return Work{Step: step, Lo: lo, Hi: hi}, nil
}

// IsQuiet returns true: every step ends with its update.
func (fixed) IsQuiet() bool { return true }

// allRows returns the range of all rows, or the error of the exchange.
func (f fixed) allRows(err error) (lo, hi int, _ error) {
	if err != nil {
		return 0, 0, fmt.Errorf("exchange of gradients: %w", err)
	}
	return 0, f.loop.config.Plan.Shards(), nil
}
