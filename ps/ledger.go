package ps

import (
	"fmt"
	"slices"
)

// Note: asynchronous order
//
// A worker borrows a batch, computes its gradient from the weights of one version, and commits it.
// Version v is the weights after v updates. The staleness of an update is the number of updates
// between the version that its gradient was computed from and its own.
//
// A bound on staleness could stop everybody: a worker that waits for a slower one makes its own
// gradient no fresher. Let slack(i) be the number of updates that may still be applied before that
// of loan i. The loans can all be applied within their bounds if and only if, in order of slack,
// the k-th one (from 0) has slack >= k: the one with the least slack goes first (earliest deadline
// first). The ledger lends a batch, and applies a gradient, only if that stays so. So the loan with
// the least slack may always be applied, and there is no deadlock.
//
// A worker may ask for its next batch while it computes the last one. Then the batch is assigned to it at
// once, so that it can prepare the samples, and lent as soon as the last one is applied: nobody
// computes from weights without its own last update, which would add one to the mean staleness.
//
// At a stop all batches before it are applied and none after it is lent: at the end of each epoch,
// after every Every updates, and at the end of the run. Evaluations and checkpoints belong there,
// because the weights then are those of whole epochs or steps, whoever computed them. A stop ends
// when every worker has seen it and worker 0, which evaluates and saves, asks for its next batch. It
// costs the others the time of the slowest worker's batch. With Continuous there is none at the end of an
// epoch: batches of the next one are lent, and worker 0 evaluates the weights of the first version
// that it can get after as many updates as the epochs have batches.

// LedgerConfig configures a Ledger.
type LedgerConfig struct {
	// Workers is the number of workers at the start, at least 1.
	Workers int
	// PerEpoch is the number of batches of an epoch, at least 1.
	PerEpoch int
	// From and To are the first batch and the one after the last. Batches before From are done.
	From, To int
	// Staleness is the largest staleness of an update, at least 0.
	Staleness int
	// Backup is the number of backup workers b, 0 to Workers-1. With b > 0 updates come in rounds:
	// the first Workers-b gradients of a round are applied, one after another, the others are
	// dropped and their batches lent again (after Chen et al. 2016, "Revisiting Distributed
	// Synchronous SGD"). Staleness must then be at least Workers-b-1.
	Backup int
	// Every makes a stop after each multiple of Every updates; 0 means at ends of epochs only.
	Every int
	// Continuous makes no stops at ends of epochs; worker 0 gets a View there.
	Continuous bool
	// Replay holds the run's updates from number 0; the ledger repeats those from number From on, in
	// the same order and from the same versions. Nil means in order of arrival.
	Replay []Applied
}

// Validate returns an error for the first invalid setting.
func (c LedgerConfig) Validate() error {
	switch {
	case c.Workers < 1 || c.PerEpoch < 1:
		return fmt.Errorf("ps: ledger: %d workers, %d batches to the epoch, want 1 or more",
			c.Workers, c.PerEpoch)
	case c.From < 0 || c.To < c.From:
		return fmt.Errorf("ps: ledger: batches [%d, %d)", c.From, c.To)
	case c.Staleness < 0 || c.Every < 0:
		return fmt.Errorf("ps: ledger: staleness %d, a stop every %d updates, want 0 or more",
			c.Staleness, c.Every)
	case c.Backup < 0 || c.Backup >= c.Workers:
		return fmt.Errorf("ps: ledger: %d backup workers of %d", c.Backup, c.Workers)
	case c.Backup > 0 && c.Staleness < c.Workers-c.Backup-1:
		return fmt.Errorf("ps: ledger: staleness %d with %d gradients to the round, want %d or more",
			c.Staleness, c.Workers-c.Backup, c.Workers-c.Backup-1)
	case c.Replay != nil && len(c.Replay) != c.To:
		return fmt.Errorf("ps: ledger: replay of %d updates, the run has %d", len(c.Replay), c.To)
	}
	return c.checkReplay()
}

