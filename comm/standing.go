package comm

import (
	"fmt"
	"strings"
)

// Standing is the progress of a group at one time.
type Standing struct {
	// Moves grows whenever bytes move or a collective ends.
	Moves uint64
	// Wait is what the current collective waits for, or nil if there is none or it waits for no
	// peer.
	Wait *Wait
}

// Wait describes a collective that waits for a peer.
type Wait struct {
	Peer int
	Op   Op
	Name string // Call.Name
	// Number counts the group's collectives, from 1; that of a message is 0.
	Number uint32
	// Bytes is the size of the call's data. The peer owes Due bytes in the current step, of which
	// Received have arrived. With a codec, Received counts encoded bytes of the current frame.
	Bytes, Received, Due int64
}

// String returns operation, name and bytes: "all-reduce (bucket 2 of 3, 1024 bytes; 0 of the next
// 512 received)".
func (w *Wait) String() string {
	if what := w.what(); what != "" {
		return fmt.Sprintf("%v (%s)", w.Op, what)
	}
	return w.Op.String()
}

// what returns name and bytes, or "" if there are none.
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

// Standing returns the group's progress. It may be called from any goroutine.
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

// bytes returns the size of this rank's data in the call.
func (c *Call) bytes() int64 {
	if c.Op.isSum() && len(c.Pieces) > 0 {
		return 4 * int64(len(c.Pieces[0]))
	}
	return int64(len(c.Buf))
}

// await records which peer the step waits for.
func (x *executor) await() {
	peer := x.blocking()
	received, due := x.owed(peer)
	x.received.Store(received)
	x.due.Store(due)
	x.waitsFor.Store(int32(peer) + 1)
}

// resume records that bytes have moved.
func (x *executor) resume() {
	x.moves.Add(1)
	if x.waitsFor.Load() != 0 {
		x.waitsFor.Store(0)
	}
}

// owed returns how many bytes peer owes in the current step, and how many of them have arrived.
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

// lost returns the error of the current call after the loss of a peer.
func (x *executor) lost(peer int, op Op, err error) *PeerError {
	e := &PeerError{Rank: peer, Op: op, Err: err}
	if x.call != nil {
		received, due := x.owed(peer)
		e.Wait = &Wait{Peer: peer, Op: op, Name: x.call.Name, Number: x.sequence, Bytes: x.call.bytes(),
			Received: received, Due: due}
	}
	return e
}
