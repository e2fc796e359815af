package train

import (
	"fmt"

	"lockstep/optim"
	"lockstep/trace"
)

// ShardSync gives every worker the global gradient of its share of the weights, and brings the
// updated shares together: reduce-scatter, local update, all-gather.
type ShardSync interface {
	Exchange
	// WaitShares blocks until all rows are filled and Loop.Pieces()[0] holds the sum of the gradients
	// in this worker's shares.
	WaitShares() error
	// Shares returns this worker's ranges [lo, hi) of the flat vector, in order. Some may be empty.
	Shares() [][2]int
	// Spread begins to fill v on all workers; each brings its shares.
	Spread(v []float32)
	// Arrived blocks until a parameter of v is whole, or all of v if param is negative.
	Arrived(param int) error
}

// sharded is the Updater of workers that each keep the optimizer's state of a share of the weights.
type sharded struct {
	ShardSync
	fixed
	optimizer optim.Optimizer // of own
	shares    [][2]int
	own       []float32 // the weights of the shares, one after another
	isAway    bool      // the others' weights are on their way
}

// NewSharded returns the Updater whose workers each update their share of the weights and get the
// rest from the others while the next forward pass goes on. The update must go by elements ("sgd" or
// "adamw", without clipping); the weights have the bits that NewWhole gives them.
func NewSharded(l *Loop, s ShardSync) (Updater, error) {
	c := l.config
	if err := c.checkExchange(); err != nil {
		return nil, err
	}
	if !optim.IsElementwise(c.Optimizer.Name) || c.Clip > 0 {
		return nil, fmt.Errorf("train: shares of weights for optimizer %q, clipping at %v: "+
			"want sgd or adamw, without clipping", c.Optimizer.Name, c.Clip)
	}
	u := &sharded{ShardSync: s, fixed: fixed{l}, shares: s.Shares()}
	params, total := l.shareParameters(u.shares)
	u.own = make([]float32, total)
	var err error
	u.optimizer, err = optim.New(c.Optimizer, c.CPU, u.own, params)
	return u, err
}

// shareParameters tells an optimizer what lies where in the shares, one after another, and returns
// their length. Each parameter stands once with no elements, so that a group that matches only other
// workers' parameters is no mistake.
func (l *Loop) shareParameters(shares [][2]int) (params []optim.Param, total int) {
	for _, p := range l.Parameters() {
		p.Offset, p.Len, p.Rows, p.Cols = 0, 0, 0, 0
		params = append(params, p)
	}
	for _, share := range shares {
		for i, s := range l.variables.Segments {
			lo, hi := max(share[0], s.Offset), min(share[1], s.Offset+s.Len)
			if lo < hi {
				p := params[i]
				p.Offset, p.Len, p.Rows, p.Cols = total+lo-share[0], hi-lo, 1, hi-lo
				params = append(params, p)
			}
		}
		total += share[1] - share[0]
	}
	return params, total
}

func (u *sharded) Wait() (lo, hi int, err error) { return u.allRows(u.WaitShares()) }

// Update changes the weights of the shares and begins to spread them.
func (u *sharded) Update(by Update) error {
	weights, sum := u.loop.variables.Weights, u.loop.gradients[0]
	at := 0
	for _, share := range u.shares {
		lo, hi := share[0], share[1]
		if lo == hi {
			continue // the range at 0 begins a step
		}
		own := u.own[at:][:hi-lo]
		copy(own, weights[lo:hi])
		u.optimizer.Step(at, at+len(own), sum[lo:hi], by.Rate, 1/float32(by.Samples))
		copy(weights[lo:hi], own)
		at += len(own)
	}
	u.loop.lap(trace.Optimizer, "optimizer")
	u.Spread(weights)
	u.isAway = true
	u.loop.lap(trace.SyncExposed, "weights")
	return nil
}

func (u *sharded) IsSettled() bool { return !u.isAway }

func (u *sharded) Settle(param int) error {
	err := u.Arrived(param)
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
