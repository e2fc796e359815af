package comm

import (
	"fmt"
	"strings"
)

// Standing is where a group stands at a moment.
type Standing struct {
	// Moves grows whenever bytes move or a collective ends.
	Moves uint64
	// Wait is what the collective under way waits for; nil: there is none, or it goes on by itself.
	Wait *Wait
}

// Wait is a collective that waits for a peer.
type Wait struct {
	Peer int
	Op   Op
	Name string // Call.Name
	// Bytes is the size of the call's memory. The peer owes Due bytes in the step under way, of which
	// Received have come; with a codec, Received counts those of its form for the frame under way.
	Bytes, Received, Due int64
}

// String names operation, bucket and bytes: "all-reduce (bucket 2 of 3, 1024 bytes; 0 of the next 512
// received)".
func (w *Wait) String() string {
	if what := w.what(); what != "" {
		return fmt.Sprintf("%v (%s)", w.Op, what)
	}
	return w.Op.String()
}

// what names bucket and bytes; "" if there are none.
func (w *Wait) what() string {
	text := w.Name
	if w.Bytes > 0 {
		text = strings.TrimPrefix(fmt.Sprintf("%s, %d bytes", text, w.Bytes), ", ")
	}
	if w.Due > 0 {
		text += fmt.Sprintf("; %d of the next %d received", w.Received, w.Due)
	}
	return strings.TrimPrefix(text, "; ")
}

// Standing returns where the group stands. It may be called from any goroutine.
func (g *Group) Standing() Standing {
	g.mu.Lock()
	defer g.mu.Unlock()
	x := g.exec
	s := Standing{Moves: x.moves.Load()}
	if peer := int(x.waitsFor.Load()) - 1; g.current != nil && peer >= 0 {
		c := &g.current.call
		s.Wait = &Wait{Peer: peer, Op: c.Op, Name: c.Name, Bytes: c.bytes(),
			Received: x.received.Load(), Due: x.due.Load()}
	}
	return s
}

// bytes returns the size of a rank's memory that the call is about.
func (c *Call) bytes() int64 {
	if c.Op.isSum() && len(c.Pieces) > 0 {
		return 4 * int64(len(c.Pieces[0]))
	}
	return int64(len(c.Buf))
}

// await notes which peer the step waits for.
func (x *executor) await() {
	peer := x.blocking()
	received, due := x.owed(peer)
	x.received.Store(received)
	x.due.Store(due)
	x.waitsFor.Store(int32(peer) + 1)
}

// resume notes that bytes have moved.
func (x *executor) resume() {
	x.moves.Add(1)
	if x.waitsFor.Load() != 0 {
		x.waitsFor.Store(0)
	}
}

// owed returns how many bytes peer owes in the step under way, and how many of them have come.
func (x *executor) owed(peer int) (received, due int64) {
	l := &x.in[peer]
	for i, t := range l.transfers {
		n := int64(t.Len() * x.unit)
		due += n
		if i < l.next {
			received += n
		} else if i == l.next {
			received += min(n, int64(max(0, l.moved-headBytes)))
		}
	}
	return received, due
}

// lost returns the error of the call under way that has lost a peer.
func (x *executor) lost(peer int, op Op, err error) *PeerError {
	e := &PeerError{Rank: peer, Op: op, Err: err}
	if x.call != nil {
		received, due := x.owed(peer)
		e.Wait = &Wait{Peer: peer, Op: op, Name: x.call.Name, Bytes: x.call.bytes(),
			Received: received, Due: due}
	}
	return e
}
