package train

import (
	"fmt"
	"math"

	"lockstep/internal/kernel/row"
	"lockstep/shard"
)

// adaptive is an Updater whose batch grows.
type adaptive struct {
	Updater
	loop     *Loop
	exchange Replanner // nil: one worker
	onGrowth func(Growth)
	squares  *row.Squares
	shards   int   // of the exchange's plan
	err      error // of the exchange

	// Of a measured step, by shard.
	bits    []int64 // squared norms of the sums of gradients: first this worker's, then all
	norms   []float64
	samples []int
}

// measuredSteps is about how many steps of an epoch are measured.
const measuredSteps = 16

// NewAdaptive returns u with a batch that grows between epochs as Config.Growth allows. u must leave
// the whole global gradient in Loop.Pieces()[0], as that of NewWhole and NewLocal. exchange is what u
// exchanges gradients with, nil for one worker. onGrowth is called on every worker, on the training
// goroutine, after every epoch but the last.
//
// In some 16 steps of each epoch the squared norms of all shards' gradients and that of their sum give
// an estimate of the gradient noise scale, see Estimate. The estimates are averaged over the epoch, the
// numerator and the denominator apart. If the noise scale is at least twice the batch, the batch
// doubles. All of this depends on the shards alone, so every worker decides alike, and the result does
// not depend on their number. A step that is measured takes a pass over the gradient of each shard and
// a gather of V numbers; it allocates.
func NewAdaptive(l *Loop, u Updater, exchange Replanner, onGrowth func(Growth)) (Updater, error) {
	return &adaptive{Updater: u, loop: l, exchange: exchange, onGrowth: onGrowth,
		squares: row.On(l.config.CPU).NewSquares(len(l.variables.Weights)),
		shards:  l.config.Plan.Shards()}, nil
}

// Next lets the batch grow at the end of an epoch.
func (u *adaptive) Next(step int) (Work, error) {
	l := u.loop
	if p := l.config.part; p.Measured > 0 && l.config.inEpoch(step) == 0 {
		if err := u.decide(step, p); err != nil {
			return Work{}, err
		}
	}
	return u.Updater.Next(step)
}

// decide ends an epoch.
func (u *adaptive) decide(step int, p Part) error {
	l := u.loop
	c := &l.config
	n := float64(p.Measured)
	g := Growth{Step: step, Epochs: c.epochs(step), From: c.Batch, Noise: p.noiseScale(), Trace: p.Trace / n,
		Square: p.Square / n, Steps: p.Measured}
	factor := c.larger(g.Noise)
	next := p
	next.Trace, next.Square, next.Measured = 0, 0, 0
	if factor > 1 {
		next.Factor, next.Step, next.Epoch = factor*max(1, p.Factor), step, g.Epochs
		next.Shards = c.numShards(step)
		if err := l.grow(next, factor); err != nil {
			return err
		}
	}
	c.part = next
	g.To, g.Rate = c.Batch, c.Optimizer.LR
	if c.Growth.Rate != nil {
		g.Rate = c.Growth.Rate(c.Batch)
	}
	u.onGrowth(g)
	return nil
}

// Begin also tells the exchange of a larger batch, and prepares to measure.
func (u *adaptive) Begin(step int) {
	l := u.loop
	c := &l.config
	if n := c.Plan.Shards(); n != u.shards {
		u.shards = n
		if u.exchange != nil && u.err == nil {
			u.err = u.exchange.Replan(c.Plan, l.Pieces())
		}
	}
	l.measure = nil
	done, every := c.inEpoch(step), max(1, c.stepsPerEpoch()/measuredSteps)
	if isFull := done*c.Batch+c.Batch <= c.Train.Len(); isFull && done%every == 0 {
		u.reset()
		l.measure = u.add
	}
	u.Updater.Begin(step)
}

// reset prepares the vectors of a measured step.
func (u *adaptive) reset() {
	n := u.loop.config.Plan.Shards()
	u.bits, u.norms, u.samples = make([]int64, n), make([]float64, n), make([]int, n)
	for v := range u.samples {
		u.samples[v] = shard.Samples(u.loop.config.Batch, n, v)
	}
}

// add adds the squares of a part of a shard's gradient.
func (u *adaptive) add(v int, gradient []float32) { u.norms[v] += u.squares.Sum(gradient) }

// Wait also measures.
func (u *adaptive) Wait() (lo, hi int, err error) {
	if u.err != nil {
		return 0, 0, fmt.Errorf("larger batch: %w", u.err)
	}
	lo, hi, err = u.Updater.Wait()
	l := u.loop
	if err != nil || l.measure == nil {
		return lo, hi, err
	}
	l.measure = nil
	for v := l.work.Lo; v < l.work.Hi; v++ {
		u.bits[v] = int64(math.Float64bits(u.norms[v]))
	}
	if err := u.Updater.Sum(u.bits); err != nil {
		return 0, 0, fmt.Errorf("norms of gradients: %w", err)
	}
	for v, bits := range u.bits {
		n := float64(u.samples[v])
		u.norms[v] = math.Float64frombits(uint64(bits)) / (n * n)
	}
	c := &l.config
	n := float64(c.Batch)
	trace, square := Estimate(u.norms, u.samples, u.squares.Sum(l.gradients[0])/(n*n))
	c.part.Trace += trace
	c.part.Square += square
	c.part.Measured++
	return lo, hi, nil
}
