package tcp_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/comm/tcp"
)

const token = "a token of sixteen bytes or more"

// byStreams returns what links ranks with so many streams to a link.
func byStreams(streams int) commtest.Connect {
	return func(t testing.TB, size int) []comm.Mesh { return connectBy(t, size, streams, nil) }
}

// connectBy links size ranks over the loopback interface by so many streams, encrypted if there are keys, by
// rank.
func connectBy(t testing.TB, size, streams int, keys []func(peer int) *tls.Config) []comm.Mesh {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	listeners, addrs := listen(t, size)
	meshes := make([]comm.Mesh, size)
	var all sync.WaitGroup
	for r, l := range listeners {
		all.Go(func() {
			defer l.Close()
			c := tcp.Config{Rank: r, Addrs: addrs, Token: []byte(token), Generation: 1, Streams: streams}
			if keys != nil {
				c.Token, c.TLS = nil, keys[r]
			}
			var err error
			meshes[r], err = tcp.Connect(ctx, l, c)
			if err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return meshes
}

func listen(t testing.TB, size int) (listeners []*tcp.Listener, addrs []string) {
	t.Helper()
	for range size {
		l, err := tcp.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners, addrs = append(listeners, l), append(addrs, l.Addr())
	}
	return listeners, addrs
}

// streams returns how many streams to a link links are tested with: so many, or the other in a short test.
// Continuous integration runs both, so that plain and encrypted links are met with one and with three.
func streams(long, short int) int {
	if testing.Short() {
		return short
	}
	return long
}

func TestTCPLinks(t *testing.T) { commtest.Run(t, byStreams(streams(1, 3))) }

func BenchmarkTCP(b *testing.B) {
	for _, streams := range []int{1, 4} {
		b.Run(fmt.Sprint(streams), func(b *testing.B) { commtest.Benchmark(b, byStreams(streams)) })
	}
}