// checkReplay checks that the replay is an order that a ledger can have decided.
func (c LedgerConfig) checkReplay() error {
	isUsed := make([]bool, len(c.Replay))
	for number, a := range c.Replay {
		switch {
		case a.Batch < 0 || a.Batch >= len(isUsed) || isUsed[a.Batch]:
			return fmt.Errorf("ps: ledger: replay: update %d is of batch %d, want one of %d that was "+
				"not used before", number, a.Batch, len(isUsed))
		case a.Version < 0 || a.Version > number || number-a.Version > c.Staleness:
			return fmt.Errorf("ps: ledger: replay: update %d reads version %d, want one that is at most "+
				"%d older", number, a.Version, c.Staleness)
		}
		isUsed[a.Batch] = true
	}
	return nil
}

// Applied is the origin of one update: the batch, and the version of the weights that its gradient
// was computed from.
type Applied struct{ Batch, Version int }

// Kind says what a Decision is about.
type Kind int

// The kinds of decisions.
const (
	// Lend: Worker computes the gradient of Batch from the weights of Version, the present one.
	Lend Kind = iota
	// Apply: the gradient of Batch becomes an update, which makes version Version+Staleness+1.
	Apply
	// Drop: the gradient of Batch is not used, because its round is over.
	Drop
	// Stop: all batches before number Version are applied, and no other is lent. Worker reads the
	// weights of Version.
	Stop
	// View: worker 0 reads the weights of Version, to evaluate them, while others go on.
	View
	// Assign: Batch will be lent to Worker when its last gradient is applied.
	Assign
)

// Decision is what a Ledger decided.
type Decision struct {
	Kind   Kind
	Worker int
	// Batch is counted from the start of the run; of no meaning in a Stop.
	Batch int
	// Version is the number of updates in the weights that Worker reads, or has read.
	Version int
	// Staleness is the number of updates applied since then, at the time of an Apply or Drop.
	Staleness int
	// WasAssigned says that the Lend is of a batch that was assigned.
	WasAssigned bool
	// IsOver says that the Stop is the end of the run, IsHalted that it was halted before its end.
	IsOver, IsHalted bool
}

// Update returns the number of the update of an Apply, from 0.
func (d Decision) Update() int { return d.Version + d.Staleness }

// Ledger decides who computes the gradient of which batch from which weights, and which gradient is
// the next update. It is a state machine without clock, goroutine or input: Take, Commit, Lost,
// Finish and Halt report what happened, in any order; then Decide is called until it has nothing
// more to decide. Its decisions, in their order, are those of the run on every server.
//
// It guarantees, for every order of calls: no update is staler than Staleness; every batch is
// applied once, also when workers are lost, as long as one is left; when all workers
// wait, one of them is answered. Cost: O(P^2) for a call of Decide, with P workers and as many
// loans. See Note: asynchronous order.
type Ledger struct {
	config   LedgerConfig
	workers  []borrower
	loans    []loan // in order of lending
	commits  int    // so far
	takes    int    // so far
	version  int    // updates applied
	next     int    // the lowest batch that was never lent
	returned []int  // batches to be lent again, in order
	stop     int    // the next stop, or the present one
	view     int    // the next end of an epoch after which worker 0 evaluates without a stop
	isEnding bool   // the stop is the end of the run
	// Finish was called, Halt before it.
	isFinished, isHalted bool

	inRound int // gradients applied in this round

	// Of a replay, by version.
	readers [][]int // the batches computed from it, less those lent
	isQuiet []bool  // it can be a stop
}

// borrower is the ledger's state of a worker.
type borrower struct {
	isLost  bool
	waits   int  // number of its Take, from 1; 0: it does not wait
	stop    int  // last stop it has seen
	isOver  bool // it knows that the run is over
	inRound bool // a gradient of its is applied in this round
	next    int  // batch that is assigned to it, -1: none
}

