package comm

import (
	"errors"
	"time"
	"unsafe"
)

// Mesh is one rank's ends of its links to all peers. A link is reliable, ordered and knows no
// message boundaries; the Group writes the frames.
//
// Send and Recv never wait, so one thread can drive every link in both directions at once: there
// is no thread per peer and no order of calls that could deadlock. A Mesh is used by one
// goroutine at a time, except Shutdown. An error of Send or Recv belongs to that peer's link.
type Mesh interface {
	// Rank is this end's rank, Size the number of ranks.
	Rank() int
	Size() int

	// Send hands over as many bytes of head followed by body as go without waiting and returns
	// how many. 0 and no error means the link is full; the next call goes on with the same bytes.
	Send(peer int, head, body []byte) (n int, err error)

	// Recv fills head and then body with as many bytes as have arrived and returns how many.
	// 0 and no error means nothing is there yet. After the peer's end it returns io.EOF.
	Recv(peer int, head, body []byte) (n int, err error)

	// Wait blocks until a link may move in a direction want[peer] asks for, or the time is over.
	// It may return early.
	Wait(want []Direction, timeout time.Duration) error

	// Shutdown ends both directions of every link: peers receive what was sent and then the end,
	// calls in progress here return. It may be called at any time and more than once.
	Shutdown()

	// Close frees the links, after Shutdown and when no call is in progress.
	Close() error
}

// Lender is a Mesh whose peers can read some memory in place: bytes sent from there are copied once,
// by the receiver, and count as sent when it has them.
type Lender interface {
	// Alloc returns n zeros in such memory, which is gone after Close, or nil if there is no room. It
	// may be called at any time.
	Alloc(n int) []float32
}

// Checker is a Mesh with links that can change bytes on the way, as networks do. The group sends a checksum
// of every body over such a link and checks it at the other end; both ends must agree on which links are
// checked.
type Checker interface {
	// IsChecked reports whether bodies are checked on the link to peer.
	IsChecked(peer int) bool
}

// isChecked is IsChecked of any mesh.
func isChecked(m Mesh, peer int) bool {
	c, ok := m.(Checker)
	return ok && c.IsChecked(peer)
}

// Alloc returns a vector of n zeros that starts on a cache line, from m's memory if m is a Lender with
// room for it.
func Alloc(m Mesh, n int) []float32 {
	if lender, ok := m.(Lender); ok {
		if v := lender.Alloc(n); v != nil {
			return v
		}
	}
	const line = 64
	v := make([]float32, n+line/4)
	skip := (line - uintptr(unsafe.Pointer(&v[0]))%line) % line / 4
	return v[skip:][:n:n]
}

// Direction says which ways of a link a Wait is interested in.
type Direction uint8

// The two ways of a link; they combine with |.
const (
	Sending Direction = 1 << iota
	Receiving
)

// ErrClosed is returned by a mesh or group after its Shutdown or Close.
var ErrClosed = errors.New("comm: closed")

// ErrTimeout is the cause in a PeerError when no byte moved for the group's Timeout.
var ErrTimeout = errors.New("no progress within the time-out")
