package tcp_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/cluster/pass"
	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/comm/tcp"
)

// identities returns the configurations of the ranks of a run, by rank.
func identities(t testing.TB, size int) []func(peer int) *tls.Config {
	t.Helper()
	a, err := pass.NewAuthority(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]func(peer int) *tls.Config, size)
	for rank := range all {
		key := pass.NewKey()
		c, err := a.Certify(rank, key.Public())
		if err != nil {
			t.Fatal(err)
		}
		i, err := key.Identity(c)
		if err != nil {
			t.Fatal(err)
		}
		all[rank] = i.TLS
	}
	return all
}

// sealedBy returns a connect with so many encrypted streams to a link.
func sealedBy(streams int) commtest.Connect {
	return func(t testing.TB, size int) []comm.Mesh {
		return connectBy(t, size, streams, identities(t, size))
	}
}

func TestSealedLinks(t *testing.T) { commtest.Run(t, sealedBy(streams(3, 1))) }

func BenchmarkSealed(b *testing.B) {
	for _, streams := range []int{1, 4} {
		b.Run(fmt.Sprint(streams), func(b *testing.B) { commtest.Benchmark(b, sealedBy(streams)) })
	}
}

// Ranks whose certificates do not fit refuse each other by name, at once on the side of the dialer.
func TestSealedPeersThatDoNotBelongAreRefused(t *testing.T) {
	ours, others := identities(t, 3), identities(t, 3)
	tests := map[string]struct {
		field  string
		want   error // of the certificate; nil: the acceptor refuses
		change func(rank int, c *tcp.Config)
	}{
		"the acceptor is of another run": {"certificate", pass.ErrAuthority, func(rank int, c *tcp.Config) {
			if rank == 0 {
				c.TLS = others[0]
			}
		}},
		"the acceptor is another rank": {"certificate", pass.ErrRank, func(rank int, c *tcp.Config) {
			if rank == 0 {
				c.TLS = ours[2]
			}
		}},
		"the dialer is another rank": {"certificate", nil, func(rank int, c *tcp.Config) {
			if rank == 1 {
				c.TLS = ours[2]
			}
		}},
		"the dialer is the acceptor's rank": {"certificate", nil, func(rank int, c *tcp.Config) {
			c.TLS = ours[0]
		}},
		"one is not encrypted": {"encryption", nil, func(rank int, c *tcp.Config) {
			if rank == 1 {
				c.TLS = nil
			}
		}},
		"another start": {"generation", nil, func(rank int, c *tcp.Config) { c.Generation += uint32(rank) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			errs := join(t, 10*time.Second, func(rank int, c *tcp.Config) {
				c.TLS = ours[rank]
				test.change(rank, c)
			})
			var hello *tcp.HelloError
			if !errors.As(errs[1], &hello) || hello.Field != test.field ||
				test.want != nil && !errors.Is(errs[1], test.want) {
				t.Errorf("the dialer got %v", errs[1])
			}
			if errs[0] == nil || !strings.Contains(errs[0].Error(), "ranks [1] missing") {
				t.Errorf("the acceptor got %v", errs[0])
			}
		})
	}
}

// capture keeps what both sides of a connection through it say.
type capture struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (c *capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.Write(b)
}

// through returns the address of a proxy in front of address that serves one dialer. change may change what
// that says, after so many bytes.
func (c *capture) through(t *testing.T, address string, change func(b []byte, passed int)) (
	at string, wait func()) {
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
			io.Copy(io.MultiWriter(dialer, c), listener)
			dialer.(*net.TCPConn).CloseWrite()
		})
		b := make([]byte, 16<<10)
		for passed := 0; ; {
			n, err := dialer.Read(b)
			c.Write(b[:n])
			change(b[:n], passed)
			if _, failed := listener.Write(b[:n]); failed != nil || err != nil {
				break
			}
			passed += n
		}
		listener.(*net.TCPConn).CloseWrite()
		back.Wait()
	})
	return l.Addr().String(), work.Wait
}