// loan is a batch that was lent and whose gradient is not yet applied.
type loan struct {
	worker, batch, version int
	commit                 int  // number of its Commit, from 1; 0: it is being computed
	isDoomed               bool // its round is over
}

// NewLedger returns a Ledger.
func NewLedger(c LedgerConfig) (*Ledger, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := &Ledger{config: c, workers: make([]borrower, c.Workers)}
	for i := range l.workers {
		l.workers[i].stop, l.workers[i].next = -1, -1
	}
	l.begin()
	return l, nil
}

// Resume makes from the first batch, before any decision.
func (l *Ledger) Resume(from int) error {
	l.config.From = from
	if err := l.config.Validate(); err != nil {
		return err
	}
	l.begin()
	return nil
}

// begin sets the ledger to its first batch.
func (l *Ledger) begin() {
	c := l.config
	l.version, l.next, l.stop = c.From, c.From, c.From
	l.view = c.endOfEpoch(c.From)
	if c.Replay != nil {
		l.readReplay()
	}
	l.open()
}

// endOfEpoch returns the first end of an epoch after a version.
func (c LedgerConfig) endOfEpoch(version int) int { return (version/c.PerEpoch + 1) * c.PerEpoch }

// readReplay fills readers and isQuiet.
func (l *Ledger) readReplay() {
	c := l.config
	l.readers, l.isQuiet = make([][]int, c.To+1), make([]bool, c.To+1)
	for _, a := range c.Replay[c.From:] {
		l.readers[a.Version] = append(l.readers[a.Version], a.Batch)
	}
	lowest := c.To // batch or version of any later update
	for at := c.To; at >= c.From; at-- {
		if at < c.To {
			lowest = min(lowest, c.Replay[at].Batch, c.Replay[at].Version)
		}
		l.isQuiet[at] = lowest >= at
	}
}

// Version returns the number of updates applied.
func (l *Ledger) Version() int { return l.version }

// Take reports that a worker asks for a batch, or for the next stop. It is answered by a Lend, a Stop
// or a View, and must not be called again before. A worker may take before it commits.
func (l *Ledger) Take(worker int) {
	l.takes++
	l.workers[worker].waits = l.takes
}

// Commit reports that the gradient of a batch that the worker borrowed is on all servers. It is
// answered by an Apply or a Drop, unless the worker is lost.
func (l *Ledger) Commit(worker, batch int) {
	l.commits++
	for i := range l.loans {
		if l.loans[i].worker == worker && l.loans[i].batch == batch {
			l.loans[i].commit = l.commits
		}
	}
}

// Lost reports that a worker is gone. The batches it has borrowed are lent again. A replay cannot go
// on if the version that such a batch must be computed from is past; Lost then returns false.
func (l *Ledger) Lost(worker int) (goesOn bool) {
	if next := l.workers[worker].next; next >= 0 {
		l.giveBack(loan{batch: next})
	}
	l.workers[worker] = borrower{isLost: true, next: -1}
	goesOn = true
	l.loans = slices.DeleteFunc(l.loans, func(o loan) bool {
		if o.worker != worker {
			return false
		}
		if !o.isDoomed {
			l.giveBack(o)
			goesOn = goesOn && (l.readers == nil || o.version == l.version)
		}
		return true
	})
	l.endRound()
	return goesOn
}

// giveBack makes the batch of a loan one to be lent.
func (l *Ledger) giveBack(o loan) {
	if l.readers != nil {
		l.readers[o.version] = append(l.readers[o.version], o.batch)
		return
	}
	at, _ := slices.BinarySearch(l.returned, o.batch)
	l.returned = slices.Insert(l.returned, at, o.batch)
}

// Finish ends the run as soon as all batches that were lent are applied.
func (l *Ledger) Finish() {
	if l.isFinished {
		return
	}
	l.isFinished, l.isEnding = true, true
	if l.readers == nil {
		l.stop = l.next
	} else {
		l.stop = l.quietFrom(l.version + min(1, len(l.loans)))
	}
}

