package train

import (
	"fmt"

	"lockstep/optim"
	"lockstep/trace"
)

// ShardSync gives every worker the global gradient of its share of the weights and distributes the
// updated shares: reduce-scatter, local update, all-gather.
type ShardSync interface {
	Exchange
	// WaitShares blocks until all rows are filled and Loop.Pieces()[0] holds the sum of the
	// gradients in this worker's shares.
	WaitShares() error
	// Shares returns this worker's ranges [lo, hi) of the flat vector, in order. Some may be empty.
	Shares() [][2]int
	// StartAllGather starts to fill v on all workers from each worker's shares.
	StartAllGather(v []float32)
	// WaitAllGather blocks until parameter param of v is gathered, or all of v if param is
	// negative.
	WaitAllGather(param int) error
}

// sharded is the Updater of workers that each keep the optimizer's state for a share of the
// weights.
type sharded struct {
	ShardSync
	fixed
	optimizer optim.Optimizer // of own
	shares    [][2]int
	own       []float32 // the weights of the shares, one after another
	isAway    bool      // the all-gather of weights is in progress
}

// NewSharded returns an Updater whose workers each update their share of the weights and gather the
// others during the next forward pass. The update must be elementwise ("sgd" or "adamw", without
// clipping). The weights have the same bits as with NewWhole.
func NewSharded(l *Loop, s ShardSync) (Updater, error) {
	c := l.config
	if err := c.checkExchange(); err != nil {
		return nil, err
	}
	if !optim.IsElementwise(c.Optimizer.Name) || c.Clip > 0 {
		return nil, fmt.Errorf("train: sharded update with optimizer %q, clipping at %v: "+
			"want sgd or adamw, without clipping", c.Optimizer.Name, c.Clip)
	}
	u := &sharded{ShardSync: s, fixed: fixed{l}, shares: s.Shares()}
	params, total := optim.Share(l.Parameters(), u.shares)
	u.own = make([]float32, total)
	var err error
	u.optimizer, err = optim.New(c.Optimizer, c.CPU, u.own, params)
	return u, err
}

func (u *sharded) Wait() (lo, hi int, err error) { return u.allRows(u.WaitShares()) }

// Update changes the weights of the shares and starts their all-gather.
func (u *sharded) Update(by Update) error {
	weights, sum := u.loop.variables.Weights, u.loop.gradients[0]
	at := 0
	for _, share := range u.shares {
		lo, hi := share[0], share[1]
		if lo == hi {
			continue // the range at 0 begins the optimizer's step
		}
		own := u.own[at:][:hi-lo]
		copy(own, weights[lo:hi])
		u.optimizer.Step(at, at+len(own), sum[lo:hi], by.Rate, 1/float32(by.Samples))
		copy(weights[lo:hi], own)
		at += len(own)
	}
	u.loop.lap(trace.Optimizer, "optimizer")
	u.StartAllGather(weights)
	u.isAway = true
	u.loop.lap(trace.SyncExposed, "weights")
	return nil
}

func (u *sharded) IsSettled() bool { return !u.isAway }

func (u *sharded) Settle(param int) error {
	err := u.WaitAllGather(param)
	if err != nil {
		return fmt.Errorf("exchange of weights: %w", err)
	}
	if param < 0 {
		u.isAway = false
		u.loop.lap(trace.SyncExposed, "weights")
	}
	return nil
}

func (u *sharded) Optimizer() (optim.Optimizer, [][2]int) { return u.optimizer, u.shares }
