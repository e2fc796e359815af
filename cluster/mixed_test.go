//go:build unix

package cluster_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/comm/codec"
	"lockstep/comm/commtest"
	"lockstep/comm/shm"
	"lockstep/comm/tcp"
)

// Shared memory between the ranks of a host, TCP between hosts.
func TestMixedLinks(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector sees both kinds in their packages, and two together in comm")
	}
	commtest.Run(t, func(t testing.TB, size int) []comm.Mesh { return connect(t, commtest.Pairs(size)) })
}

// The sum has one hash, whatever the exact algorithm, the links, the number of ranks, their
// placement on hosts, and the codec, as long as that loses nothing.
func TestOneHash(t *testing.T) {
	const shards, elems = 6, 5003
	data := commtest.NewContributions(shards, elems)
	want := sha256.Sum256(comm.Bytes(data.Tree(0, shards)))
	for workers := 1; workers <= shards; workers++ {
		if testing.Short() && workers%3 > 0 && workers != 2 {
			continue // for the race detector: the links are those of 2, 3 and 6
		}
		for name, place := range placements(workers) {
			hosts := comm.NewTopology(strings.Split(place, ""))
			links := func(t testing.TB, size int) []comm.Mesh { return connect(t, hosts) }
			if name == "local" {
				links = func(_ testing.TB, size int) []comm.Mesh { return comm.NewLocal(size) }
			}
			sum := func(g *comm.Group, algorithm, form string) error {
				c, err := codec.New(form)
				if err != nil {
					return err
				}
				pieces := data.Pieces(g)
				h := g.Start(comm.Call{Op: comm.AllReduce, Algorithm: algorithm, Codec: c, Out: pieces[0],
					Pieces: pieces})
				if err := h.Wait(); err != nil {
					return err
				}
				if got := sha256.Sum256(comm.Bytes(pieces[0])); got != want {
					return fmt.Errorf("%s, %s: %x, want %x", algorithm, form, got, want)
				}
				return nil
			}
			c := comm.Config{Topology: hosts}
			plan := commtest.Cut(t, shards, workers)
			for r, err := range commtest.Ranks(t, links, plan, c, func(g *comm.Group) error {
				return everyWay(g, sum)
			}) {
				if err != nil {
					t.Errorf("%s, ranks on %s, rank %d: %v", name, place, r, err)
				}
			}
		}
	}
}

// placements returns the hosts of ranks by a name of the links that come of them, each placement once.
func placements(ranks int) map[string]string {
	p := map[string]string{"local": "aabbcc", "shm": "aaaaaa", "tcp": "abcdef", "pairs": "aabbcc",
		"halves": "aaabbb", "uneven": "abbbbc", "alternating": "ababab"}
	met := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if p[name] = p[name][:ranks]; name == "local" {
			continue
		}
		if met[p[name]] {
			delete(p, name)
		} else {
			met[p[name]] = true
		}
	}
	return p
}

// everyWay calls sum with each exact algorithm, "auto" tuned and not, and each lossless codec.
func everyWay(g *comm.Group, sum func(g *comm.Group, algorithm, form string) error) error {
	for _, algorithm := range append(comm.Algorithms(), "auto", "tuned") {
		if algorithm == "tuned" {
			if _, err := g.Tune(); err != nil {
				return err
			}
			algorithm = "auto"
		}
		if !comm.IsExact(algorithm) {
			continue
		}
		for _, form := range codec.Names() {
			c, err := codec.New(form)
			if err == nil && (c == nil || c.Loss() == comm.Lossless) {
				err = sum(g, algorithm, form)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// connect links ranks of this process as Session.Connect links processes.
func connect(t testing.TB, hosts comm.Topology) []comm.Mesh {
	t.Helper()
	size := hosts.Size()
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
		if peers := hosts.Peers(rank); peers[0] == rank {
			if segments[rank], err = shm.Create(len(peers)); err != nil {
				t.Fatal(err)
			}
			defer segments[rank].Close()
		} else {
			segments[rank] = segments[peers[0]]
		}
	}
	meshes := make([]comm.Mesh, size)
	var all sync.WaitGroup
	for rank := range meshes {
		all.Go(func() {
			var err error
			if meshes[rank], err = link(rank, hosts, segments[rank], listeners[rank], addresses); err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return meshes
}

func link(rank int, hosts comm.Topology, segment *os.File, l *tcp.Listener, addresses []string) (
	comm.Mesh, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	peers, remote := hosts.Peers(rank), slices.Clone(addresses)
	inside, err := shm.Connect(ctx, segment, slices.Index(peers, rank))
	if err != nil || len(peers) == hosts.Size() {
		return inside, err
	}
	for _, peer := range peers {
		remote[peer] = ""
	}
	outside, err := tcp.Connect(ctx, l, tcp.Config{Rank: rank, Addrs: remote,
		Token: []byte("a token of sixteen bytes or more")})
	if err != nil {
		return nil, err
	}
	return comm.Combine(inside, outside, hosts), nil
}
