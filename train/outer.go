package train

import (
	"fmt"

	"lockstep/internal/kernel/row"
	"lockstep/optim"
	"lockstep/trace"
)

// OuterSync adds up vectors over all workers in the background. The vectors have numbers: the parts of
// the weights, then the running statistics, then the length of the run.
type OuterSync interface {
	// Start begins to replace v by its sum over all workers. A number stands for one v in the whole
	// run, which is not touched until Wait has returned.
	Start(number int, v []float32)
	// Wait blocks until the sum of the vector that was started is there.
	Wait(number int) error
	// Sum replaces counts by the elementwise sum over all workers, wrapping around; it blocks.
	Sum(counts []int64) error
}

// Outer is the Updater of workers that each make inner updates of their own weights, by the gradients
// of their own shards, and average the weights after every round of steps: local SGD, and with an
// outer optimizer DiLoCo (Douillard et al. 2023, arXiv 2311.08105).
//
// Let x be a worker's weights, y the outer weights, the same on all workers, and w the samples that the
// worker has trained on in this round, divided by those of all workers. A round ends with
//
//	d = sum over workers of w*(y - x), the outer gradient
//	v = Momentum*v + d
//	y = y - LR*(d + Momentum*v)
//	x = y
//
// in tree order over workers. With several parts each part of the weights does so in its turn, and with
// an overlap the worker goes on while d is on its way: it updates y that many steps later, and moves x
// half the way to y (Streaming DiLoCo, Douillard et al. 2025, arXiv 2501.18512).
//
// Running statistics are averaged at the end of an epoch and of the run, because only an evaluation
// reads them; then the parts are averaged too and without overlap, so that all workers have the same
// weights. The result depends on the number of workers, but not on timing. A worker sees the rows of
// its own shards only; see Progress.
type Outer struct {
	fixed
	sync   OuterSync
	config OuterConfig
	adder  *row.CPU
	inner  *whole
	outer  optim.Optimizer // of y
	y, d   []float32
	parts  []outerPart
	seen   seen      // since the running statistics were averaged
	means  []float32 // of the running statistics
	end    deadline
}

// outerPart is a range of the weights that is averaged at once.
type outerPart struct {
	lo, hi int
	seen   seen // since its last round
	due    int  // the step after which its sum is merged; -1: no sum is on its way
	isHere bool // its sum has arrived
}

// seen counts samples.
type seen struct{ own, all int }

func (s *seen) add(own, all int) { s.own, s.all = s.own+own, s.all+all }

// weight returns this worker's part of all samples.
func (s seen) weight() float32 { return float32(float64(s.own) / float64(s.all)) }

// moved is how far the weights of a worker move to the outer weights that arrive some steps late.
const moved = 0.5

