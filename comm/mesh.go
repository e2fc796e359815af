package comm

import (
	"errors"
	"time"
	"unsafe"
)

// Mesh is one rank's ends of its links to all peers. A link is a reliable, ordered stream of bytes;
// the Group writes frames to it.
//
// Send and Recv never block, so one thread can drive every link in both directions. There is no
// thread per peer, and no order of calls that deadlocks. Except for Wake and Shutdown, a Mesh is
// used by one goroutine at a time. An error of Send or Recv concerns that peer's link only.
type Mesh interface {
	// Rank returns this rank, Size the number of ranks.
	Rank() int
	Size() int

	// Send sends head followed by body as far as possible without blocking and returns the number
	// of bytes sent. 0 and no error means that the link is full; the next call must continue with
	// the same bytes.
	Send(peer int, head, body []byte) (n int, err error)

	// Recv fills head and then body with the bytes that have arrived and returns their number. 0
	// and no error means that nothing has arrived. After the peer has closed the link it returns
	// io.EOF.
	Recv(peer int, head, body []byte) (n int, err error)

	// Wait blocks until a link may move in a direction that want[peer] asks for, or until the
	// timeout. It may return early.
	Wait(want []Direction, timeout time.Duration) error

	// Wake lets a Wait in progress, or else the next one, return at once. It may be called
	// concurrently and repeatedly.
	Wake()

	// Shutdown closes both directions of every link: peers receive what was sent and then the end
	// of the stream, and calls in progress return. It may be called concurrently and repeatedly.
	Shutdown()

	// Close frees the links, after Shutdown, when no call is in progress.
	Close() error
}

// Allocator is a Mesh that allocates memory which peers can read in place. Bytes sent from there are
// copied once, by the receiver, and count as sent when it has copied them.
type Allocator interface {
	// Alloc returns n zeros in such memory, or nil if there is no room. The memory is invalid after
	// Close. Alloc may be called at any time.
	Alloc(n int) []float32
}

// Checker is a Mesh with links that may corrupt data, as networks do. The group adds a checksum to
// every body on such a link and verifies it on receipt. Both ends must agree on which links are
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

// Alloc returns a vector of n zeros, aligned to a cache line. It comes from m's memory if m is an
// Allocator with room for it.
func Alloc(m Mesh, n int) []float32 {
	if a, ok := m.(Allocator); ok {
		if v := a.Alloc(n); v != nil {
			return v
		}
	}
	const line = 64
	v := make([]float32, n+line/4)
	skip := (line - uintptr(unsafe.Pointer(&v[0]))%line) % line / 4
	return v[skip:][:n:n]
}

// Direction says which directions of a link a Wait is for.
type Direction uint8

// The two directions of a link, combined with |.
const (
	Sending Direction = 1 << iota
	Receiving
)

// ErrClosed is returned by a mesh or group after its Shutdown or Close.
var ErrClosed = errors.New("comm: closed")

// ErrTimeout is the cause in a PeerError when no byte moved for the group's Timeout.
var ErrTimeout = errors.New("no progress within the time-out")
