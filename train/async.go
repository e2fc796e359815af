package train

import (
	"fmt"

	"lockstep/trace"
)

// AsyncSync lets a worker compute whole batches from weights that other workers update meanwhile, on
// servers, which have the optimizer.
type AsyncSync interface {
	Exchange
	// Load gives the servers the weights before the first step; steps are done.
	Load(steps int) error
	// Commit says, between Begin and GatherRows, how the gradient of the batch updates the weights,
	// and whether this worker's clock ends the run. GatherRows asks for the next batch.
	Commit(rate float64, samples int, isLast bool)
	// Ahead returns the batch that the next Take returns if that is known already, else -1.
	Ahead() int
	// Take blocks until a batch is lent, or there is none: then batch is negative. Either isView says
	// that the weights are to be evaluated while other workers go on, or no gradient is on its way and
	// isOver says whether the run ends here. Before it returns, it calls count with the batch and the
	// rows of every update that was made, in order.
	Take(count func(batch int, rows Rows)) (batch int, isView, isOver bool, err error)
	// WaitWeights blocks until the weights that belong to the last Take are in Loop.Variables: those
	// of param, or all of them if param is negative.
	WaitWeights(param int) error
}

// async is the Updater of workers that do not wait for each other.
type async struct {
	AsyncSync
	remote
	isQuiet bool
	sought  int                        // batch that the loader prepares
	count   func(batch int, rows Rows) // bound once
	epochs  map[int]*tally             // those of which updates were counted, and others are to come
	newest  int                        // of them
	err     error                      // of counting
}

// tally is what the updates of an epoch add up to.
type tally struct {
	covered          uint64 // hash of the samples
	correct, samples int64
}

// NewAsync returns an Updater whose workers compute whole batches, without waiting for each other,
// and leave the update to servers, which may make other updates before. Config.WholeBatches must be
// set. Clipping, averages and lookahead are refused, because no worker has the weights of every
// update.
func NewAsync(l *Loop, s AsyncSync) (Updater, error) {
	c := l.config
	switch {
	case !c.WholeBatches:
		return nil, fmt.Errorf("train: asynchronous updates by parts of a batch, want whole batches")
	case c.Isolated:
		return nil, c.checkExchange()
	case c.Clip > 0 || c.EMA > 0 || c.Lookahead.Every > 0:
		return nil, fmt.Errorf("train: asynchronous updates with clipping at %v, averages of decay %v, "+
			"lookahead every %d steps: want none of them", c.Clip, c.EMA, c.Lookahead.Every)
	}
	u := &async{AsyncSync: s, remote: remote{loop: l, servers: s}, isQuiet: true, sought: -1}
	u.count = u.add
	l.isSought = true
	return u, nil
}

// Next returns the batch that was lent to this worker, or no work at a stop or a view.
func (u *async) Next(step int) (Work, error) {
	if err := u.load(step); err != nil {
		return Work{}, err
	}
	if u.epochs == nil {
		u.resume()
	}
	batch, isView, isOver, err := u.Take(u.count)
	u.isAway = true
	if err != nil {
		return Work{}, fmt.Errorf("wait for a batch: %w", err)
	}
	if u.err != nil {
		return Work{}, u.err
	}
	u.loop.lap(trace.SyncExposed, "wait")
	u.isQuiet = batch < 0 && !isView
	if batch < 0 {
		return Work{IsOver: isOver, IsView: isView}, nil
	}
	return Work{Step: batch, Hi: u.loop.config.Plan.Shards()}, nil
}

// GatherRows passes the rows on with the parameters of the update. The servers make it when they have
// the gradient.
func (u *async) GatherRows(rows Rows) {
	l := u.loop
	u.Commit(l.schedule.Rate(l.step), l.config.samplesOf(l.step), rows[rowIsLast] != goesOn)
	u.AsyncSync.GatherRows(rows)
}

// Ready also lets the loader prepare the next batch as soon as that is known.
func (u *async) Ready(param int) {
	u.AsyncSync.Ready(param)
	if next := u.Ahead(); next >= 0 && next != u.sought {
		u.sought = next
		u.loop.seek(next)
	}
}

// Wait returns no rows: they count when the update is made.
func (u *async) Wait() (lo, hi int, err error) { return 0, 0, nil }

// Update leaves the update to the servers.
func (u *async) Update(Update) error { return nil }

// resume begins the tallies with that of an epoch of which a part is done.
func (u *async) resume() {
	l := u.loop
	d := &l.done
	u.epochs, u.newest = map[int]*tally{}, l.config.epochs(d.Steps)
	if l.config.inEpoch(d.Steps) > 0 {
		u.epochs[u.newest] = &tally{l.covered, d.TrainCorrect, d.TrainSamples}
	}
}

// add accounts for an update that was made by a whole batch, whose gradient any worker computed. The
// updates of two epochs may be mixed; the result shows those of the later one.
func (u *async) add(batch int, rows Rows) {
	l := u.loop
	epoch := l.config.epochs(batch)
	t := u.epochs[epoch]
	if t == nil {
		t = &tally{}
		u.epochs[epoch] = t
	}
	s := Step{Number: batch}
	t.covered += l.countRows(rows, 0, l.config.Plan.Shards())
	l.sumRows(&s, rows, 0, l.config.Plan.Shards())
	t.correct, t.samples = t.correct+int64(s.Correct), t.samples+int64(s.Samples)
	u.newest = max(u.newest, epoch)
	shown := tally{l.covered, l.done.TrainCorrect, l.done.TrainSamples}
	if u.newest == epoch {
		shown = *t
	}
	l.account(s)
	l.covered, l.done.TrainCorrect, l.done.TrainSamples = shown.covered, shown.correct, shown.samples
	if t.samples < int64(l.config.Train.Len()) {
		return
	}
	delete(u.epochs, epoch)
	if err := l.checkCovered(epoch, t.covered); u.err == nil {
		u.err = err
	}
}

func (u *async) IsQuiet() bool { return u.isQuiet }
