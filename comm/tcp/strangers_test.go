package tcp_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/tcp"
)

// Peers find each other although a thousand idle connections were there first.
func TestIdleStrangersDoNotKeepPeersOut(t *testing.T) {
	var listeners [2]*tcp.Listener
	var addresses []string
	for rank := range listeners {
		l, err := tcp.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		listeners[rank] = l
		addresses = append(addresses, l.Addr())
	}
	ctx, cancel := context.WithTimeout(t.Context(), tcp.HelloTimeout-time.Second)
	defer cancel()
	connect := func(rank int) (comm.Mesh, error) {
		return tcp.Connect(ctx, listeners[rank], tcp.Config{Rank: rank, Addrs: addresses,
			Token: []byte("a token of sixteen bytes or more")})
	}
	var meshes [2]comm.Mesh
	var errs [2]error
	var both sync.WaitGroup
	both.Go(func() { meshes[0], errs[0] = connect(0) })
	for range 1000 {
		conn, err := net.Dial("tcp", addresses[0])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	both.Go(func() { meshes[1], errs[1] = connect(1) })
	both.Wait()
	for rank, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
		meshes[rank].Close()
	}
}

// poor is a listener whose system gives one descriptor in three calls.
type poor struct {
	net.Listener
	calls int
}

func (p *poor) Accept() (net.Conn, error) {
	p.calls++
	if p.calls%3 == 0 {
		return p.Listener.Accept()
	}
	return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
}

// A system without free descriptors does not end accepting: those of idle strangers are freed for who comes
// next. Closing ends it.
func TestAcceptingWithoutDescriptors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var strangers tcp.Strangers
	var accepted []net.Conn
	p := &poor{Listener: l}
	for range 3 {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if conn, err = strangers.Accept(p); err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		accepted = append(accepted, conn)
	}
	for i, conn := range accepted {
		_, err := conn.Write([]byte{1})
		if isClosed, want := errors.Is(err, net.ErrClosed), i < 2; isClosed != want {
			t.Errorf("connection %d: closed is %v, want %v", i, isClosed, want)
		}
	}
	l.Close()
	if _, err := strangers.Accept(p); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
