package tcp_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/tcp"
)

// proxy forwards data between a dialer and the listener at address, and flips one bit of what the
// dialer sends; none if bit is negative. It ends when both have closed; wait waits for that.
func proxy(t *testing.T, address string, bit int) (at string, wait func()) {
	return new(capture).through(t, address, func(b []byte, passed int) {
		if at := bit/8 - passed; bit >= 0 && at >= 0 && at < len(b) {
			b[at] ^= 1 << (bit % 8)
		}
	})
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
	ways := map[comm.Op]func(comm.Mesh) error{
		comm.ReduceScatter: func(m comm.Mesh) error { return reduce(m, elems) },
		comm.Message:       func(m comm.Mesh) error { return send(m, elems/2) },
	}
	for op, way := range ways {
		for _, test := range tests {
			err := throughProxy(t, 8*(tcp.HelloBytes+test.at)+5, way)
			wantFlip(t, op, test.what, test.isBody, err, 4*elems/2)
		}
		if err := throughProxy(t, -1, way); err != nil {
			t.Errorf("%v: nothing flipped: %v", op, err)
		}
	}
}

// wantFlip checks the error of rank 0 after a flipped bit in the header or body of a frame.
func wantFlip(t *testing.T, op comm.Op, what string, isBody bool, err error, bytes int) {
	t.Helper()
	var lost *comm.PeerError
	var body *comm.BodyError
	var frame *comm.FrameError
	switch {
	case !errors.As(err, &lost) || lost.Rank != 1 || lost.Op != op:
		t.Errorf("%v, %s: %v, want a *comm.PeerError of rank 1", op, what, err)
	case errors.As(err, &body) != isBody || errors.As(err, &frame) == isBody:
		t.Errorf("%v, %s: %v", op, what, err)
	case isBody && body.Bytes != 1<<20 && body.Bytes != bytes-1<<20:
		t.Errorf("%v, %s: %v, want the length of a frame", op, what, err)
	}
}

// reduce makes a reduce-scatter of elems elements.
func reduce(mesh comm.Mesh, elems int) error {
	g, err := comm.NewGroup(mesh, comm.Config{Timeout: 30 * time.Second})
	if err != nil {
		return err
	}
	defer g.Close()
	v := [][]float32{make([]float32, elems)}
	if err := g.ReduceScatter(v[0], v); err != nil {
		return err
	}
	return g.Barrier() // which tells rank 1
}

// send sends a message of elems elements from rank 1 to rank 0, which answers.
func send(mesh comm.Mesh, elems int) error {
	p := comm.NewPost(mesh, comm.PostConfig{Timeout: 30 * time.Second})
	defer p.Close()
	long := comm.Letter{Peer: 1 - p.Rank(), Vector: make([]float32, elems)}
	word := comm.Letter{Peer: 1 - p.Rank(), Tag: 1, Buf: make([]byte, 1)}
	first, last := p.Receiver, p.Sender
	if p.Rank() == 1 {
		first, last = p.Sender, p.Receiver
	}
	message, err := first(long)
	if err != nil {
		return err
	}
	answer, err := last(word)
	if err != nil {
		return err
	}
	message.Start()
	if err := message.Wait(); err != nil {
		return err
	}
	answer.Start()
	return answer.Wait()
}

// throughProxy returns rank 0's error of an exchange with rank 1, which connects through a proxy.
func throughProxy(t *testing.T, bit int, exchange func(comm.Mesh) error) error {
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
			errs[r] = exchange(mesh)
		})
	}
	all.Wait()
	if (errs[1] == nil) != (bit < 0) {
		t.Errorf("rank 1: %v", errs[1])
	}
	return errs[0]
}
