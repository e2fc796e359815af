package job

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/app/host"
	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/trace"
	"lockstep/train"
)

// What a worker does besides the phases of trace.
const (
	phaseLoad       = "load data"
	phaseLink       = "link up"
	phaseSetUp      = "set up"
	phaseCheckpoint = "checkpoint"
	phaseSave       = "save"
	phaseServe      = "serve"  // of a server that waits for gradients
	phaseUpdate     = "update" // of a server
)

// Least times without progress before a worker counts as stuck. In a phase with measured steps or evaluation
// batches the limit is three times the slowest one, if that is longer. The time in which other processes had
// the worker's cores is added: it is slow then, not stuck.
const (
	preparing = 10 * time.Minute // for loading, saving, and phases without a measured time
	loading   = time.Minute      // for waiting for a batch of data
	patience  = 3
	standing  = time.Second // after so long without progress the worker looks whether others have its cores
)

// links are the links of a rank to its peers while something drives them: a *comm.Group or a *comm.Post.
type links interface {
	Counters() comm.Counters
	Standing() comm.Standing
	Close() error
}

// watch adds what moves on the links to the progress.
func (b *beacon) watch(l links) { b.links.Store(&l) }

// beacon holds the progress of a worker. The training goroutine sets it, another goroutine reads it.
type beacon struct {
	notes chan string           // lines for people
	links atomic.Pointer[links] // nil before they are in use, or if there are none

	mu      sync.Mutex
	at      cluster.Progress
	began   time.Time     // start of the first step; zero before it
	tested  time.Duration // total time of evaluations
	passed  time.Time     // start of the phase or of its last batch
	step    time.Duration // slowest step
	batch   time.Duration // slowest batch of an evaluation
	scoring time.Time     // start of the evaluation in progress

	still standstill
}

// standstill is the time since a worker's last progress. One goroutine reads it.
type standstill struct {
	starving func(pid int) (lost func() time.Duration) // host.Starving
	moves    uint64                                    // of the progress
	since    time.Time
	starved  func() time.Duration // since standing was over; nil before that
}

// lost returns how long the worker had work and no core since it made the last of moves. What it lost in the
// first second is left out, so that whoever gets on pays nothing for this.
func (s *standstill) lost(now time.Time, moves uint64) time.Duration {
	if moves != s.moves || s.since.IsZero() {
		s.moves, s.since, s.starved = moves, now, nil
	}
	switch {
	case now.Sub(s.since) < standing:
		return 0
	case s.starved == nil:
		s.starved = s.starving(os.Getpid())
	}
	return s.starved()
}

func newBeacon() *beacon {
	return &beacon{notes: make(chan string, 4), at: cluster.Progress{Phase: phaseLoad},
		still: standstill{starving: host.Starving}}
}

// follow reports the worker's progress until stop is called.
func (b *beacon) follow(report func(cluster.Progress)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		cluster.Beat(ctx, b.read, func(p cluster.Progress) {
			b.pass(report, p)
			report(p)
		})
	}()
	return func() {
		cancel()
		<-done
	}
}

// pass reports a note, if there is one.
func (b *beacon) pass(report func(cluster.Progress), p cluster.Progress) {
	select {
	case p.Note = <-b.notes:
		report(p)
	default:
	}
}

// begin notes that training begins at step from. The length is a number of steps or a time.
func (b *beacon) begin(from, steps int, length time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at.Step, b.at.From, b.at.Steps, b.at.Length = from, from, steps, length.Seconds()
	b.began = time.Now()
	b.enterLocked(trace.Data.String())
}

// lengthen notes another length in steps.
func (b *beacon) lengthen(steps int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at.Steps = steps
}

// serve notes that a server waits for gradients, after the steps of its rule.
func (b *beacon) serve(r *servedRule) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at.Step = r.steps
	b.enterLocked(phaseServe)
}

func (b *beacon) enter(phase string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.enterLocked(phase)
}

func (b *beacon) enterLocked(phase string) {
	if phase != trace.Evaluation.String() {
		b.at.Scored = 0
	}
	b.at.Phase = phase
	b.at.Moves++
	b.passed = time.Now()
}

// move notes the start of a batch, in training or in an evaluation; it is train.Config.Watch.
func (b *beacon) move(p trace.Phase) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.passed
	isFirst := b.at.Phase != p.String()
	b.enterLocked(p.String())
	if p == trace.Evaluation && !isFirst {
		b.batch = max(b.batch, b.passed.Sub(before))
	}
}

