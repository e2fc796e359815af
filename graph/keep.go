package graph

import "fmt"

// Keep makes a program that was compiled with Options.Kept read its parameters from weights and, in training,
// write gradients to gradient: vectors of the layout of Variables.Weights in the executor's memory. Gradient
// may be the zero Span. It may be called before any pass; variables must be attached.
func (p *Program) Keep(weights, gradient Span) {
	fits := weights.Len == p.flat && (gradient.Handle == nil || gradient.Len == p.flat)
	if !p.isKept || p.segments == nil || !fits {
		panic(fmt.Sprintf("graph: keep: %d weights and %d gradients, want %d (kept %v, attached %v)",
			weights.Len, gradient.Len, p.flat, p.isKept, p.segments != nil))
	}
	if len(p.params) > 0 && p.params[0].Device != part0(weights, p.segments) {
		p.forget()
	}
	for i, s := range p.segments {
		p.params[i].Device = Span{weights.Handle, weights.Offset + s.Offset, s.Len}
		if gradient.Handle != nil && p.gradients != nil {
			p.gradients[i].Device = Span{gradient.Handle, gradient.Offset + s.Offset, s.Len}
		}
	}
}

// part0 returns the part of the first parameter.
func part0(vector Span, segments []Segment) Span {
	return Span{vector.Handle, vector.Offset + segments[0].Offset, segments[0].Len}
}

// Note: recordings
//
// Queueing the ops of a small network takes longer than computing them. An executor that can record what is
// queued does so at the second run of a pass, and replays it from then on. Nothing in a pass may then depend
// on the run but the contents of memory: no texts, whose number of rows does, and no dropout, whose keys do.

// recorder is an Executor that can record work and start it as a whole.
type recorder interface {
	// Record returns what f queues, instead of queueing it; nil if that is not possible.
	Record(f func()) Recording
}

// Recording is work of an executor.
type Recording interface {
	// Replay queues the work.
	Replay()
	// Close frees the recording.
	Close()
}

// recorded are a program's recordings: that of the forward pass, and of the backward pass for each vector of
// gradients.
type recorded struct {
	forward   tape
	backward  []tape
	gradients []Span // of the first parameter, for each of backward
}

// tape is a recording of one pass, which the second run makes.
type tape struct {
	runs      int
	recording Recording
}

// backwardTo returns the recording for gradients that lie here.
func (r *recorded) backwardTo(gradients []*Buffer) *tape {
	if len(gradients) == 0 {
		return &tape{}
	}
	for i, s := range r.gradients {
		if s == gradients[0].Device {
			return &r.backward[i]
		}
	}
	r.gradients = append(r.gradients, gradients[0].Device)
	r.backward = append(r.backward, tape{})
	return &r.backward[len(r.backward)-1]
}

// isReplayable reports whether a pass can be recorded.
func (p *Program) isReplayable() bool {
	_, can := p.executor.(recorder)
	return can && p.isKept && p.starts == nil && p.code.sites == 0
}

// replay runs steps from a recording, if there is one by now, and reports whether it did.
func (p *Program) replay(t *tape, steps []step) bool {
	t.runs++
	if t.runs == 2 {
		t.recording = p.executor.(recorder).Record(func() {
			for i := range steps {
				steps[i].run(&steps[i].args)
			}
			p.rejoin()
		})
	}
	if t.recording == nil {
		return false
	}
	t.recording.Replay()
	return true
}

// forget drops all recordings, because values have moved.
func (p *Program) forget() {
	for _, t := range append(p.recorded.backward, p.recorded.forward) {
		if t.recording != nil {
			t.recording.Close()
		}
	}
	p.recorded = recorded{}
}
