package train

import "lockstep/optim"

// GradSync gives every worker the global gradient.
type GradSync interface {
	Exchange
	// Wait blocks until all rows are filled and Loop.Pieces()[0] holds the sum of the gradients
	// over all shards.
	Wait() error
}

// whole is the Updater of workers that each update all weights.
type whole struct {
	GradSync
	fixed
	optimizer optim.Optimizer
	clip      *optim.Clip // nil if there is no clipping
}

// NewWhole returns an Updater whose workers each update all weights by the global gradient. It
// supports every optimizer, with or without clipping.
func NewWhole(l *Loop, s GradSync) (Updater, error) {
	if err := l.config.checkExchange(); err != nil {
		return nil, err
	}
	return newWhole(l, s)
}

func newWhole(l *Loop, s GradSync) (*whole, error) {
	c := l.config
	optimizer, err := optim.New(c.Optimizer, c.CPU, l.variables.Weights, l.Parameters())
	if err != nil {
		return nil, err
	}
	u := &whole{GradSync: s, fixed: fixed{l}, optimizer: optimizer}
	if c.Clip > 0 {
		u.clip = optim.NewClip(c.Clip, c.CPU, len(l.variables.Weights))
	}
	return u, nil
}

func (u *whole) Wait() (lo, hi int, err error) { return u.allRows(u.GradSync.Wait()) }

func (u *whole) Update(by Update) error {
	sum, scale := u.loop.gradients[0], 1/float32(by.Samples)
	if u.clip != nil {
		scale = u.clip.Scale(sum, scale)
	}
	u.optimizer.Step(0, len(u.loop.variables.Weights), sum, by.Rate, scale)
	return nil
}

func (u *whole) IsSettled() bool { return true }

func (u *whole) Settle(int) error { return nil }

func (u *whole) Optimizer() (optim.Optimizer, [][2]int) { return u.optimizer, nil }
