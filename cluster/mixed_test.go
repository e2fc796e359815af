//go:build unix

package cluster_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/comm/shm"
	"lockstep/comm/tcp"
)

// Shared memory between the ranks of a host, TCP between hosts.
func TestMixedLinks(t *testing.T) { commtest.Run(t, mixed) }

// mixed links ranks of this process by two on a host.
func mixed(t testing.TB, size int) []comm.Mesh {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	hosts := commtest.Pairs(size)
	segments := make([]*os.File, size)
	listeners := make([]*tcp.Listener, size)
	addresses := make([]string, size)
	for rank := range size {
		var err error
		if listeners[rank], err = tcp.Listen("127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		defer listeners[rank].Close()
		addresses[rank] = listeners[rank].Addr()
		if rank%2 == 1 {
			segments[rank] = segments[rank-1]
			continue
		}
		if segments[rank], err = shm.Create(len(hosts.Peers(rank))); err != nil {
			t.Fatal(err)
		}
		defer segments[rank].Close()
	}
	meshes := make([]comm.Mesh, size)
	var all sync.WaitGroup
	for rank := range meshes {
		all.Go(func() {
			inside, err := shm.Connect(ctx, segments[rank], rank%2)
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
				return
			}
			remote := append([]string(nil), addresses...)
			for _, peer := range hosts.Peers(rank) {
				remote[peer] = ""
			}
			outside, err := tcp.Connect(ctx, listeners[rank], tcp.Config{Rank: rank, Addrs: remote,
				Token: []byte("a token of sixteen bytes or more")})
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
				return
			}
			meshes[rank] = comm.Combine(inside, outside, hosts)
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return meshes
}
