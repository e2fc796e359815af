package doctor

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"lockstep/comm/tcp"
)

// listener answers probes on one address.
type listener struct {
	*net.TCPListener
	key       []byte
	now       func() time.Time
	strangers tcp.Strangers
	served    sync.WaitGroup
	mu        sync.Mutex
	open      map[net.Conn]bool // nil: closed
}

// listen answers probes that know the key, on a free port of an address.
func listen(address netip.Addr, key []byte, now func() time.Time) (*listener, error) {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(address, 0)))
	if err != nil {
		return nil, err
	}
	p := &listener{TCPListener: l, key: key, now: now, open: map[net.Conn]bool{}}
	p.served.Go(p.accept)
	return p, nil
}

// accept serves every connection in a goroutine of its own until the listener closes.
func (l *listener) accept() {
	for {
		conn, err := l.TCPListener.Accept()
		if err != nil {
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				continue
			}
			return // closed, or without descriptors: whoever dials will say so
		}
		if l.hold(conn) {
			l.strangers.Add(conn) // here, so that the oldest is the one that came first
			l.served.Go(func() { l.answer(conn) })
		}
	}
}

// answer serves a connection whose peer shows the key.
func (l *listener) answer(conn net.Conn) {
	defer l.release(conn)
	conn.SetDeadline(time.Now().Add(handshakeTime))
	err := admit(conn, l.key)
	l.strangers.Remove(conn)
	if err != nil {
		return // a stranger gets no answer
	}
	conn.SetDeadline(time.Now().Add(probeTime))
	serve(conn, l.now) // the source knows what went wrong
}

// hold keeps a connection to be closed with the listener, and reports whether that is still open.
func (l *listener) hold(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		conn.Close()
		return false
	}
	l.open[conn] = true
	return true
}

func (l *listener) release(conn net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	conn.Close()
	delete(l.open, conn)
}

// Close closes the listener and its connections, and waits until all have ended.
func (l *listener) Close() error {
	err := l.TCPListener.Close()
	l.mu.Lock()
	for conn := range l.open {
		conn.Close()
	}
	l.open = nil
	l.mu.Unlock()
	l.served.Wait()
	return err
}
