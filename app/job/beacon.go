package job

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"lockstep/cluster"
	"lockstep/trace"
	"lockstep/train"
)

// reportEvery is the time between two reports of a worker.
const reportEvery = 100 * time.Millisecond

// beacon says where a worker stands. The training goroutine sets it, another one reads it.
type beacon struct {
	phase   atomic.Uint32 // a trace.Phase
	step    atomic.Int64  // finished
	epoch   atomic.Int64
	samples atomic.Int64
	loss    atomic.Uint64 // bits of a float64
	began   atomic.Int64  // Unix nanoseconds of the first step's beginning; 0: not yet
	trained atomic.Int64  // nanoseconds of training to the end of the last step, without evaluations
	tested  time.Duration // of evaluations so far; the training goroutine's own
	steps   int           // of the run; 0: its length is a time
	from    int           // steps of the parts before
	length  time.Duration // of this part, if that is the run's length
	notes   chan string   // lines for people, few
}

func newBeacon(from, steps int, length time.Duration) *beacon {
	b := &beacon{steps: steps, from: from, length: length, notes: make(chan string, 1)}
	b.step.Store(int64(from))
	b.enter(trace.Data)
	return b
}

func (b *beacon) enter(p trace.Phase) { b.phase.Store(uint32(p)) }

func (b *beacon) read() cluster.Progress {
	p := cluster.Progress{
		Phase: trace.Phase(b.phase.Load()).String(), Step: int(b.step.Load()), Steps: b.steps, From: b.from,
		Length: b.length.Seconds(), Epoch: int(b.epoch.Load()), Samples: b.samples.Load(),
		Loss: math.Float64frombits(b.loss.Load()),
	}
	if began := b.began.Load(); began > 0 {
		p.Seconds = time.Since(time.Unix(0, began)).Seconds()
		p.Trained = time.Duration(b.trained.Load()).Seconds()
	}
	return p
}

// evaluated notes an evaluation and how long it took.
func (b *beacon) evaluated(took time.Duration) { b.tested += took }

// finish notes a step that finished now. What follows the last one is the evaluation.
func (b *beacon) finish(now time.Time, s train.Step) {
	b.trained.Store(now.UnixNano() - b.began.Load() - int64(b.tested))
	b.step.Store(int64(s.Number + 1))
	b.epoch.Store(int64(s.Epoch))
	b.samples.Add(int64(s.Samples))
	b.loss.Store(math.Float64bits(s.Loss))
	if s.Number+1 == b.steps {
		b.enter(trace.Evaluation)
	} else {
		b.enter(trace.Data)
	}
}

// send reports the beacon's state about ten times a second until ctx ends, and a last time then.
func (b *beacon) send(ctx context.Context, report func(cluster.Progress)) {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			b.pass(report)
			report(b.read())
			return
		case <-tick.C:
			b.pass(report)
			report(b.read())
		}
	}
}

// pass reports a note, if there is one.
func (b *beacon) pass(report func(cluster.Progress)) {
	select {
	case note := <-b.notes:
		report(cluster.Progress{Phase: "plan", Note: note})
	default:
	}
}

// watched is an Updater that tells the worker's beacon what the training goroutine does.
type watched struct {
	train.Updater
	worker *worker
}

func (w watched) Begin(step int) {
	w.worker.beacon.enter(trace.Forward)
	w.Updater.Begin(step)
}

func (w watched) Share(rows train.Rows) {
	w.worker.beacon.enter(trace.Backward)
	w.Updater.Share(rows)
}

func (w watched) Wait() (lo, hi int, err error) {
	w.worker.beacon.enter(trace.SyncExposed)
	lo, hi, err = w.Updater.Wait()
	if err == nil {
		w.worker.beacon.enter(trace.Optimizer)
	}
	return lo, hi, err
}

// Sum is called for evaluation and at the end of an epoch.
func (w watched) Sum(counts []int64) error {
	w.worker.beacon.enter(trace.Evaluation)
	return w.Updater.Sum(counts)
}
