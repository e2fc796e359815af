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

// proxy forwards data between a dialer and the listener at address, and flips one bit of what the
// dialer sends. It ends when both have closed; wait waits for that.
func proxy(t *testing.T, address string, bit int) (at string, wait func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		defer l.Close()
		dialer, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer dialer.Close()
		listener, err := net.Dial("tcp", address)
		if err != nil {
			t.Error(err)
			return
		}
		defer listener.Close()
		var back sync.WaitGroup
		back.Go(func() {
			io.Copy(dialer, listener)
			dialer.(*net.TCPConn).CloseWrite()
		})
		flip(listener, dialer, bit)
		listener.(*net.TCPConn).CloseWrite()
		back.Wait()
	})
	return l.Addr().String(), work.Wait
}

// flip copies from src to dst and flips one bit.
func flip(dst io.Writer, src io.Reader, bit int) {
	b := make([]byte, 16<<10)
	for passed := 0; ; {
		n, err := src.Read(b)
		if at := bit/8 - passed; bit >= 0 && at >= 0 && at < n {
			b[at] ^= 1 << (bit % 8)
		}
		if _, failed := dst.Write(b[:n]); failed != nil || err != nil {
			return
		}
		passed += n
	}
}

// A bit that the network flips never reaches a gradient: the error names the peer, the operation
// and, for a body, its length. A longer message travels in frames of 1 MiB.
func TestBitsFlippedInTransit(t *testing.T) {
	const head, elems = 32, 600_000 // rank 1's part is longer than a frame
	tests := []struct {
		what   string
		at     int // byte of what rank 1 sends after its handshake
		isBody bool
	}{
		{"header", 17, false}, {"checksum of the body", 25, false}, {"first byte of the body", head, true},
		{"last byte of the frame", head + 1<<20 - 1, true},
		{"header of the second frame", head + 1<<20, false},
		{"last byte of the message", 2*head + 4*elems/2 - 1, true},
	}
	for _, test := range tests {
		err := reduceThroughProxy(t, elems, 8*(tcp.HelloBytes+test.at)+5)
		var lost *comm.PeerError
		var body *comm.BodyError
		var frame *comm.FrameError
		switch {
		case !errors.As(err, &lost) || lost.Rank != 1 || lost.Op != comm.ReduceScatter:
			t.Errorf("%s: %v, want a *comm.PeerError of rank 1", test.what, err)
		case errors.As(err, &body) != test.isBody || errors.As(err, &frame) == test.isBody:
			t.Errorf("%s: %v", test.what, err)
		case test.isBody && body.Bytes != 1<<20 && body.Bytes != 4*elems/2-1<<20:
			t.Errorf("%s: %v, want the length of a frame", test.what, err)
		}
	}
	if err := reduceThroughProxy(t, elems, -1); err != nil {
		t.Errorf("nothing flipped: %v", err)
	}
}

// reduceThroughProxy returns rank 0's error of a reduce-scatter with rank 1, which connects through
// a proxy.
func reduceThroughProxy(t *testing.T, elems, bit int) error {
	t.Helper()
	listeners, addrs := listen(t, 2)
	front, wait := proxy(t, addrs[0], bit)
	defer wait()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	errs := make([]error, 2)
	var all sync.WaitGroup
	for r, l := range listeners {
		all.Go(func() {
			defer l.Close()
			mesh, err := tcp.Connect(ctx, l, tcp.Config{Rank: r, Addrs: []string{front, addrs[1]},
				Token: []byte(token)})
			if err != nil {
				errs[r] = err
				return
			}
			g, err := comm.NewGroup(mesh, comm.Config{Timeout: 5 * time.Second})
			if err != nil {
				errs[r] = err
				return
			}
			defer g.Close()
			v := [][]float32{make([]float32, elems)}
			if errs[r] = g.ReduceScatter(v[0], v); errs[r] == nil {
				errs[r] = g.Barrier() // which tells rank 1
			}
		})
	}
	all.Wait()
	if (errs[1] == nil) != (bit < 0) {
		t.Errorf("rank 1: %v", errs[1])
	}
	return errs[0]
}
