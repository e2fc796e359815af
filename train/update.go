package train

import (
	"lockstep/graph"
	"lockstep/optim"
	"lockstep/trace"
)

// followers are copies that follow the weights and the running statistics.
type followers struct {
	lookahead *optim.Lookahead // slow weights, or nil
	ema       *optim.EMA       // averages, or nil
}

// newFollowers makes the followers of the configuration.
func (l *Loop) newFollowers() followers {
	c, v := l.config, l.variables
	var f followers
	if c.Lookahead.Every > 0 {
		f.lookahead = optim.NewLookahead(c.Lookahead, c.CPU, c.steps(), v.Weights, v.State)
	}
	if c.EMA > 0 {
		f.ema = optim.NewEMA(c.EMA, c.CPU, v.Weights, v.State)
	}
	return f
}

// restart sets all followers to the variables, which may have changed since New.
func (f *followers) restart() {
	if f.lookahead != nil {
		f.lookahead.Restart()
	}
	if f.ema != nil {
		f.ema.Restart()
	}
}

// isDue reports whether a follower reads the weights after step n, counted from 1.
func (f *followers) isDue(n int) bool {
	return f.ema != nil || f.lookahead != nil && f.lookahead.IsDue(n)
}

// state returns the state between steps, slow copies and averages: of the weights, and of the
// running statistics.
func (f *followers) state() (weights, statistics []optim.Vector) {
	add := func(v []optim.Vector) {
		weights, statistics = append(weights, v[0]), append(statistics, v[1])
	}
	if f.lookahead != nil {
		add(f.lookahead.State())
	}
	if f.ema != nil {
		add(f.ema.State())
	}
	return weights, statistics
}

// bytes returns the size of the state.
func (f *followers) bytes() int64 {
	n := int64(0)
	weights, statistics := f.state()
	for _, v := range append(weights, statistics...) {
		n += 4 * int64(len(v.Data))
	}
	return n
}

// update changes the weights by the gradients of the step and updates the followers.
func (l *Loop) update(by Update) error {
	if l.resident == nil {
		if err := l.settle(); err != nil { // weights of the step before, if this worker had no samples
			return err
		}
	}
	if err := l.updater.Update(by); err != nil {
		return l.failed("update", err)
	}
	if l.follow.isDue(l.step + 1) {
		if err := l.settleWeights(); err != nil {
			return err
		}
	}
	if l.follow.lookahead != nil && l.follow.lookahead.IsDue(l.step+1) {
		l.follow.lookahead.After(l.step + 1)
		l.changed()
	}
	if l.follow.ema != nil {
		l.follow.ema.Update()
	}
	return nil
}

// settle blocks until all weights are those of the last update.
func (l *Loop) settle() error {
	if l.updater.IsSettled() {
		return nil
	}
	l.lap(trace.Other, "")
	if err := l.updater.Settle(-1); err != nil {
		l.cutOff = true
		return l.broken(err)
	}
	if l.resident == nil {
		l.torn = false
	}
	return nil
}

// isHalfUpdated reports whether some weights are those of the last update and others may not be. Those in an
// executor's memory are updated together, even while the host has older ones.
func (l *Loop) isHalfUpdated() bool { return l.resident == nil && !l.updater.IsSettled() }

// settleWeights blocks until the weights are those of the last update, whatever the optimizer's state is.
func (l *Loop) settleWeights() error {
	if l.resident == nil {
		return l.settle()
	}
	l.resident.fetchWeights()
	return l.executorErr()
}

// forward runs the forward pass, which waits for each weight before it reads it.
func (l *Loop) forward(p *graph.Program) error {
	if l.updater.IsSettled() {
		p.Forward()
		l.lap(trace.Forward, "forward")
		return nil
	}
	p.ForwardAs(l.onNeed)
	l.lap(trace.Forward, "forward")
	return l.settle()
}

// need waits for a parameter that the forward pass is about to read. settle returns its error.
func (l *Loop) need(param int) {
	l.clock.Lap(trace.Forward)
	_ = l.updater.Settle(param)
	l.clock.Lap(trace.SyncExposed)
}

// show swaps what is evaluated, and what the run ends with, with the variables, or swaps back: the
// averages, or else the slow weights, if there are any.
func (l *Loop) show(isWanted bool) error {
	if l.swapped == isWanted || !l.follow.hasOther() {
		return nil
	}
	if err := l.settleWeights(); err != nil {
		return err
	}
	if l.follow.ema != nil {
		l.follow.ema.Swap()
	} else {
		l.follow.lookahead.Swap()
	}
	l.swapped = isWanted
	l.changed()
	return nil
}

// hasOther reports whether something other than the live weights is evaluated.
func (f *followers) hasOther() bool { return f.ema != nil || f.lookahead != nil }