// Halt is Finish for a run that was interrupted before its end.
func (l *Ledger) Halt() {
	isFinished := l.isFinished
	l.Finish()
	l.isHalted = l.isHalted || !isFinished && l.stop < l.config.To
}

// Decide returns the next decision; ok is false if none can be made until something happens.
func (l *Ledger) Decide() (d Decision, ok bool) {
	if d, ok := l.settle(); ok {
		return d, true
	}
	if l.isAtStop() && !l.isEnding && l.hasBeenSeen() {
		l.open()
	}
	for worker := l.waiting(0); worker >= 0; worker = l.waiting(l.workers[worker].waits) {
		if d, ok := l.answer(worker); ok {
			if d.Kind != Assign { // the worker waits for the weights
				l.workers[worker].waits = 0
			}
			return d, true
		}
	}
	return Decision{}, false
}

// isAtStop reports whether all batches before the stop are applied.
func (l *Ledger) isAtStop() bool { return l.version == l.stop }

// hasBeenSeen reports whether all workers have seen the present stop and worker 0 has done with it.
func (l *Ledger) hasBeenSeen() bool {
	for _, w := range l.workers {
		if !w.isLost && w.stop < l.stop {
			return false
		}
	}
	return l.workers[0].isLost || l.workers[0].waits > 0
}

// open moves the stop to the next one.
func (l *Ledger) open() {
	c := l.config
	l.stop = c.To
	if !c.Continuous {
		l.stop = min(c.To, c.endOfEpoch(l.version))
	}
	if c.Every > 0 {
		l.stop = min(l.stop, (l.version/c.Every+1)*c.Every)
	}
	if l.readers != nil {
		l.stop = l.quietFrom(l.stop)
	}
	l.isEnding = l.stop == c.To
}

// quietFrom returns the first version from at on at which the replay can stop: all batches before it
// are applied, and none after it was lent.
func (l *Ledger) quietFrom(at int) int {
	for !l.isQuiet[at] {
		at++
	}
	return at
}

// settle decides about a gradient that is there.
func (l *Ledger) settle() (d Decision, ok bool) {
	at := -1
	for i, o := range l.loans {
		isFirst := at < 0 || o.commit < l.loans[at].commit
		if o.commit > 0 && isFirst && (o.isDoomed || l.mayApply(i)) {
			at = i
		}
	}
	if at < 0 {
		return d, false
	}
	o := l.loans[at]
	l.loans = slices.Delete(l.loans, at, at+1)
	d = Decision{Kind: Drop, Worker: o.worker, Batch: o.batch, Version: o.version,
		Staleness: l.version - o.version}
	if !o.isDoomed {
		d.Kind = Apply
		l.version++
		l.countInRound(o.worker)
	}
	return d, true
}

// mayApply reports whether the other loans can stay within their bounds after loan i is applied.
func (l *Ledger) mayApply(i int) bool {
	if l.readers != nil {
		return l.config.Replay[l.version].Batch == l.loans[i].batch && len(l.readers[l.version]) == 0
	}
	return l.hasRounds() || l.isFeasible(i, 1)
}

// isFeasible reports whether all loans but number without can be applied within their bounds after
// `before` more updates.
func (l *Ledger) isFeasible(without, before int) bool {
	k := before
	for i, o := range l.loans { // their versions, and so their slacks, ascend
		if i == without {
			continue
		}
		if slack := l.config.Staleness - (l.version - o.version); slack < k {
			return false
		}
		k++
	}
	return true
}

// countInRound counts an applied gradient, if there are rounds.
func (l *Ledger) countInRound(worker int) {
	if l.hasRounds() {
		l.inRound++
		l.workers[worker].inRound = true
		l.endRound()
	}
}

// hasRounds reports whether updates come in rounds. A replay repeats what they led to.
func (l *Ledger) hasRounds() bool { return l.config.Backup > 0 && l.readers == nil }

