package comm

import (
	"errors"
	"time"
)

// A rank that has failed tells the others which rank was lost before it closes its links. A peer
// that is inside a collective receives the report after the rest of the current frame. A peer that
// is computing finds it later, if the link could buffer it.
const (
	grace    = 500 * time.Millisecond // while nothing moves
	maxGrace = 3 * grace              // in all: a large frame takes its time on a busy machine
)

// verdict is the cause of Post.Lose. The rank may be alive, so it is told like the others.
type verdict struct{ error }

func (v verdict) Unwrap() error { return v.error }

// discardBytes is how much of the frames to be discarded is read at once.
const discardBytes = 64 << 10

// abort is the error of pull when a peer reports that another rank is lost.
type abort struct{ lost int }

func (a *abort) Error() string { return "abort" }

// farewell is the last exchange of a rank that has failed. It sends every peer the rest of the
// current frame, because a link is a stream of bytes, and then a report. Meanwhile it reads and
// discards what the peers send, so that none of them blocks, until their own reports arrive.
// Nothing follows a report: both directions of the link are then empty, and closing it loses no
// data.
type farewell struct {
	*links
	cause    *PeerError
	lost     func(peer int, op Op, err error) *PeerError // the error after the loss of a peer
	isAlive  bool                                        // the lost rank may be alive
	partings []parting
	discard  []byte
}

// parting is the state of a farewell with one peer.
type parting struct {
	isReporting bool // the frame being sent is the report
	hasSent     bool // the report was sent, or the link accepts no more
	hasHeard    bool // the peer's report was received, or nothing more will arrive
	head        int  // bytes received of the header of the current frame
	rest        int  // bytes of its body still to come
}

// fail determines which rank was lost, tells the peers and shuts the mesh down, so that every rank
// learns of the loss at once. It takes as long as the slowest peer takes to answer, at most grace
// after the last byte has moved, and at most maxGrace.
func (l *links) fail(cause *PeerError, lost func(int, Op, error) *PeerError) error {
	if errors.Is(cause.Err, ErrClosed) {
		return ErrClosed
	}
	f := &farewell{links: l, cause: cause, lost: lost, partings: make([]parting, l.mesh.Size()),
		discard: make([]byte, discardBytes)}
	for peer := range f.partings {
		f.partings[peer] = newParting(&l.in[peer])
	}
	f.isAlive = errors.As(cause.Err, &verdict{})
	own := &f.partings[l.mesh.Rank()]
	own.hasSent, own.hasHeard = true, true
	var report *abort
	var frame *FrameError
	switch from := &f.partings[cause.Rank]; {
	case errors.As(cause.Err, &report):
		from.hasHeard = true
		f.believe(cause.Rank, report.lost)
	case errors.As(cause.Err, &frame):
		from.hasHeard = true // the start of its next frame is unknown
	}
	f.run(time.Now())
	l.mesh.Shutdown()
	return f.cause
}

// newParting continues from the state of the link.
func newParting(in *stream) parting {
	if in.moved < headBytes {
		return parting{head: in.moved}
	}
	return parting{rest: headBytes + in.withheld + len(in.body) - in.moved}
}

// run returns when every peer but the lost one is done, or the time is over.
func (f *farewell) run(begin time.Time) {
	end := begin.Add(grace)
	for {
		isPending, hasMoved := false, false
		for peer := range f.partings {
			hasMoved = f.hear(peer) || hasMoved
		}
		for peer := range f.partings {
			f.want[peer] = 0
			if !f.partings[peer].hasHeard {
				f.want[peer] |= Receiving
			}
			hasMoved = f.tell(peer) || hasMoved
			if peer == f.cause.Rank && !f.isAlive {
				continue // the lost peer may be told and may still report, but nobody waits for it
			}
			if !f.partings[peer].hasSent {
				f.want[peer] |= Sending
			}
			isPending = isPending || f.want[peer] != 0
		}
		now := time.Now()
		if hasMoved {
			end = now.Add(min(grace, maxGrace-now.Sub(begin)))
		}
		left := end.Sub(now)
		if !isPending || left <= 0 {
			return
		}
		if !hasMoved && f.mesh.Wait(f.want, left) != nil {
			return
		}
	}
}

// tell sends without blocking what is left of the current frame to peer, and then the report.
func (f *farewell) tell(peer int) (hasMoved bool) {
	l, p := &f.out[peer], &f.partings[peer]
	if p.hasSent {
		return false
	}
	if l.moved == 0 && !p.isReporting {
		p.isReporting = true
		h := header{kind: abortFrame, generation: f.generation, lost: uint32(f.cause.Rank)}
		h.put(l.head[:], f.table)
		l.body = nil
	}
	head, body := l.rest()
	n, err := f.mesh.Send(peer, head, body)
	p.hasSent = err != nil || l.advance(n) && p.isReporting
	return n > 0
}

// hear reads and discards what peer has sent, up to its report.
func (f *farewell) hear(peer int) (hasMoved bool) {
	l, p := &f.in[peer], &f.partings[peer]
	if p.hasHeard {
		return false
	}
	head, body := l.head[p.head:], []byte(nil)
	if p.rest > 0 {
		head, body = nil, f.discard[:min(p.rest, len(f.discard))]
	}
	n, err := f.mesh.Recv(peer, head, body)
	switch {
	case err != nil:
		p.hasHeard, p.hasSent = true, true // a link ends in both directions
	case p.rest > 0:
		p.rest -= n
	default:
		if p.head += n; p.head == headBytes {
			p.head = 0
			f.read(peer)
		}
	}
	return n > 0
}

// read parses the header that peer has sent: that of a report, or of a frame to be discarded.
func (f *farewell) read(peer int) {
	p := &f.partings[peer]
	h, err := parse(f.in[peer].head[:], f.table)
	switch {
	case err != nil || h.generation != f.generation:
		p.hasHeard = true
	case h.kind == abortFrame:
		p.hasHeard = true
		if f.checkReport(h) == nil {
			f.believe(peer, int(h.lost))
		}
	default:
		p.rest = int(h.length)
	}
}

// believe adopts the report of a peer. A report takes precedence over the end of a link and over a
// time-out, whose rank may itself be a victim; and a rank that sends a report is not lost, even if
// another reported it. The cause stays if it is a wrong frame, or an earlier report by another
// rank.
func (f *farewell) believe(from, lost int) {
	var frame *FrameError
	var body *BodyError
	var report *ReportError
	isKnown := errors.As(f.cause.Err, &frame) || errors.As(f.cause.Err, &body) ||
		errors.As(f.cause.Err, &report)
	if f.isAlive || lost == f.cause.Rank || isKnown && from != f.cause.Rank {
		return
	}
	f.cause = f.lost(lost, f.cause.Op, &ReportError{From: from})
}

// checkReport checks that the lost rank of a report is valid and is not this rank.
func (l *links) checkReport(h header) error {
	if int64(h.lost) >= int64(l.mesh.Size()) || int(h.lost) == l.mesh.Rank() {
		return &FrameError{"lost rank", uint64(h.lost), uint64(l.mesh.Size())}
	}
	return nil
}
