package tcp

import (
	"net"
	"slices"
	"sync"
)

// MaxStrangers is how many connections a listener keeps that are still in their handshake.
const MaxStrangers = 64

// Strangers holds the connections of a listener that are in their handshake. A peer completes it at
// once, so if there are too many connections the oldest is closed: idle ones cannot keep a peer
// out.
type Strangers struct {
	mu    sync.Mutex
	conns []net.Conn // oldest first
}

// Add adds a connection and closes the oldest if there are already MaxStrangers.
func (s *Strangers) Add(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) == MaxStrangers {
		s.conns[0].Close()
		s.conns = slices.Delete(s.conns, 0, 1)
	}
	s.conns = append(s.conns, conn)
}

// Remove removes a connection whose handshake is over, unless Add has already closed it.
func (s *Strangers) Remove(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.conns, conn); i >= 0 {
		s.conns = slices.Delete(s.conns, i, i+1)
	}
}
