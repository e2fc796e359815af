package train

import (
	"slices"

	"lockstep/optim"
	"lockstep/shard"
)

// Optimizer returns the inner optimizer, whose state includes that of the outer updates.
func (u *Outer) Optimizer() (optim.Optimizer, [][2]int) { return outerRule{u.inner.optimizer, u}, nil }

// Own returns the vectors in which the workers differ between two steps, in the layouts of
// Variables.Weights and Variables.State: the state of the inner optimizer, the running statistics, and
// the weights unless a meeting leaves them equal. Their data is the run's own memory, which a restorer
// overwrites before Loop.Resume.
func (u *Outer) Own() (weights, statistics []optim.Vector) {
	weights = u.inner.optimizer.State()
	if u.ownsWeights() {
		weights = append(weights, optim.Vector{Name: "value", Data: u.loop.variables.Weights})
	}
	if state := u.loop.variables.State; len(state) > 0 {
		statistics = append(statistics, optim.Vector{Name: "value", Data: state})
	}
	return weights, statistics
}

// ownsWeights reports whether a meeting does not leave the workers with equal weights.
func (u *Outer) ownsWeights() bool { return len(u.parts) > 1 || u.config.Overlap > 0 }

// Arrive blocks until all sums that are on their way have arrived, so that a snapshot holds them. They are
// merged when they are due.
func (u *Outer) Arrive() error {
	for i := range u.parts {
		if u.parts[i].due >= 0 {
			if err := u.arrive(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// outerRule is the inner optimizer of an Outer, with all state that a checkpoint keeps.
type outerRule struct {
	optim.Optimizer
	outer *Outer
}

// Bytes returns the memory of both optimizers.
func (r outerRule) Bytes() int64 {
	u := r.outer
	return r.Optimizer.Bytes() + u.outer.Bytes() + 4*int64(len(u.y)+len(u.d)+len(u.means))
}

// State returns the state of both optimizers, the outer weights, and the sums that have arrived early.
func (r outerRule) State() []optim.Vector {
	u := r.outer
	all := append(r.Optimizer.State(), optim.Vector{Name: "outer_weights", Data: u.y})
	for _, v := range u.outer.State() {
		all = append(all, optim.Vector{Name: "outer_" + v.Name, Data: v.Data})
	}
	if u.config.Overlap > 0 {
		all = append(all, optim.Vector{Name: "outer_sum", Data: u.d})
	}
	return all
}

// Resume sets the number of steps done. A sum of zeros is none: merge clears them.
func (r outerRule) Resume(steps int) {
	u, l := r.outer, r.outer.loop
	r.Optimizer.Resume(steps)
	perEpoch := l.config.stepsPerEpoch()
	n := steps % perEpoch // of the epoch in progress
	u.seen = u.seenIn(steps-n, steps)
	for i := range u.parts {
		p := &u.parts[i]
		since := u.config.sinceRound(i, n)
		p.seen = u.seenIn(steps-since, steps)
		isSum := slices.ContainsFunc(u.d[p.lo:p.hi], func(x float32) bool { return x != 0 })
		if u.config.Overlap > 0 && isSum {
			p.due, p.isHere = steps-1-since+u.config.Overlap, true
		}
	}
}

// seenIn counts the samples of the steps [from, to).
func (u *Outer) seenIn(from, to int) seen {
	c, s := u.loop.config, seen{}
	lo, hi := c.Plan.Run(c.Rank)
	for step := from; step < to; step++ {
		all := c.samplesOf(step)
		own := 0
		for v := lo; v < hi; v++ {
			own += shard.Samples(all, c.Plan.Shards(), v)
		}
		s.add(own, all)
	}
	return s
}
