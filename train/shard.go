package train

import (
	"fmt"

	"lockstep/graph"
	"lockstep/optim"
	"lockstep/trace"
)

// sharded is the update of a worker that has a share of the weights: it keeps the optimizer's state of its
// share alone, and gets the rest of the weights from the others.
type sharded struct {
	optimizer optim.Optimizer // of own
	shares    [][2]int
	own       []float32 // the weights of the shares, one after another
	weights   Spreader
	isAway    bool // the others' weights are on their way
}

// Spreader brings a vector of which each worker has filled its shares to all of them.
type Spreader interface {
	// Spread begins, after each update.
	Spread(v []float32)
	// Arrived returns when a parameter of v is whole, or all of v if param is negative.
	Arrived(param int) error
}

// Shard makes this worker update the weights in shares only, and get the others' after each step. Shares are
// ranges [lo, hi) of the flat vector, in order; its GradSync leaves the sum of the gradients there. weights
// come while the next forward pass goes on, which waits for them layer by layer. The update must go by
// elements ("sgd" or "adamw", without clipping): the weights have the bits that they have without. It is
// called before Resume and Run, once, and takes the place of the optimizer's state, which is zero again.
func (l *Loop) Shard(shares [][2]int, weights Spreader) error {
	c := l.config
	if !optim.IsElementwise(c.Optimizer.Name) || c.Clip > 0 {
		return fmt.Errorf("train: shares of weights for optimizer %q, clipping at %v: want sgd or adamw, "+
			"without", c.Optimizer.Name, c.Clip)
	}
	total, params := 0, []optim.Param(nil)
	for _, p := range parameters(l.variables) {
		p.Offset, p.Len, p.Rows, p.Cols = total, 0, 0, 0 // the shares may have nothing of it
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
	own := make([]float32, total)
	optimizer, err := optim.New(c.Optimizer, c.CPU, own, params)
	if err != nil {
		return err
	}
	l.optimizer, l.sharded = optimizer, &sharded{optimizer: optimizer, shares: shares, own: own,
		weights: weights}
	l.moment = l.newMoment()
	return nil
}

// update changes the weights of all shares by their gradients, on this worker.
func (s *sharded) update(weights, gradient []float32, rate float64, scale float32) {
	at := 0
	for _, share := range s.shares {
		lo, hi := share[0], share[1]
		if lo == hi {
			continue // the range at 0 begins a step
		}
		own := s.own[at:][:hi-lo]
		copy(own, weights[lo:hi])
		s.optimizer.Step(at, at+len(own), gradient[lo:hi], rate, scale)
		copy(weights[lo:hi], own)
		at += len(own)
	}
}

// isAway reports whether weights, or sums that change them, are on their way.
func (l *Loop) isAway() bool {
	return l.sharded != nil && l.sharded.isAway || l.late != nil && l.late.isAway
}

// spread begins to get the weights of the others' shares. Until settle they are torn.
func (l *Loop) spread() {
	l.lap(trace.Optimizer, "optimizer")
	l.sharded.weights.Spread(l.variables.Weights)
	l.sharded.isAway = true
	l.lap(trace.SyncExposed, "weights")
}

// arrived waits for a parameter that the forward pass is about to read. An error shows in settle.
func (l *Loop) arrived(param int) {
	l.clock.Lap(trace.Forward)
	if l.late != nil {
		l.updateBy(param)
		return
	}
	_ = l.sharded.weights.Arrived(param)
	l.clock.Lap(trace.SyncExposed)
}

// settle waits for all weights that are on their way, or makes what is left of the update.
func (l *Loop) settle() error {
	if !l.isAway() {
		return nil
	}
	l.lap(trace.Other, "")
	if l.late != nil {
		return l.endUpdate()
	}
	if err := l.sharded.weights.Arrived(-1); err != nil {
		l.cutOff = true
		return l.failed("exchange of weights", err)
	}
	l.sharded.isAway, l.torn = false, false
	l.lap(trace.SyncExposed, "weights")
	return nil
}

// forward runs the forward pass, which waits for weights on their way where it reads them.
func (l *Loop) forward(p *graph.Program) error {
	if !l.isAway() {
		p.Forward()
		l.lap(trace.Forward, "forward")
		return nil
	}
	p.ForwardAs(l.onNeed)
	l.lap(trace.Forward, "forward")
	return l.settle()
}
