package train

import (
	"time"

	"lockstep/graph"
	"lockstep/trace"
)

// Stopwatch is an Executor that computes while the host goes on, and that has a clock of its own. The phases
// of the host's clock say of it when the host waited for it.
type Stopwatch interface {
	graph.Executor
	// Mark notes in the executor's queue that what follows belongs to a phase; trace.Other: to none.
	Mark(p trace.Phase)
	// Marked waits until the executor has come to the last mark, and returns how long it took for the phases
	// that were marked since the last call. Gaps in which it had nothing to do count for the phase around
	// them.
	Marked() trace.Phases
}

// Watched is what a [Stopwatch] showed.
type Watched struct {
	// Steps is the number of steps that were watched, and Time how long they took on the host.
	Steps int
	Time  time.Duration
	// Phases are how long the executor took for forward and backward passes, with what they wait for, and for
	// updates if it makes them. The rest of Time it had nothing to do, or to wait for the host.
	Phases trace.Phases
}

// Marks cost some microseconds, as much as an op of a small network, so one step of watchEvery is watched,
// from step watchFirst of a run on: in the first two the executor prepares and records its passes.
const (
	watchEvery = 16
	watchFirst = 3
)

// watch times some steps by an executor's clock.
type watch struct {
	executor Stopwatch // nil: there is none
	made     int       // steps so far
	isOn     bool      // in this step
	seen     Watched
}

// newWatch returns the watch over what c computes with.
func newWatch(c Config) watch {
	s, _ := c.Executor.(Stopwatch)
	return watch{executor: s}
}

// begin decides whether the next step is watched.
func (w *watch) begin() {
	w.isOn = w.executor != nil && w.made%watchEvery == watchFirst
	w.made++
	if w.isOn {
		w.collect() // what was marked long ago
	}
}

// mark notes that p begins, in a step that is watched.
func (w *watch) mark(p trace.Phase) {
	if w.isOn {
		w.executor.Mark(p)
	}
}

// end notes how long a step took.
func (w *watch) end(took time.Duration) {
	if w.isOn {
		w.isOn = false
		w.seen.Steps++
		w.seen.Time += took
	}
}

// collect adds what the executor says of the last step that was watched.
func (w *watch) collect() {
	for p, d := range w.executor.Marked() {
		w.seen.Phases[p] += d
	}
}

// result returns what was seen; nil if nothing was.
func (w *watch) result() *Watched {
	if w.seen.Steps == 0 {
		return nil
	}
	w.collect()
	return &w.seen
}
