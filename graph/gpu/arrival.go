//go:build cuda && linux && amd64

package gpu

import (
	"unsafe"

	"lockstep/graph"
	"lockstep/internal/cuda"
)

// arrivals are downloads in progress, on a queue of their own, so that the GPU computes on.
type arrivals struct {
	stream  *cuda.Stream
	staging staging   // apart from that of other copies, whose end does not empty it
	pending []arrival // in the order in which they were begun
	arrived int       // of them
}

// arrival is one download: from the GPU to pinned memory, and from there to dst.
type arrival struct {
	final, done *cuda.Event // the value is final; it is on the host
	room        []byte
	dst         *graph.Buffer
}

// BeginDownload begins to copy src to dst, when all that was asked for before is computed. Arrived says when
// it is there.
func (e *Executor) BeginDownload(dst, src *graph.Buffer) {
	a := e.arrivals.next(e)
	if e.err != nil {
		return
	}
	room, err := e.arrivals.staging.take(4 * len(dst.F))
	if err != nil {
		e.note(err)
		return
	}
	a.room, a.dst = room, dst
	if computed := e.aside.writerOf(extent{at(src), at(src) + cuda.Pointer(len(room))}); computed != nil {
		e.note(e.arrivals.stream.WaitFor(computed))
	} else {
		e.note(e.stream.Record(a.final))
		e.note(e.arrivals.stream.WaitFor(a.final))
	}
	if len(room) > 0 {
		e.note(e.arrivals.stream.ToHost(unsafe.Pointer(&room[0]), at(src), len(room)))
	}
	e.note(e.arrivals.stream.Record(a.done))
}

// next returns the place of another download.
func (s *arrivals) next(e *Executor) *arrival {
	if s.stream == nil {
		stream, err := e.device.NewStream(cuda.Low)
		e.note(err)
		s.stream, s.staging.device = stream, e.device
	}
	if len(s.pending) < cap(s.pending) {
		s.pending = s.pending[:len(s.pending)+1]
	} else {
		s.pending = append(s.pending, arrival{})
	}
	a := &s.pending[len(s.pending)-1]
	if a.final == nil {
		var err error
		a.final, err = e.device.NewEvent(cuda.Untimed)
		e.note(err)
		a.done, err = e.device.NewEvent(cuda.Untimed)
		e.note(err)
	}
	return a
}

// Arrived returns how many of the downloads that were begun have arrived, in their order. With isLast it
// waits for all of them, and the next one begins anew.
func (e *Executor) Arrived(isLast bool) int {
	s := &e.arrivals
	if isLast {
		e.endPhase() // what follows is a wait of the host
	}
	for s.arrived < len(s.pending) {
		a := &s.pending[s.arrived]
		if e.err == nil {
			if isLast {
				e.note(a.done.Wait())
			} else if isDone, err := a.done.IsDone(); err != nil || !isDone {
				e.note(err)
				break
			}
			copy(bytesOf(a.dst.F), a.room)
		}
		s.arrived++
	}
	n := s.arrived
	if isLast {
		s.pending, s.arrived = s.pending[:0], 0
		s.staging.reset()
	}
	return n
}

// close frees the queue and its events.
func (s *arrivals) close() {
	for _, a := range s.pending[:cap(s.pending)] {
		for _, e := range []*cuda.Event{a.final, a.done} {
			if e != nil {
				e.Close()
			}
		}
	}
	s.staging.close()
	if s.stream != nil {
		s.stream.Close()
	}
}
