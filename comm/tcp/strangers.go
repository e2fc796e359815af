package tcp

import (
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"time"
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

// Accept accepts and adds the next connection. If the system gives no more descriptors or memory, it closes
// the oldest connection in its handshake and goes on. An error says that the listener was closed or that its
// deadline has passed.
func (s *Strangers) Accept(l net.Listener) (net.Conn, error) {
	const pause = time.Millisecond // for the descriptor of the closed connection to become free
	for {
		conn, err := l.Accept()
		if err == nil {
			s.Add(conn)
			return conn, nil
		}
		if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, err
		}
		s.mu.Lock()
		s.closeOldest()
		s.mu.Unlock()
		time.Sleep(pause)
	}
}

// closeOldest closes the oldest connection, if there is any.
func (s *Strangers) closeOldest() {
	if len(s.conns) > 0 {
		s.conns[0].Close()
		s.conns = slices.Delete(s.conns, 0, 1)
	}
}

// Add adds a connection and closes the oldest if there are already MaxStrangers.
func (s *Strangers) Add(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) == MaxStrangers {
		s.closeOldest()
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
