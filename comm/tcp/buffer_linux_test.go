package tcp

import (
	"context"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lockstep/comm"
)

// Both ends of a link have the buffers that are asked for, which Linux doubles for its own use.
func TestSocketBuffers(t *testing.T) {
	const asked = 32 << 10
	for _, buffer := range []int{asked, 0} {
		for rank, m := range buffered(t, buffer) {
			fd := m.(*mesh).links[1-rank].streams[0].fd
			for _, way := range []int{unix.SO_SNDBUF, unix.SO_RCVBUF} {
				got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, way)
				if err != nil || (got == 2*asked) != (buffer == asked) {
					t.Errorf("asked for %d: rank %d has %d, %v", buffer, rank, got, err)
				}
			}
			m.Shutdown()
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// buffered links two ranks by sockets with such buffers.
func buffered(t *testing.T, buffer int) []comm.Mesh {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var listeners [2]*Listener
	addrs, meshes := make([]string, 2), make([]comm.Mesh, 2)
	for r := range listeners {
		l, err := Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		listeners[r], addrs[r] = l, l.Addr()
	}
	var all sync.WaitGroup
	for r, l := range listeners {
		all.Go(func() {
			var err error
			meshes[r], err = Connect(ctx, l, Config{Rank: r, Addrs: addrs, SocketBuffer: buffer,
				Token: []byte("a token of sixteen bytes or more")})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return meshes
}
