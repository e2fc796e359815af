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
	"lockstep/data"
	"lockstep/trace"
	"lockstep/train"
)

// What a worker does besides the phases of trace.
const (
	PhaseLoad       = "load data"
	PhaseLink       = "link up"
	PhaseSetUp      = "set up"
	PhaseCheckpoint = "checkpoint"
	PhaseSave       = "save"
	PhaseProgram    = "program" // what the calling program does with a step or an evaluation
	phaseServe      = "serve"   // of a server that waits for gradients
	PhaseUpdate     = "update"  // of a server
)

// Least times without progress before a worker counts as stuck. In a phase with measured steps or evaluation
// batches the limit is three times the slowest one, if that is longer. The time in which other processes had
// the worker's cores is added: it is slow then, not stuck.
const (
	Preparing = 10 * time.Minute // for loading, saving, and phases without a measured time
	loading   = time.Minute      // for waiting for a batch of data
	patience  = 3
	standing  = time.Second // after so long without progress the worker looks whether others have its cores
)

// Links are the links of a rank to its peers while something drives them: a *comm.Group or a *comm.Post.
type Links interface {
	Counters() comm.Counters
	Standing() comm.Standing
	Close() error
}

// Watch adds what moves on the links to the progress.
func (b *Beacon) Watch(l Links) { b.links.Store(&l) }

// Beacon holds the progress of a worker. The training goroutine sets it, another goroutine reads it.
type Beacon struct {
	links atomic.Pointer[Links] // nil before they are in use, or if there are none

	mu      sync.Mutex
	at      cluster.Progress
	Began   time.Time     // start of the first step; zero before it
	tested  time.Duration // total time of evaluations
	step    time.Duration // slowest step
	batch   time.Duration // slowest batch of the evaluations of set
	set     *data.Set     // of the last evaluation
	scoring time.Time     // start of the evaluation in progress
	scored  time.Time     // end of its last batch

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

// NewBeacon returns the beacon of a rank that loads its data.
func NewBeacon() *Beacon {
	return &Beacon{at: cluster.Progress{Phase: PhaseLoad},
		still: standstill{starving: host.Starving}}
}

// Follow reports the worker's progress until stop is called.
func (b *Beacon) Follow(report func(cluster.Progress)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		cluster.Beat(ctx, b.Read, report)
	}()
	return func() {
		cancel()
		<-done
	}
}

// Begin notes that training begins at step from. The length is a number of steps or a time.
func (b *Beacon) Begin(from, steps int, length time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at.Step, b.at.From, b.at.Steps, b.at.Length = from, from, steps, length.Seconds()
	b.Began = time.Now()
	b.enterLocked(trace.Data.String())
}

// Serve notes that a server waits for gradients, after so many updates.
func (b *Beacon) Serve(steps int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at.Step = steps
	b.enterLocked(phaseServe)
}

// Enter notes the start of a phase.
func (b *Beacon) Enter(phase string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.enterLocked(phase)
}

func (b *Beacon) enterLocked(phase string) {
	if phase != trace.Evaluation.String() {
		b.at.Scored = 0
	}
	b.at.Phase = phase
	b.at.Moves++
}

// Move notes the start of a batch, in training or in an evaluation; it is train.Config.Watch.
func (b *Beacon) Move(p trace.Phase) { b.Enter(p.String()) }

// Scored notes the start of an evaluation and the end of each of its batches; it is train.Config.Scored. What
// a batch takes is known from one that is done, and not for another set, whose samples may be larger.
func (b *Beacon) Scored(set *data.Set, done, all int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if done > 0 {
		b.batch = max(b.batch, now.Sub(b.scored))
	} else if b.scoring = now; set != b.set {
		b.batch, b.set = 0, set
	}
	b.scored = now
	b.enterLocked(trace.Evaluation.String())
	b.at.Scored, b.at.Scoring = float64(done)/float64(all), now.Sub(b.scoring).Seconds()
}

// Evaluated notes an evaluation and how long it took.
func (b *Beacon) Evaluated(took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tested += took
}

// Finish notes the end of a step. The last step is followed by the evaluation.
func (b *Beacon) Finish(now time.Time, s train.Step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at.Trained = (now.Sub(b.Began) - b.tested).Seconds()
	b.at.Step, b.at.Epoch, b.at.Loss = s.Number+1, s.Epoch, s.Loss
	b.at.Samples += int64(s.Samples)
	b.step = max(b.step, s.Time)
	if s.Number+1 == b.at.Steps {
		b.enterLocked(trace.Evaluation.String())
	} else {
		b.enterLocked(trace.Data.String())
	}
}

// Read returns the worker's progress.
func (b *Beacon) Read() cluster.Progress {
	b.mu.Lock()
	p, limit := b.at, b.limit()
	if !b.Began.IsZero() {
		p.Seconds = time.Since(b.Began).Seconds()
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
	p.Limit = max(limit, min(limit+lost, Preparing)).Seconds()
	return p
}

// Phase returns what the worker does. Any goroutine may ask.
func (b *Beacon) Phase() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at.Phase
}

// limit returns how long the worker may make no progress in its phase before it counts as stuck.
func (b *Beacon) limit() time.Duration {
	measured := b.step
	switch b.at.Phase {
	case trace.Evaluation.String():
		measured = b.batch
	case phaseServe, PhaseUpdate:
		return cluster.StuckAfter
	case trace.Data.String():
		return max(loading, patience*b.step)
	case PhaseLoad, PhaseLink, PhaseSetUp, PhaseCheckpoint, PhaseSave, PhaseProgram:
		measured = 0
	}
	if measured == 0 {
		return Preparing
	}
	return max(cluster.StuckAfter, patience*measured)
}
