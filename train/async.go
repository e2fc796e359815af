package train

import (
	"fmt"

	"lockstep/trace"
)

// AsyncSync lets a worker compute whole batches from weights that other workers update meanwhile, on
// servers, which have the optimizer.
type AsyncSync interface {
	Exchange
	// Load gives the servers the weights before the first step; steps are done.
	Load(steps int) error
	// Take asks for the next batch and blocks until it is there, or until no gradient is on its
	// way: then batch is negative, and isOver says whether the run ends here. Before it returns, it
	// calls count with the rows of every update that was made, in order.
	Take(count func(rows Rows)) (batch int, isOver bool, err error)
	// Commit says that the gradient of the batch was pushed, how it updates the weights, and
	// whether this worker's clock ends the run.
	Commit(rate float64, samples int, isLast bool)
	// WaitWeights blocks until the weights that belong to the last Take are in Loop.Variables: those
	// of param, or all of them if param is negative.
	WaitWeights(param int) error
}

// async is the Updater of workers that do not wait for each other.
type async struct {
	AsyncSync
	remote
	isQuiet bool
	count   func(rows Rows) // loop.count, bound once
}

// NewAsync returns an Updater whose workers compute whole batches, without waiting for each other,
// and leave the update to servers, which may make other updates before. Config.WholeBatches must be
// set. Clipping, averages and lookahead are refused, because no worker has the weights of every
// update.
func NewAsync(l *Loop, s AsyncSync) (Updater, error) {
	c := l.config
	switch {
	case !c.WholeBatches:
		return nil, fmt.Errorf("train: asynchronous updates by parts of a batch, want whole batches")
	case c.Isolated:
		return nil, c.checkExchange()
	case c.Clip > 0 || c.EMA > 0 || c.Lookahead.Every > 0:
		return nil, fmt.Errorf("train: asynchronous updates with clipping at %v, averages of decay %v, "+
			"lookahead every %d steps: want none of them", c.Clip, c.EMA, c.Lookahead.Every)
	}
	return &async{AsyncSync: s, remote: remote{loop: l, servers: s}, isQuiet: true, count: l.count}, nil
}

// Next returns the batch that was lent to this worker, or no work at a stop.
func (u *async) Next(step int) (Work, error) {
	if err := u.load(step); err != nil {
		return Work{}, err
	}
	batch, isOver, err := u.Take(u.count)
	u.isAway = true
	if err != nil {
		return Work{}, fmt.Errorf("wait for a batch: %w", err)
	}
	u.loop.lap(trace.SyncExposed, "wait")
	if u.isQuiet = batch < 0; u.isQuiet {
		return Work{IsOver: isOver}, nil
	}
	return Work{Step: batch, Hi: u.loop.config.Plan.Shards()}, nil
}

// Wait returns no rows: they count when the update is made.
func (u *async) Wait() (lo, hi int, err error) { return 0, 0, nil }

// Update passes the gradient on; the servers update the weights.
func (u *async) Update(by Update) error {
	u.Commit(by.Rate, by.Samples, u.loop.rows[rowIsLast] != 0)
	return nil
}

func (u *async) IsQuiet() bool { return u.isQuiet }
