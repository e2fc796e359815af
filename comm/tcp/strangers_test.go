package tcp_test

import (
	"context"
	"net"
	"sync"
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
