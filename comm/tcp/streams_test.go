package tcp_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/tcp"
)

// relay stands between a dialer and the listener at an address, for a number of connections in turn. It can
// treat one of them badly.
type relay struct {
	listener net.Listener
	numbered sync.WaitGroup // those that forward
	victim   int            // number of the connection that is treated badly; -1: none
	bytes    int            // of the dialer, after which it is
	isCut    bool           // it is closed then, else nothing passes any more
	release  chan struct{}  // closed at the end of the test
}

// newRelay starts r.
func newRelay(t *testing.T, address string, conns int, r *relay) (at string, wait func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.listener, r.release = l, make(chan struct{})
	r.numbered.Go(func() {
		for i := range conns {
			dialer, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			r.numbered.Go(func() { r.forward(dialer, address, i == r.victim) })
		}
	})
	return l.Addr().String(), func() {
		close(r.release)
		l.Close()
		r.numbered.Wait()
	}
}

// forward forwards a connection until both sides have closed it.
func (r *relay) forward(dialer net.Conn, address string, isVictim bool) {
	defer dialer.Close()
	listener, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer listener.Close()
	var back sync.WaitGroup
	defer back.Wait()
	back.Go(func() {
		io.Copy(dialer, listener)
		dialer.(*net.TCPConn).CloseWrite()
	})
	if isVictim {
		io.CopyN(listener, dialer, int64(r.bytes))
		if !r.isCut {
			<-r.release
		}
		listener.Close()
		dialer.Close()
		return
	}
	io.Copy(listener, dialer)
	listener.(*net.TCPConn).CloseWrite()
}

// joinThrough connects ranks 0 and 1 by streams, rank 1 through r, and returns the error of each from some
// all-reduces.
func joinThrough(t *testing.T, streams int, r *relay) [2]error {
	t.Helper()
	listeners, addrs := listen(t, 2)
	front, wait := newRelay(t, addrs[0], streams, r)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var errs [2]error
	var all sync.WaitGroup
	for rank, l := range listeners {
		all.Go(func() {
			defer l.Close()
			mesh, err := tcp.Connect(ctx, l, tcp.Config{Rank: rank, Addrs: []string{front, addrs[1]},
				Token: []byte(token), Streams: streams})
			if err != nil {
				errs[rank] = err
				return
			}
			g, err := comm.NewGroup(mesh, comm.Config{Timeout: time.Second})
			if err != nil {
				errs[rank] = err
				return
			}
			defer g.Close()
			v := make([]float32, 1<<20)
			for range 3 {
				if errs[rank] = g.AllReduce(v, [][]float32{v}); errs[rank] != nil {
					return
				}
			}
			errs[rank] = g.Barrier()
		})
	}
	all.Wait()
	wait()
	return errs
}

// Whichever stream of a link is cut or stands still, both ranks lose the peer, by the errors of a link of one
// stream.
func TestOneStreamOfALinkFails(t *testing.T) {
	const streams = 3
	for _, isCut := range []bool{true, false} {
		for victim := range streams {
			errs := joinThrough(t, streams, &relay{victim: victim, bytes: 300_000, isCut: isCut})
			for rank, err := range errs {
				var lost *comm.PeerError
				if !errors.As(err, &lost) || lost.Rank != 1-rank || lost.Op != comm.AllReduce {
					t.Errorf("stream %d, cut %v: rank %d got %v", victim, isCut, rank, err)
				}
			}
			if !isCut && !errors.Is(errs[0], comm.ErrTimeout) && !errors.Is(errs[1], comm.ErrTimeout) {
				t.Errorf("stream %d: got %v and %v, want a time-out", victim, errs[0], errs[1])
			}
		}
	}
	for rank, err := range joinThrough(t, streams, &relay{victim: -1}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// A dialer that gave up on a stream and dials again takes its place, whatever became of the first.
func TestStreamsAreDialledAgain(t *testing.T) {
	listeners, addrs := listen(t, 2)
	c := tcp.Config{Rank: 1, Addrs: addrs, Token: []byte(token), Streams: 2}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	meshes := make([]comm.Mesh, 2)
	var errs [2]error
	var both sync.WaitGroup
	both.Go(func() {
		defer listeners[0].Close()
		acceptor := c
		acceptor.Rank = 0
		meshes[0], errs[0] = tcp.Connect(ctx, listeners[0], acceptor)
	})
	first, err := net.Dial("tcp", addrs[0])
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, err := tcp.Greet(first, &c, 0, 0); err != nil {
		t.Fatal(err)
	}
	both.Go(func() {
		defer listeners[1].Close()
		meshes[1], errs[1] = tcp.Connect(ctx, listeners[1], c)
	})
	both.Wait()
	for rank, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
		both.Go(func() {
			g, err := comm.NewGroup(meshes[rank], comm.Config{Timeout: 30 * time.Second})
			if err == nil {
				v := make([]float32, 1<<18)
				errs[rank] = errors.Join(g.AllReduce(v, [][]float32{v}), g.Barrier(), g.Close())
			}
		})
	}
	both.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Error(err)
	}
}

// The handshake of a connection that the dialer gave up on may end after that of the one in its place.
func TestTheConnectionAcceptedLastIsKept(t *testing.T) {
	for _, numbers := range [][2]int{{1, 2}, {2, 1}} {
		var ends, peers [2]net.Conn
		for i := range ends {
			ends[i], peers[i] = net.Pipe()
			defer peers[i].Close()
			defer ends[i].Close()
		}
		last := 0
		if numbers[1] > numbers[0] {
			last = 1
		}
		if got := tcp.Keep(ends[0], ends[1], numbers[0], numbers[1]); got != ends[last] {
			t.Errorf("accepted as %v: the earlier connection is kept", numbers)
		}
		ends[1-last].SetWriteDeadline(time.Now().Add(time.Second)) // an open pipe would wait for a reader
		if _, err := ends[1-last].Write([]byte{0}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("accepted as %v: the other connection is not closed: %v", numbers, err)
		}
	}
}