// NewOuter returns an Updater whose workers average their weights as c says, over s. It supports every
// optimizer; clipping is by the norm of a worker's own mean gradient.
func NewOuter(l *Loop, c OuterConfig, s OuterSync) (*Outer, error) {
	weights := l.variables.Weights
	switch err := l.config.checkExchange(); {
	case err != nil:
		return nil, err
	case l.config.EMA > 0 || l.config.Lookahead.Every > 0:
		return nil, fmt.Errorf("train: outer update with weights that follow those of one worker: " +
			"want no moving average and no lookahead")
	case max(c.Parts, 1) > len(weights):
		return nil, fmt.Errorf("train: %d weights in %d parts", len(weights), c.Parts)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l.stack.joinPieces()
	l.isPartial = true
	inner, err := newWhole(l, silent{})
	if err != nil {
		return nil, err
	}
	u := &Outer{fixed: fixed{l}, sync: s, config: c, adder: row.On(l.config.CPU), inner: inner,
		y: make([]float32, len(weights)), d: l.newGradient(),
		means: make([]float32, len(l.variables.State)), end: deadline{word: make([]float32, 1)}}
	u.outer, err = optim.New(optim.Config{LR: c.LR, Momentum: c.Momentum, Nesterov: c.Momentum > 0},
		l.config.CPU, u.y, nil)
	for _, r := range c.Ranges(len(weights)) {
		u.parts = append(u.parts, outerPart{lo: r[0], hi: r[1], due: -1})
	}
	return u, err
}

// Begin starts a step. Before the first one the outer weights are those that the run starts with.
func (u *Outer) Begin(step int) {
	if step == 0 {
		copy(u.y, u.loop.variables.Weights)
	}
}

// GatherRows exchanges nothing. A worker's own clock does not end the run.
func (u *Outer) GatherRows(rows Rows) {
	lo, _ := u.loop.config.Plan.Run(u.loop.config.Rank)
	rows[lo*u.loop.rowLen+rowIsLast] = 0
}

// Ready does nothing: gradients are not exchanged.
func (u *Outer) Ready(int) {}

// Wait returns the rows of this worker's shards.
func (u *Outer) Wait() (lo, hi int, err error) {
	lo, hi = u.loop.config.Plan.Run(u.loop.config.Rank)
	return lo, hi, nil
}

// Sum replaces counts by their sum over all workers.
func (u *Outer) Sum(counts []int64) error { return u.sync.Sum(counts) }

// IsSettled reports true: the weights that a worker reads are its own.
func (u *Outer) IsSettled() bool { return true }

// Settle has nothing to wait for.
func (u *Outer) Settle(int) error { return nil }

// Update makes the inner update and what is due of the outer ones.
func (u *Outer) Update(by Update) error {
	l := u.loop
	if err := u.updateOwn(by); err != nil {
		return err
	}
	all := l.config.samplesOf(l.step)
	u.seen.add(by.Samples, all)
	n := l.step%l.config.stepsPerEpoch() + 1
	for i := range u.parts {
		p := &u.parts[i]
		p.seen.add(by.Samples, all)
		if u.config.endsRound(i, n) {
			u.start(i)
		}
		if p.due == l.step {
			if err := u.merge(i, u.config.Overlap > 0); err != nil {
				return err
			}
		}
	}
	if err := u.announce(); err != nil {
		return err
	}
	if n == l.config.stepsPerEpoch() || l.step+1 == l.config.steps() || l.isOver {
		return u.meet()
	}
	return nil
}

// updateOwn updates the worker's own weights by its own gradients.
func (u *Outer) updateOwn(by Update) error {
	if by.Samples == 0 { // the rest of an epoch can be too small for a worker to have a part of it
		u.inner.optimizer.Resume(u.loop.step + 1)
		return nil
	}
	err := u.inner.Update(by)
	u.loop.lap(trace.Optimizer, "inner")
	return err
}

// start starts the sum of a part.
func (u *Outer) start(i int) {
	p := &u.parts[i]
	d := u.d[p.lo:p.hi]
	u.adder.AddScaled(d, u.y[p.lo:p.hi], u.loop.variables.Weights[p.lo:p.hi], -1)
	u.adder.Scale(d, d, p.seen.weight())
	u.loop.lap(trace.Optimizer, "outer")
	u.sync.Start(i, d)
	p.seen, p.due = seen{}, u.loop.step+u.config.Overlap
	u.loop.lap(trace.SyncExposed, "average")
}

// arrive waits for the sum of a part.
func (u *Outer) arrive(i int) error {
	p := &u.parts[i]
	if p.isHere {
		return nil
	}
	err := u.sync.Wait(i)
	u.loop.lap(trace.SyncExposed, "average")
	p.isHere = err == nil
	if err != nil {
		return fmt.Errorf("exchange of weights: %w", err)
	}
	return nil
}

// merge waits for the sum of a part and updates the outer weights, and from them the worker's own.
func (u *Outer) merge(i int, isLate bool) error {
	if err := u.arrive(i); err != nil {
		return err
	}
	p := &u.parts[i]
	x, y, d := u.loop.variables.Weights[p.lo:p.hi], u.y[p.lo:p.hi], u.d[p.lo:p.hi]
	u.outer.Step(p.lo, p.hi, d, u.config.LR, 1)
	if isLate {
		u.adder.Lerp(x, x, y, moved)
	} else {
		copy(x, y)
	}
	clear(d) // see outerRule.Resume
	p.due, p.isHere = -1, false
	u.loop.lap(trace.Optimizer, "outer")
	return nil
}

// meet averages all that the workers do not have in common. They leave it with the same variables.
func (u *Outer) meet() error {
	u.startStatistics()
	for i := range u.parts {
		p := &u.parts[i]
		if p.due >= 0 {
			if err := u.merge(i, true); err != nil {
				return err
			}
		}
		if p.seen.all > 0 {
			u.start(i)
		}
	}
	for i := range u.parts {
		p := &u.parts[i]
		if p.due < 0 {
			copy(u.loop.variables.Weights[p.lo:p.hi], u.y[p.lo:p.hi])
		} else if err := u.merge(i, false); err != nil {
			return err
		}
	}
	return u.waitStatistics()
}

// startStatistics starts the average of the running statistics.
func (u *Outer) startStatistics() {
	if state := u.loop.variables.State; len(state) > 0 {
		u.adder.Scale(u.means, state, u.seen.weight())
		u.sync.Start(len(u.parts), u.means)
	}
	u.seen = seen{}
}

func (u *Outer) waitStatistics() error {
	state := u.loop.variables.State
	if len(state) == 0 {
		return nil
	}
	if err := u.sync.Wait(len(u.parts)); err != nil {
		return fmt.Errorf("exchange of running statistics: %w", err)
	}
	copy(state, u.means)
	u.loop.lap(trace.SyncExposed, "average")
	return nil
}
