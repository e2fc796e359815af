package comm

import (
	"errors"
	"time"
)

// A rank that has failed stays to tell the others which rank was lost. A peer that is in a collective
// takes the report at once, behind what is left of a frame; one that computes finds it later, if the
// link's buffers could hold it.
const (
	grace    = 500 * time.Millisecond // while nothing moves
	maxGrace = 3 * grace              // in all: a large frame takes its time on a busy machine
)

// discardBytes is how much of the frames that nobody wants any more is read at once.
const discardBytes = 64 << 10

// abort is how pull returns a peer's report that another rank is lost.
type abort struct{ lost int }

func (a *abort) Error() string { return "abort" }

// farewell is how a rank that has failed parts from its peers. Each gets the rest of the frame
// under way, because a link knows only bytes, and then a report. Meanwhile what the peers send is
// read and dropped, so that none of them waits for this rank, up to their own reports, behind which
// nothing follows: then both directions of the link are empty and closing it can destroy nothing.
type farewell struct {
	*executor
	cause    *PeerError
	partings []parting
	discard  []byte
}

// parting is the state of the farewell from one peer.
type parting struct {
	isReporting bool // the frame on its way out is the report
	hasSent     bool // the report is out, or the link takes nothing any more
	hasHeard    bool // the peer's report is in, or nothing will come any more
	head        int  // bytes of the header of the frame on its way in
	rest        int  // bytes of its body still to come
}

// fail finds out which rank was lost, tells the peers and ends the mesh, so that every rank learns
// of the loss at once. It takes as long as the slowest peer takes to answer, at most grace
// after the last byte has moved, and at most maxGrace.
func (x *executor) fail(cause *PeerError) error {
	if errors.Is(cause.Err, ErrClosed) {
		return ErrClosed
	}
	f := &farewell{executor: x, cause: cause, partings: make([]parting, x.mesh.Size()),
		discard: make([]byte, discardBytes)}
	for peer := range f.partings {
		f.partings[peer] = newParting(&x.in[peer])
	}
	own := &f.partings[x.mesh.Rank()]
	own.hasSent, own.hasHeard = true, true
	var report *abort
	var frame *FrameError
	switch from := &f.partings[cause.Rank]; {
	case errors.As(cause.Err, &report):
		from.hasHeard = true
		f.believe(cause.Rank, report.lost)
	case errors.As(cause.Err, &frame):
		from.hasHeard = true // where its next frame begins nobody knows
	}
	f.run(time.Now())
	x.mesh.Shutdown()
	return f.cause
}

// newParting begins where the collective left off.
func newParting(in *lane) parting {
	if in.moved < headBytes {
		return parting{head: in.moved}
	}
	return parting{rest: headBytes + len(in.body) - in.moved}
}

// run ends when every peer but the lost one is done with, or out of grace.
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
			if peer == f.cause.Rank {
				continue // if it lives after all it may say so, but nobody waits for it
			}
			hasMoved = f.tell(peer) || hasMoved
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

// tell sends what goes at once of the frame under way to peer, or of the report behind it.
func (f *farewell) tell(peer int) (hasMoved bool) {
	l, p := &f.out[peer], &f.partings[peer]
	if p.hasSent {
		return false
	}
	if l.moved == 0 && !p.isReporting {
		p.isReporting = true
		h := header{kind: abortFrame, generation: f.config.Generation, lost: uint32(f.cause.Rank)}
		h.put(l.head[:], f.table)
		l.body = nil
	}
	head, body := l.rest()
	n, err := f.mesh.Send(peer, head, body)
	p.hasSent = err != nil || l.advance(n) && p.isReporting
	return n > 0
}

// hear reads and drops what has come from peer, up to its report.
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

// read looks at the header that peer has sent: a report, or a frame to be dropped.
func (f *farewell) read(peer int) {
	p := &f.partings[peer]
	h, err := parse(f.in[peer].head[:], f.table)
	switch {
	case err != nil || h.generation != f.config.Generation:
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

// believe takes over the report of a peer. It beats the end of a link and a time-out, which may
// have befallen another victim; and a rank that reports is not lost, whoever said so. A peer
// that sent a wrong frame stays the culprit, and so does one that was reported before.
func (f *farewell) believe(from, lost int) {
	var frame *FrameError
	var body *BodyError
	var report *ReportError
	isKnown := errors.As(f.cause.Err, &frame) || errors.As(f.cause.Err, &body) ||
		errors.As(f.cause.Err, &report)
	if lost == f.cause.Rank || isKnown && from != f.cause.Rank {
		return
	}
	f.cause = f.executor.lost(lost, f.cause.Op, &ReportError{From: from})
}

// checkReport checks that a report names a rank that its receiver may have lost.
func (x *executor) checkReport(h header) error {
	if int64(h.lost) >= int64(x.mesh.Size()) || int(h.lost) == x.mesh.Rank() {
		return &FrameError{"lost rank", uint64(h.lost), uint64(x.mesh.Size())}
	}
	return nil
}
