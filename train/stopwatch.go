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
	// Phases are how long the executor took from the first to the last op of forward and backward passes,
	// with what it waits for in between, and for updates if it makes them.
	Phases trace.Phases
}

// Each mark takes the host a call and the executor a place in its queue, as a small op does, so one step of
// watchEvery is watched, from step watchFirst of a run on: in the first two the executor prepares and records
// its passes. Steps whose forward pass waits for weights are not watched.
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
	isDue := w.executor != nil && w.made%watchEvery == watchFirst
	if isDue {
		w.collect() // what was marked long ago
	}
	w.isOn, w.made = isDue, w.made+1
}

// drop forgets what was marked in this step, which is not watched after all.
func (w *watch) drop() {
	if w.isOn {
		w.executor.Marked()
		w.isOn = false
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

// collect adds what the executor says of the last step that was watched, if it came to its end.
func (w *watch) collect() {
	took := w.executor.Marked()
	if w.isOn {
		return
	}
	for p, d := range took {
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
