package train

import (
	"fmt"
	"slices"

	"lockstep/shard"
	"lockstep/trace"
)

// Replanner is an exchange whose workers can change their shards between two steps.
type Replanner interface {
	// Replan continues with another plan and the pieces of this worker by it; see
	// gradsync.Exchange.
	Replan(plan shard.Plan, pieces [][]float32) error
}

// balanced is an Updater that moves shards from slow workers to fast ones.
type balanced struct {
	Updater
	loop     *Loop
	exchange Replanner
	onMove   func(*Move)
	balancer *balancer
	decide   func(step int, plan shard.Plan) (shard.Plan, *Move) // the balancer's
	hasMoved bool                                                // the exchange still has the former plan
	err      error                                               // of the exchange

	// At the last Begin.
	phases trace.Phases
	own    int64 // samples so far
	full   int64 // samples of the step, if its batch is full
	report shard.Speed
}

// Places of a worker's report in the row of its first shard, counted from the row's end.
const (
	reportFixed = 1 + iota
	reportEach
	reportLen = iota
)

// NewBalanced returns u with shards that move between steps from slow workers to fast ones. exchange is
// what u exchanges gradients with. onMove is called on every worker, on the training goroutine, before
// the first step of another plan, and once when the first plan is found to be good enough.
//
// Shards have the same bits wherever they are computed, so the result is that of u. See Note: when shards
// move. Every row is longer by two values. A step without a move allocates nothing.
func NewBalanced(l *Loop, u Updater, exchange Replanner, onMove func(*Move)) (Updater, error) {
	c := l.config
	l.rowTail, l.mayMove = reportLen, true
	// A worker may get any shard; all sizes are compiled before the first step.
	if err := l.programs.addRun(c, Work{Lo: 0, Hi: c.Plan.Shards()}); err != nil {
		return nil, err
	}
	b := newBalancer(c.Plan.Workers())
	return &balanced{Updater: u, loop: l, exchange: exchange, onMove: onMove, balancer: b,
		decide: b.decide}, nil
}

// Next moves shards if that pays.
func (u *balanced) Next(step int) (Work, error) {
	l := u.loop
	plan, move := u.decide(step, l.config.Plan)
	if move != nil {
		u.onMove(move)
	}
	if move != nil && !slices.Equal(move.From, move.To) {
		if err := l.settle(); err != nil { // sums of the former plan may still be in transit
			return Work{}, err
		}
		l.config.Plan, u.hasMoved = plan, true
	}
	return u.Updater.Next(step)
}

// Begin also measures the step before.
func (u *balanced) Begin(step int) {
	l := u.loop
	if u.hasMoved && u.err == nil {
		u.err = u.exchange.Replan(l.config.Plan, l.Pieces())
	}
	phases := l.clock.Phases()
	took, own := phases.Minus(u.phases), l.done.OwnSamples-u.own
	u.phases, u.own = phases, l.done.OwnSamples
	u.report = shard.Speed{}
	if own > 0 && own == u.full {
		busy := (took[trace.Forward] + took[trace.Backward]).Seconds()
		mean := float64(l.config.Batch) / float64(l.config.Plan.Shards()) // samples of a shard
		u.report = shard.Speed{Fixed: took[trace.Optimizer].Seconds(), Each: busy * mean / float64(own)}
	}
	u.full, u.hasMoved = 0, false
	for v := l.work.Lo; v < l.work.Hi; v++ {
		u.full += int64(shard.Samples(l.config.Batch, l.config.Plan.Shards(), v))
	}
	u.Updater.Begin(step)
}

// GatherRows adds this worker's report to its first row.
func (u *balanced) GatherRows(rows Rows) {
	l := u.loop
	row := rows[l.work.Lo*l.rowLen:][:l.rowLen]
	row[l.rowLen-reportFixed], row[l.rowLen-reportEach] = float32(u.report.Fixed), float32(u.report.Each)
	u.Updater.GatherRows(rows)
}

// Wait also reads the reports of all workers.
func (u *balanced) Wait() (lo, hi int, err error) {
	if u.err != nil {
		return 0, 0, fmt.Errorf("move of shards: %w", u.err)
	}
	if lo, hi, err = u.Updater.Wait(); err != nil {
		return lo, hi, err
	}
	l := u.loop
	for rank := range l.config.Plan.Workers() {
		if u.reportOf(rank).Each <= 0 {
			return lo, hi, nil // the first step, or one after a smaller batch
		}
	}
	for rank := range l.config.Plan.Workers() {
		u.balancer.observe(rank, u.reportOf(rank))
	}
	return lo, hi, nil
}

// reportOf returns a worker's report of its last step.
func (u *balanced) reportOf(rank int) shard.Speed {
	l := u.loop
	first, _ := l.config.Plan.Run(rank)
	row := l.rows[first*l.rowLen:][:l.rowLen]
	return shard.Speed{Fixed: float64(row[l.rowLen-reportFixed]), Each: float64(row[l.rowLen-reportEach])}
}