// endRound ends the round if it has all its gradients: those that are not applied are dropped.
func (l *Ledger) endRound() {
	if !l.hasRounds() {
		return
	}
	live := 0
	for _, w := range l.workers {
		if !w.isLost {
			live++
		}
	}
	if l.inRound < min(l.config.Workers-l.config.Backup, live) && !l.isAtStop() {
		return
	}
	l.inRound = 0
	for i := range l.workers {
		l.workers[i].inRound = false
	}
	for i := range l.loans {
		if o := &l.loans[i]; !o.isDoomed {
			o.isDoomed = true
			l.giveBack(*o)
		}
	}
}

// waiting returns the worker whose Take is the first one after number after, -1 if there is none.
func (l *Ledger) waiting(after int) int {
	first := -1
	for i, w := range l.workers {
		if w.waits > after && (first < 0 || w.waits < l.workers[first].waits) {
			first = i
		}
	}
	return first
}

// answer decides about a worker that waits.
func (l *Ledger) answer(worker int) (d Decision, ok bool) {
	w := &l.workers[worker]
	d = Decision{Worker: worker, Version: l.version}
	switch {
	case l.isAtStop() && (w.stop < l.stop || l.isEnding && !w.isOver):
		w.stop, w.isOver = l.stop, l.isEnding
		d.Kind, d.IsOver, d.IsHalted = Stop, l.isEnding, l.isHalted
		return d, true
	case l.isComputing(worker):
		return l.assign(worker)
	case w.next < 0 && l.mustView(worker):
		l.view = l.config.endOfEpoch(l.version)
		d.Kind = View
		return d, true
	case !l.mayLend(worker):
		return d, false
	}
	if d.Batch, d.WasAssigned = w.next, w.next >= 0; !d.WasAssigned {
		d.Batch = l.draw()
	}
	w.next = -1
	l.loans = append(l.loans, loan{worker: worker, batch: d.Batch, version: l.version})
	return d, true
}

// isComputing reports whether the worker has a loan. That of a replay is of no interest: what it
// computes next may be of older weights.
func (l *Ledger) isComputing(worker int) bool {
	return l.readers == nil &&
		slices.ContainsFunc(l.loans, func(o loan) bool { return o.worker == worker })
}

// assign decides about a worker that asks before its last gradient is applied.
func (l *Ledger) assign(worker int) (d Decision, ok bool) {
	w := &l.workers[worker]
	if w.next >= 0 || l.hasRounds() || !l.hasBatch() || l.mustView(worker) {
		return d, false
	}
	w.next = l.draw()
	return Decision{Kind: Assign, Worker: worker, Batch: w.next, Version: l.version}, true
}

// mustView reports whether the worker evaluates before it computes more.
func (l *Ledger) mustView(worker int) bool {
	return worker == 0 && l.config.Continuous && l.version >= l.view && l.view < l.config.To
}

// hasBatch reports whether a batch is left before the stop.
func (l *Ledger) hasBatch() bool { return len(l.returned) > 0 || l.next < l.stop }

// mayLend reports whether the worker, which computes nothing, may borrow a batch now.
func (l *Ledger) mayLend(worker int) bool {
	w := &l.workers[worker]
	switch {
	case l.readers != nil:
		return !l.isAtStop() && len(l.readers[l.version]) > 0
	case w.inRound || w.next < 0 && !l.hasBatch():
		return false
	}
	return l.hasRounds() || len(l.loans) <= l.config.Staleness
}

// draw returns the batch to lend next.
func (l *Ledger) draw() int {
	switch {
	case l.readers != nil:
		batch := l.readers[l.version][0]
		l.readers[l.version] = l.readers[l.version][1:]
		l.next = max(l.next, batch+1)
		return batch
	case len(l.returned) > 0:
		batch := l.returned[0]
		l.returned = slices.Delete(l.returned, 0, 1)
		return batch
	}
	l.next++
	return l.next - 1
}