// scored notes how much of an evaluation is done; it is train.Config.Scored.
func (b *beacon) scored(done, all int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if done == 0 {
		b.scoring = time.Now()
	}
	b.at.Scored, b.at.Scoring = float64(done)/float64(all), time.Since(b.scoring).Seconds()
}

// evaluated notes an evaluation and how long it took.
func (b *beacon) evaluated(took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tested += took
}

// finish notes the end of a step. The last step is followed by the evaluation.
func (b *beacon) finish(now time.Time, s train.Step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at.Trained = (now.Sub(b.began) - b.tested).Seconds()
	b.at.Step, b.at.Epoch, b.at.Loss = s.Number+1, s.Epoch, s.Loss
	b.at.Samples += int64(s.Samples)
	b.step = max(b.step, s.Time)
	if s.Number+1 == b.at.Steps {
		b.enterLocked(trace.Evaluation.String())
	} else {
		b.enterLocked(trace.Data.String())
	}
}

// read returns the worker's progress.
func (b *beacon) read() cluster.Progress {
	b.mu.Lock()
	p, limit := b.at, b.limit()
	if !b.began.IsZero() {
		p.Seconds = time.Since(b.began).Seconds()
	}
	b.mu.Unlock()
	if l := b.links.Load(); l != nil {
		s := (*l).Standing()
		p.Moves += s.Moves
		if s.Wait != nil {
			p.Wait = &cluster.Wait{Rank: s.Wait.Peer, What: s.Wait.String()}
		}
	}
	if p.Phase == phaseServe && p.Wait == nil {
		return p // with no limit: no worker has begun the step, and each may take as long as it does
	}
	lost := b.still.lost(time.Now(), p.Moves)
	p.Limit = max(limit, min(limit+lost, preparing)).Seconds()
	return p
}

// phase returns what the worker does. Any goroutine may ask.
func (b *beacon) phase() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at.Phase
}

// limit returns how long the worker may make no progress in its phase before it counts as stuck.
func (b *beacon) limit() time.Duration {
	measured := b.step
	switch b.at.Phase {
	case trace.Evaluation.String():
		measured = b.batch
	case phaseServe, phaseUpdate:
		return cluster.StuckAfter
	case trace.Data.String():
		return max(loading, patience*b.step)
	case phaseLoad, phaseLink, phaseSetUp, phaseCheckpoint, phaseSave:
		measured = 0
	}
	if measured == 0 {
		return preparing
	}
	return max(cluster.StuckAfter, patience*measured)
}

// watched is an Updater that sets the phase of the worker's beacon. Once the GPU has failed, it passes
// nothing on: peers lose this worker before they update by what the GPU left.
type watched struct {
	train.Updater
	worker *worker
}

func (w watched) Begin(step int) {
	w.worker.beacon.enter(trace.Forward.String())
	w.Updater.Begin(step)
}

func (w watched) GatherRows(rows train.Rows) {
	w.worker.beacon.enter(trace.Backward.String())
	w.Updater.GatherRows(rows)
}

func (w watched) Ready(param int) {
	if w.worker.deviceErr() == nil {
		w.Updater.Ready(param)
	}
}

func (w watched) Wait() (lo, hi int, err error) {
	if err := w.worker.deviceErr(); err != nil {
		return 0, 0, err
	}
	w.worker.beacon.enter(trace.SyncExposed.String())
	lo, hi, err = w.Updater.Wait()
	if err == nil {
		w.worker.beacon.enter(trace.Optimizer.String())
	}
	return lo, hi, err
}

// Sum is called for evaluation and at the end of an epoch.
func (w watched) Sum(counts []int64) error {
	if err := w.worker.deviceErr(); err != nil {
		return err
	}
	w.worker.beacon.enter(trace.Evaluation.String())
	defer w.worker.beacon.enter(trace.Data.String())
	return w.Updater.Sum(counts)
}

// watchedCheckpointer is a Checkpointer that tells the beacon when it keeps a snapshot. It keeps none of a
// GPU that has failed.
type watchedCheckpointer struct {
	train.Checkpointer
	worker *worker
}

// Save implements train.Checkpointer.
func (k watchedCheckpointer) Save(m train.Snapshot, isLast bool) (bool, error) {
	if err := k.worker.deviceErr(); err != nil {
		return false, err
	}
	k.worker.beacon.enter(phaseCheckpoint)
	defer k.worker.beacon.enter(trace.Data.String())
	return k.Checkpointer.Save(m, isLast)
}
