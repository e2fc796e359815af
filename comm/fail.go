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

// abort is the error of pull when a peer reports that another rank is lost, or that this one is in
// another collective.
type abort struct {
	lost       int
	isMismatch bool
	length     int    // of the body
	beyond     []byte // what was received after the header
}

func (a *abort) Error() string { return "abort" }

// abort returns what an abortFrame says.
func (h header) abort() *abort {
	return &abort{lost: int(h.lost), isMismatch: h.frame == mismatched, length: int(h.length)}
}

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
	mismatch *MismatchError                              // with the lost rank, which is alive; nil: none
	partings []parting
	discard  []byte
}

// parting is the state of a farewell with one peer.
type parting struct {
	isReporting bool   // the frame being sent is the report
	hasSent     bool   // the report was sent, or the link accepts no more
	hasHeard    bool   // the peer's report was received, or nothing more will arrive
	head        int    // bytes received of the header of the current frame
	rest        int    // bytes of its body still to come
	isReport    bool   // that frame is the peer's report
	text        []byte // of the report
	beyond      []byte // what was received already, after the header of the frame that failed
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
	case errors.As(cause.Err, &f.mismatch):
		*from = parting{rest: f.mismatch.length, beyond: f.mismatch.beyond}
		f.mismatch.Own = cause.doing()
	case errors.As(cause.Err, &report):
		*from = parting{isReport: true, rest: report.length, beyond: report.beyond,
			hasHeard: report.length == 0}
		if report.isMismatch && report.lost == l.mesh.Rank() {
			f.mismatch = &MismatchError{Own: cause.doing()}
			f.cause = lost(cause.Rank, cause.Op, f.mismatch)
		} else {
			f.believe(cause.Rank, report)
		}
	case errors.As(cause.Err, &frame):
		from.hasHeard = true // the start of its next frame is unknown
	}
	f.run(time.Now())
	if f.mismatch != nil {
		f.mismatch.Peer = printable(f.partings[f.cause.Rank].text)
	}
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
			if peer == f.cause.Rank && !f.isAlive && f.mismatch == nil {
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
		l.body = nil
		if f.mismatch != nil {
			l.body, h.frame = []byte(f.mismatch.Own), mismatched
			h.length = uint64(len(l.body))
		}
		h.put(l.head[:], f.table)
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
	n, err := f.receive(peer, head, body)
	switch {
	case err != nil:
		p.hasHeard, p.hasSent = true, true // a link ends in both directions
	case p.rest > 0:
		p.rest -= n
		if p.isReport {
			p.text = append(p.text, body[:n]...)
			p.hasHeard = p.rest == 0
		}
	default:
		if p.head += n; p.head == headBytes {
			p.head = 0
			f.read(peer)
		}
	}
	return n > 0
}

// receive is Recv of one of head and body, of the bytes that were received already, then of others.
func (f *farewell) receive(peer int, head, body []byte) (n int, err error) {
	p := &f.partings[peer]
	if len(p.beyond) == 0 {
		return f.mesh.Recv(peer, head, body)
	}
	if body == nil {
		body = head
	}
	n = copy(body, p.beyond)
	p.beyond = p.beyond[n:]
	return n, nil
}

// read parses the header that peer has sent: that of a report, or of a frame to be discarded.
func (f *farewell) read(peer int) {
	p := &f.partings[peer]
	h, err := parse(f.in[peer].head[:], f.table)
	switch {
	case err != nil || h.generation != f.generation:
		p.hasHeard = true
	case h.kind == abortFrame:
		p.isReport, p.rest = true, min(int(h.length), maxAbout)
		p.hasHeard = p.rest == 0
		if f.checkReport(h) == nil && int(h.lost) != f.mesh.Rank() {
			f.believe(peer, h.abort())
		}
	default:
		p.rest = int(h.length)
	}
}

// believe adopts the report of a peer. A report takes precedence over the end of a link and over a
// time-out, whose rank may itself be a victim; and a rank that sends a report is not lost, even if
// another reported it. The cause stays if it is a wrong frame, or an earlier report by another
// rank.
func (f *farewell) believe(from int, a *abort) {
	var frame *FrameError
	var body *BodyError
	var report *ReportError
	isKnown := errors.As(f.cause.Err, &frame) || errors.As(f.cause.Err, &body) ||
		errors.As(f.cause.Err, &report)
	if f.isAlive || f.mismatch != nil || a.lost == f.cause.Rank || isKnown && from != f.cause.Rank {
		return
	}
	f.cause = f.lost(a.lost, f.cause.Op, &ReportError{From: from, IsMismatch: a.isMismatch})
}

// checkReport checks that the lost rank of a report is valid, and is this rank only if it is not lost
// but in another collective.
func (l *links) checkReport(h header) error {
	if int64(h.lost) >= int64(l.mesh.Size()) || int(h.lost) == l.mesh.Rank() && h.frame != mismatched {
		return &FrameError{"lost rank", uint64(h.lost), uint64(l.mesh.Size())}
	}
	if h.length > maxAbout {
		return &FrameError{"length", h.length, maxAbout}
	}
	return nil
}
