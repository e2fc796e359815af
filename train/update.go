package train

import "lockstep/optim"

// followers are what moves along with the weights and the running statistics.
type followers struct {
	clip      *optim.Clip      // nil: none, as below
	lookahead *optim.Lookahead // slow weights
	ema       *optim.EMA       // averages
}

// newFollowers makes those that the configuration asks for.
func (l *Loop) newFollowers() followers {
	c, v := l.config, l.variables
	var f followers
	if c.Clip > 0 {
		f.clip = optim.NewClip(c.Clip, c.CPU, len(v.Weights))
	}
	if c.Lookahead.Every > 0 {
		f.lookahead = optim.NewLookahead(c.Lookahead, c.CPU, c.steps(), v.Weights, v.State)
	}
	if c.EMA > 0 {
		f.ema = optim.NewEMA(c.EMA, c.CPU, v.Weights, v.State)
	}
	return f
}

// restart makes all followers start at the variables, which may have been changed since New.
func (f *followers) restart() {
	if f.lookahead != nil {
		f.lookahead.Restart()
	}
	if f.ema != nil {
		f.ema.Restart()
	}
}

// state returns what is kept between steps, the slow copies and the averages: those of the weights, and
// those of the running statistics.
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

// update changes the weights by the global gradient in piece 0, and lets the followers follow.
func (l *Loop) update(rate float64, samples int) error {
	if err := l.settle(); err != nil { // weights of the step before, if this worker had no samples
		return err
	}
	scale := 1 / float32(samples)
	if l.follow.clip != nil {
		scale = l.follow.clip.Scale(l.gradients[0], scale)
	}
	switch {
	case l.late != nil:
		l.beginUpdate(rate, scale)
	case l.sharded != nil:
		l.sharded.update(l.variables.Weights, l.gradients[0], rate, scale)
		l.spread()
	default:
		l.optimizer.Step(0, len(l.variables.Weights), l.gradients[0], rate, scale)
	}
	if l.follow.lookahead != nil || l.follow.ema != nil {
		if err := l.settle(); err != nil {
			return err
		}
	}
	if l.follow.lookahead != nil {
		l.follow.lookahead.After(l.step + 1)
	}
	if l.follow.ema != nil {
		l.follow.ema.Update()
	}
	return nil
}

// show puts what is evaluated, and what the run ends with, in the place of the variables, or back: the
// averages, else the slow weights, if there are any.
func (l *Loop) show(isWanted bool) {
	if l.swapped == isWanted || !l.follow.hasOther() {
		return
	}
	if l.follow.ema != nil {
		l.follow.ema.Swap()
	} else {
		l.follow.lookahead.Swap()
	}
	l.swapped = isWanted
}

// hasOther reports whether something else than the live weights is evaluated.
func (f *followers) hasOther() bool { return f.ema != nil || f.lookahead != nil }
