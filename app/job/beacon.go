package job

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

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
)

// How long the work may stand still before a worker is taken for stuck, at least. Where steps or batches of
// an evaluation have been measured, it is three times the slowest if that is longer.
const (
	preparing = 10 * time.Minute // to load, to save, and until there is a measure
	loading   = time.Minute      // to wait for a batch of data
	patience  = 3
)

// beacon says where a worker stands. The training goroutine sets it, another one reads it.
type beacon struct {
	notes chan string                // lines for people, few
	group atomic.Pointer[comm.Group] // nil without one

	mu     sync.Mutex
	at     cluster.Progress
	began  time.Time     // the first step; zero: not yet
	tested time.Duration // of evaluations so far
	passed time.Time     // when the phase was entered, or its last batch began
	step   time.Duration // the slowest
	batch  time.Duration // the slowest of an evaluation
}

func newBeacon() *beacon {
	return &beacon{notes: make(chan string, 4), at: cluster.Progress{Phase: phaseLoad}}
}

// follow reports where the worker stands until stop is called.
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

// begin notes that training begins, after from steps of the parts before. Its length is in steps, or a
// time.
func (b *beacon) begin(from, steps int, length time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at.Step, b.at.From, b.at.Steps, b.at.Length = from, from, steps, length.Seconds()
	b.began = time.Now()
	b.enterLocked(trace.Data.String())
}

func (b *beacon) enter(phase string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.enterLocked(phase)
}

func (b *beacon) enterLocked(phase string) {
	b.at.Phase = phase
	b.at.Moves++
	b.passed = time.Now()
}

// move notes that a batch is about to be computed, in training or in an evaluation; it is
// train.Config.Watch.
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

// evaluated notes an evaluation and how long it took.
func (b *beacon) evaluated(took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tested += took
}

// finish notes a step that finished now. What follows the last one is the evaluation.
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

// read returns where the worker stands.
func (b *beacon) read() cluster.Progress {
	b.mu.Lock()
	p := b.at
	p.Limit = b.limit().Seconds()
	if !b.began.IsZero() {
		p.Seconds = time.Since(b.began).Seconds()
	}
	b.mu.Unlock()
	if g := b.group.Load(); g != nil {
		s := g.Standing()
		p.Moves += s.Moves
		if s.Wait != nil {
			p.Wait = &cluster.Wait{Rank: s.Wait.Peer, What: s.Wait.String()}
		}
	}
	return p
}

// limit returns how long the worker may stand still in its phase.
func (b *beacon) limit() time.Duration {
	measured := b.step
	switch b.at.Phase {
	case trace.Evaluation.String():
		measured = b.batch
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

// watched is an Updater that tells the worker's beacon what the training goroutine does.
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

func (w watched) Wait() (lo, hi int, err error) {
	w.worker.beacon.enter(trace.SyncExposed.String())
	lo, hi, err = w.Updater.Wait()
	if err == nil {
		w.worker.beacon.enter(trace.Optimizer.String())
	}
	return lo, hi, err
}

// Sum is called for evaluation and at the end of an epoch.
func (w watched) Sum(counts []int64) error {
	w.worker.beacon.enter(trace.Evaluation.String())
	defer w.worker.beacon.enter(trace.Data.String())
	return w.Updater.Sum(counts)
}

// watchedCheckpointer is a Checkpointer that tells the beacon when it keeps a snapshot.
type watchedCheckpointer struct {
	train.Checkpointer
	beacon *beacon
}

// Save implements train.Checkpointer.
func (k watchedCheckpointer) Save(m train.Snapshot, isLast bool) (bool, error) {
	k.beacon.enter(phaseCheckpoint)
	defer k.beacon.enter(trace.Data.String())
	return k.Checkpointer.Save(m, isLast)
}
