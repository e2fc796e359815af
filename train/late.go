package train

import (
	"fmt"

	"lockstep/optim"
	"lockstep/trace"
)

// LateSync gives every worker the global gradient bucket by bucket, also during the next forward
// pass.
type LateSync interface {
	Exchange
	// WaitRows blocks until all rows are filled. Gradients may still be in transit.
	WaitRows() error
	// WaitParam blocks until the global gradient of param is in Loop.Pieces()[0]. It returns the
	// range [lo, hi) that arrived with it, which consists of whole parameters, or lo = hi if that
	// range was returned before.
	WaitParam(param int) (lo, hi int, err error)
	// WaitNext blocks until any further range is there; lo = hi if all were returned.
	WaitNext() (lo, hi int, err error)
}

// late is the Updater of workers that update each bucket of weights when its sum arrives, at the
// latest where the next forward pass reads the weights.
type late struct {
	LateSync
	fixed
	optimizer optim.Optimizer
	isAway    bool // an update is in progress
	by        Update
	err       error // the first error of this update
}

// NewLate returns an Updater whose communication may overlap with the next forward pass. It
// supports every optimizer but not clipping, which needs all gradients at once. The weights have
// the same bits as with NewWhole.
func NewLate(l *Loop, s LateSync) (Updater, error) {
	c := l.config
	if err := c.checkExchange(); err != nil {
		return nil, err
	}
	if c.Clip > 0 {
		return nil, fmt.Errorf("train: late update with clipping at %v: want no clipping",
			c.Clip)
	}
	optimizer, err := optim.New(c.Optimizer, c.CPU, l.variables.Weights, l.Parameters())
	if err != nil {
		return nil, err
	}
	return &late{LateSync: s, fixed: fixed{l}, optimizer: optimizer}, nil
}

func (u *late) Wait() (lo, hi int, err error) { return u.allRows(u.WaitRows()) }

// Update leaves the update to Settle.
func (u *late) Update(by Update) error {
	u.isAway, u.by, u.err = true, by, nil
	return nil
}

func (u *late) IsSettled() bool { return !u.isAway }

func (u *late) Settle(param int) error {
	if u.err != nil {
		return u.err
	}
	first := u.loop.variables.Order[0]
	u.take(u.WaitParam(first)) // the first range begins the optimizer's step
	if param >= 0 {
		u.take(u.WaitParam(param))
		return u.err
	}
	for u.take(u.WaitNext()) {
	}
	if u.err == nil {
		u.isAway = false
		u.loop.lap(trace.Optimizer, "update")
	}
	return u.err
}

// take updates the weights [lo, hi), whose gradient has arrived, and reports whether there are any.
func (u *late) take(lo, hi int, err error) bool {
	clock := u.loop.clock
	clock.Lap(trace.SyncExposed)
	if u.err == nil && err != nil {
		u.err = fmt.Errorf("exchange of gradients: %w", err)
	}
	if u.err != nil || lo == hi {
		return false
	}
	u.optimizer.Step(lo, hi, u.loop.gradients[0][lo:hi], u.by.Rate, 1/float32(u.by.Samples))
	clock.Lap(trace.Optimizer)
	return true
}

func (u *late) Optimizer() (optim.Optimizer, [][2]int) { return u.optimizer, nil }
