package doctor

import (
	"context"
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
	open      context.Context // ends with the listener
	end       func()
}

// listen answers probes that know the key, on a free port of an address.
func listen(address netip.Addr, key []byte, now func() time.Time) (*listener, error) {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(address, 0)))
	if err != nil {
		return nil, err
	}
	p := &listener{TCPListener: l, key: key, now: now}
	p.open, p.end = context.WithCancel(context.Background())
	p.served.Go(p.accept)
	return p, nil
}

// accept serves every connection in a goroutine of its own until the listener closes.
func (l *listener) accept() {
	for {
		conn, err := l.TCPListener.Accept()
		if err != nil {
			return // closed, or without descriptors: whoever dials will say so
		}
		l.strangers.Add(conn) // here, so that the oldest is the one that came first
		l.served.Go(func() { l.answer(conn) })
	}
}

// answer serves a connection whose peer shows the key.
func (l *listener) answer(conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(l.open, func() { conn.Close() })()
	conn.SetDeadline(time.Now().Add(handshakeTime))
	err := admit(conn, l.key)
	l.strangers.Remove(conn)
	if err != nil {
		return // a stranger gets no answer
	}
	conn.SetDeadline(time.Now().Add(probeTime))
	serve(conn, l.now) // the source knows what went wrong
}

// Close closes the listener and its connections, and waits until all have ended.
func (l *listener) Close() error {
	err := l.TCPListener.Close()
	l.end()
	l.served.Wait()
	return err
}