// exchangeBoth connects ranks 0 and 1, which dials through a proxy, and returns what each gets from exchange.
func exchangeBoth(t *testing.T, c *capture, change func(b []byte, passed int),
	exchange func(comm.Mesh) error) [2]error {
	t.Helper()
	listeners, addrs := listen(t, 2)
	keys := identities(t, 2)
	front, wait := c.through(t, addrs[0], change)
	defer wait()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var errs [2]error
	var all sync.WaitGroup
	for r, l := range listeners {
		all.Go(func() {
			defer l.Close()
			mesh, err := tcp.Connect(ctx, l, tcp.Config{Rank: r, Addrs: []string{front, addrs[1]},
				TLS: keys[r]})
			if err != nil {
				errs[r] = err
				return
			}
			errs[r] = exchange(mesh)
		})
	}
	all.Wait()
	return errs
}

// pattern is a gradient whose bytes are easy to find.
func pattern(elems int) []float32 {
	v := make([]float32, elems)
	for i := range v {
		v[i] = 123.456
	}
	return v
}

// Nothing that ranks send each other is on the wire, and what is there does not repeat.
func TestNobodyReadsAlong(t *testing.T) {
	const elems = 100_000
	sum := func(mesh comm.Mesh) error {
		g, err := comm.NewGroup(mesh, comm.Config{Timeout: 30 * time.Second})
		if err != nil {
			return err
		}
		defer g.Close()
		v := pattern(elems)
		if err := g.AllReduce(v, [][]float32{v}); err != nil {
			return err
		}
		if v[0] != 2*123.456 || v[elems-1] != v[0] {
			return fmt.Errorf("the sum is %v", v[0])
		}
		return g.Barrier()
	}
	var c capture
	for r, err := range exchangeBoth(t, &c, func([]byte, int) {}, sum) {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
	said := c.said.Bytes()
	if len(said) < 4*elems {
		t.Fatalf("%d bytes on the wire, want those of %d elements", len(said), elems)
	}
	for what, plain := range map[string][]byte{"a gradient": comm.Bytes(pattern(2)), "a head": []byte("LSF"),
		"a sum": comm.Bytes([]float32{2 * 123.456, 2 * 123.456})} {
		if bytes.Contains(said, plain) && (len(plain) > 3 || bytes.Count(said, plain) > 2) {
			t.Errorf("%s is on the wire", what)
		}
	}
	// In the handshake TLS says the session's identifier, of two blocks, in both directions.
	const handshake, identifier = 16 << 10, 2
	seen, repeats := map[string]bool{}, 0
	for i, block := range slices.Collect(slices.Chunk(said, 16)) {
		if seen[string(block)] && !bytes.Equal(block, make([]byte, 16)) {
			if repeats++; repeats > identifier || 16*i >= handshake {
				t.Fatalf("block %x is there twice, %d bytes from the start", block, 16*i)
			}
		}
		seen[string(block)] = true
	}
}

// A byte that is changed in transit, or left out, ends the exchange with an error that names the peer.
func TestChangesOfASealedLinkAreFound(t *testing.T) {
	const elems = 100_000
	for _, at := range []int{0, 3, 4, 20, 40, 20_000, 90_000} { // after the handshake
		var c capture
		start := -1
		errs := exchangeBoth(t, &c, func(b []byte, passed int) {
			if start < 0 && passed > 1000 && len(b) > 2000 {
				start = passed // the handshake is over: it says little at a time
			}
			if place := start + at - passed; start >= 0 && place >= 0 && place < len(b) {
				b[place] ^= 0x10
			}
		}, func(mesh comm.Mesh) error { return reduce(mesh, elems) })
		var lost *comm.PeerError
		var changed *tcp.SealError
		if !errors.As(errs[0], &lost) || lost.Rank != 1 || !errors.As(errs[0], &changed) {
			t.Errorf("byte %d: rank 0 got %v, want a *tcp.SealError about rank 1", at, errs[0])
		}
	}
}
