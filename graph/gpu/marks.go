//go:build cuda && linux && amd64

package gpu

import (
	"time"

	"lockstep/internal/cuda"
	"lockstep/trace"
)

// Note: marks
//
// The host queues a pass and then waits, so its clock says when it waited. A mark is a timed event
// between what is queued for one phase and for the next: it notes when the GPU came there. The time
// between two marks includes what the GPU waits for in between: samples that still travel, ops that the host
// has not queued yet. It ends with the last op, not with what the host then waits for.

// marks are where phases begin in the queue.
type marks struct {
	events []*cuda.Event // kept for the next marks
	phases []trace.Phase
}

// Mark notes in the queue that what follows belongs to a phase, or with trace.Other to none.
func (e *Executor) Mark(p trace.Phase) {
	m := &e.marks
	if len(m.phases) == len(m.events) {
		m.events = append(m.events, e.newEvent())
	}
	e.record(m.events[len(m.phases)])
	m.phases = append(m.phases, p)
}

// endPhase marks the end of a phase that has been marked and has not ended.
func (e *Executor) endPhase() {
	if n := len(e.marks.phases); n > 0 && e.marks.phases[n-1] != trace.Other {
		e.Mark(trace.Other)
	}
}

// Marked waits until the GPU has come to the last mark, and returns how long it took for each phase that was
// marked. It forgets the marks. There are none of an executor that has failed.
func (e *Executor) Marked() (took trace.Phases) {
	m := &e.marks
	phases := m.phases
	m.phases = m.phases[:0]
	if len(phases) == 0 || e.err != nil {
		return took
	}
	e.note(m.events[len(phases)-1].Wait())
	for i, p := range phases[:len(phases)-1] {
		if p != trace.Other {
			took[p] += time.Duration(e.between(m.events[i], m.events[i+1]) * float64(time.Second))
		}
	}
	return took
}

// closeMarks frees the events.
func (e *Executor) closeMarks() {
	for _, event := range e.marks.events {
		if event != nil {
			event.Close()
		}
	}
	e.marks = marks{}
}

// Peak returns the operations per second of a product of two matrices of PeakRows rows in the executor's
// precision; 0 without cuBLASLt, or if the GPU has no room for them.
func (e *Executor) Peak() float64 {
	const room = 3 * 4 * PeakRows * PeakRows
	if e.err != nil || e.blas == nil {
		return 0
	}
	if free, _, err := e.device.Memory(); err != nil || free < 2*room {
		return 0
	}
	if rate := e.MeasureProduct(PeakRows); e.err == nil {
		return rate
	}
	return 0
}

// MemoryInUse returns the bytes of the GPU's memory that are in use, by all processes that use it; 0 if the
// driver does not tell. It may be called between steps.
func (e *Executor) MemoryInUse() int64 {
	if e.err != nil {
		return 0
	}
	free, total, err := e.device.Memory()
	if err != nil {
		return 0
	}
	return total - free
}
