package train

import (
	"fmt"

	"lockstep/internal/trace"
	"lockstep/optim"
)

// sharded is the update of a worker that has a share of the weights: it keeps the optimizer's state of its
// share alone, and gets the rest of the weights from the others.
type sharded struct {
	optimizer optim.Optimizer // of own
	shares    [][2]int
	own       []float32 // the weights of the shares, one after another
	complete  func(weights []float32) error
}

// Shard makes this worker update the weights in shares only, and complete them after each step. Shares are
// ranges [lo, hi) of the flat vector, in order; its GradSync leaves the sum of the gradients there. complete
// fills the vector on all workers. The update must go by elements ("sgd" or "adamw", without clipping): the
// weights have the bits that they have without. It is called before Resume and Run, once, and takes the
// place of the optimizer's state, which is zero again.
func (l *Loop) Shard(shares [][2]int, complete func(weights []float32) error) error {
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
	l.optimizer, l.sharded = optimizer, &sharded{optimizer, shares, own, complete}
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

// completeWeights gets the weights of the others' shares, if the workers have shares.
func (l *Loop) completeWeights() error {
	if l.sharded == nil {
		return nil
	}
	l.lap(trace.Optimizer, "optimizer")
	err := l.sharded.complete(l.variables.Weights)
	l.lap(trace.SyncExposed, "weights")
	return err
}
