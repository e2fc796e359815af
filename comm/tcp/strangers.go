package tcp

import (
	"net"
	"slices"
	"sync"
)

// MaxStrangers is how many connections a listener keeps that have not yet proved who they are.
const MaxStrangers = 64

// Strangers holds the connections of a listener that are in their handshake. A peer proves itself at
// once, so when there are too many the oldest is closed: idle ones cannot keep a peer out.
type Strangers struct {
	mu    sync.Mutex
	conns []net.Conn // the oldest first
}

// Add takes a connection in, which closes the oldest if there are MaxStrangers.
func (s *Strangers) Add(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) == MaxStrangers {
		s.conns[0].Close()
		s.conns = slices.Delete(s.conns, 0, 1)
	}
	s.conns = append(s.conns, conn)
}

// Remove forgets a connection whose handshake is over, if it was not closed before.
func (s *Strangers) Remove(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.conns, conn); i >= 0 {
		s.conns = slices.Delete(s.conns, i, i+1)
	}
}
