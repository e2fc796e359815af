package tcp_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/comm/tcp"
)

const token = "a token of sixteen bytes or more"

// connect links size ranks over the loopback interface.
func connect(t testing.TB, size int) []comm.Mesh {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	listeners, addrs := listen(t, size)
	meshes := make([]comm.Mesh, size)
	var all sync.WaitGroup
	for r, l := range listeners {
		all.Go(func() {
			defer l.Close()
			var err error
			meshes[r], err = tcp.Connect(ctx, l, tcp.Config{Rank: r, Addrs: addrs, Token: []byte(token),
				Generation: 1})
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

func TestTCPLinks(t *testing.T) { commtest.Run(t, connect) }

func BenchmarkTCP(b *testing.B) { commtest.Benchmark(b, connect) }
