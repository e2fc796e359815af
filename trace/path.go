package trace

import (
	"maps"
	"slices"
)

// Hop is a part of the critical path of a step: what the step's end waited for in some time.
type Hop struct {
	Rank       int
	Name       string // of the span, or "other"
	Number     int    // of the span
	Begin, End int64  // on the axis of the time line
}

// maxHops bounds a path.
const maxHops = 1 << 12

// CriticalPath returns the chain of spans through ranks that the end of a step waited for, the first one
// first: from the end of the rank that ended last back to the begin of the step on some rank. Where a rank
// waited for the first bytes of another one, the path goes on with what that rank did before it sent them. It
// is as right as the clocks are aligned: see [Timeline.Error].
func CriticalPath(lanes []Lane) []Hop {
	at := walker{lanes: lanes}
	for rank, l := range lanes {
		if rank == 0 || l.End > lanes[at.rank].End {
			at.rank, at.now = rank, l.End
		}
	}
	for len(at.hops) < maxHops && at.now > lanes[at.rank].Begin {
		at.back()
	}
	slices.Reverse(at.hops)
	return at.hops
}

// walker goes back in time along the path.
type walker struct {
	lanes []Lane
	rank  int
	now   int64
	hops  []Hop
}

// hop adds one from begin to now, and goes back to begin, but never forward.
func (w *walker) hop(name string, number int, begin int64) {
	begin = min(w.now, max(begin, w.lanes[w.rank].Begin))
	if begin < w.now {
		w.hops = append(w.hops, Hop{w.rank, name, number, begin, w.now})
	}
	w.now = begin
}

// back goes back over what the training goroutine did last, by a nanosecond at least.
func (w *walker) back() {
	var last *Span // the outermost one that began before now
	spans := w.lanes[w.rank].Tracks[TrainTrack]
	for i := range spans {
		s := &spans[i]
		if s.Name == StepSpan || s.Start >= w.now || last != nil && s.End() <= last.End() {
			continue
		}
		last = s
	}
	switch {
	case last == nil:
		w.hop("other", 0, w.lanes[w.rank].Begin)
	case last.End() < w.now:
		w.hop("other", 0, last.End())
	case slices.Contains(Waits(), last.Name):
		w.wait(last)
	default:
		w.hop(last.Name, last.Number, last.Start)
	}
}

// wait goes back over a wait: to the exchange that ended last, and from there to whom that waited for.
func (w *walker) wait(s *Span) {
	e := w.exchange(w.rank, func(e *Span) bool {
		return e.End() <= w.now && e.End() > s.Start && e.Start < w.now
	})
	if e == nil {
		w.hop(s.Name, s.Number, s.Start)
		return
	}
	w.hop(s.Name, s.Number, e.End())
	for {
		x := e.Exchange
		if peer := x.Peer; x.Waited > 0 && peer >= 0 && peer < len(w.lanes) && peer != w.rank {
			own := w.exchange(peer, func(o *Span) bool { return o.Name == e.Name && o.Number == e.Number })
			met := e.Start + int64(x.Waited)
			if own != nil && own.Start > e.Start && min(own.Start, met) < w.now { // else both were there
				w.hop(e.Name, e.Number, min(own.Start, met))
				w.rank = peer
				return
			}
		}
		w.hop(e.Name, e.Number, e.Start)
		const apart = 20_000 // ns between two exchanges one of which waits for the other
		before := w.exchange(w.rank, func(o *Span) bool { return o.End() <= e.Start && o.Start < e.Start })
		if x.Queued <= apart || before == nil || before.End() < e.Start-apart {
			return
		}
		e = before
	}
}

// exchange returns the exchange of a rank that ended last of those that are wanted, of several the one of the
// track whose name is first; nil: there is none.
func (w *walker) exchange(rank int, isWanted func(*Span) bool) (found *Span) {
	tracks := w.lanes[rank].Tracks
	for _, name := range slices.Sorted(maps.Keys(tracks)) {
		spans := tracks[name]
		for i := range spans {
			s := &spans[i]
			if s.Exchange != nil && isWanted(s) && (found == nil || s.End() > found.End()) {
				found = s
			}
		}
	}
	return found
}
