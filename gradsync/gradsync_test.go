package gradsync_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lockstep/comm"
	"lockstep/comm/commtest"
	"lockstep/comm/tcp"
	"lockstep/gradsync"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func local(_ testing.TB, size int) []comm.Mesh { return comm.NewLocal(size) }

// wire returns the wire of a name.
func wire(t testing.TB, name string) gradsync.Wire {
	t.Helper()
	w, err := gradsync.ParseWire(name)
	if err != nil {
		t.Error(err)
	}
	return w
}

func loopback(t testing.TB, size int) []comm.Mesh {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var listeners []*tcp.Listener
	var addrs []string
	for range size {
		l, err := tcp.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		listeners, addrs = append(listeners, l), append(addrs, l.Addr())
	}
	meshes := make([]comm.Mesh, size)
	errs := make([]error, size)
	var all sync.WaitGroup
	for r, l := range listeners {
		all.Go(func() {
			meshes[r], errs[r] = tcp.Connect(ctx, l, tcp.Config{Rank: r, Addrs: addrs,
				Token: make([]byte, 16)})
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return meshes
}

// layout returns the parameters of a small network; gradients become final from the last to the
// first.
func layout() (segments []gradsync.Segment, order []int, total int) {
	sizes := []int{75, 3, 1201, 0, 16, 9_001, 64, 640, 11}
	segments = make([]gradsync.Segment, len(sizes))
	for param := len(sizes) - 1; param >= 0; param-- {
		segments[param] = gradsync.Segment{Offset: total, Len: sizes[param]}
		if param == 7 {
			segments[param].Rows, segments[param].Cols = 20, 32
		}
		order = append(order, param)
		total += (sizes[param] + 15) &^ 15 // segments may be aligned
	}
	return segments, order, total
}

// worker trains two steps on one rank and compares what it gets with the sequential sums.
func worker(g *comm.Group, name, algorithm string, data commtest.Contributions,
	want []float32) error {
	segments, order, _ := layout()
	plan := g.Plan()
	buffers := data.Pieces(g)
	s, err := gradsync.New(name, gradsync.Config{Group: g, Algorithm: algorithm,
		Segments: segments, Order: order, Pieces: buffers, BucketBytes: 4096})
	if err != nil {
		return err
	}
	defer s.Close()
	rows := make([]float32, plan.Shards()*3)
	for step := range 2 {
		for i, p := range data.Pieces(g) {
			copy(buffers[i], p)
		}
		clear(rows)
		lo, hi := plan.Run(g.Rank())
		for i := lo * 3; i < hi*3; i++ {
			rows[i] = float32(100*step + i)
		}
		s.Begin(step)
		s.GatherRows(rows)
		for i := range order { // each rank in another order, which must not matter
			s.Ready(order[(i+g.Rank())%len(order)])
		}
		if err := s.Wait(); err != nil {
			return err
		}
		for param, seg := range segments {
			got, want := buffers[0][seg.Offset:][:seg.Len], want[seg.Offset:][:seg.Len]
			if i := commtest.Differ(got, want); i >= 0 {
				return fmt.Errorf("step %d: parameter %d: gradient %d is %v, want %v", step, param, i,
					got[i], want[i])
			}
		}
		for i, got := range rows {
			if want := float32(100*step + i); got != want {
				return fmt.Errorf("step %d: row element %d is %v, want %v", step, i, got, want)
			}
		}
		counts := []int64{int64(g.Rank()), 1, -5}
		if err := s.Sum(counts); err != nil {
			return err
		}
		p := int64(g.Size())
		if want := []int64{p * (p - 1) / 2, p, -5 * p}; !slices.Equal(counts, want) {
			return fmt.Errorf("sum %v, want %v", counts, want)
		}
	}
	return nil
}

// Every strategy over every exact algorithm and link gives, for 1 to 9 workers, the bits of the
// sequential sum along the tree.
func TestBitsDoNotDependOnWorkersStrategyAlgorithmOrLink(t *testing.T) {
	_, _, total := layout()
	links := []struct {
		name    string
		connect commtest.Connect
		workers []int
	}{
		{"local", local, []int{1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"tcp", loopback, []int{2, 3, 5, 8}},
	}
	for _, link := range links {
		for _, workers := range link.workers {
			if testing.Short() && workers > 3 && workers != 5 {
				continue // the race detector sees the same with fewer
			}
			for _, shards := range []int{workers, 13} {
				plan := commtest.Cut(t, shards, workers)
				data := commtest.NewContributions(shards, total)
				want := data.Tree(0, shards)
				errs := commtest.Ranks(t, link.connect, plan, comm.Config{},
					func(g *comm.Group) error { return allStrategies(g, data, want) })
				for r, err := range errs {
					if err != nil {
						t.Errorf("%s, %d workers, %d shards, rank %d: %v", link.name, workers, shards, r, err)
					}
				}
			}
		}
	}
}

func allStrategies(g *comm.Group, data commtest.Contributions, want []float32) error {
	if err := worker(g, "gather-scatter", "", data, want); err != nil {
		return fmt.Errorf("gather-scatter: %w", err)
	}
	for _, name := range []string{"all-reduce", "ddp"} {
		for _, algorithm := range []string{"auto", "direct", "gather", "halving-doubling"} {
			if err := worker(g, name, algorithm, data, want); err != nil {
				return fmt.Errorf("%s, %s: %w", name, algorithm, err)
			}
		}
	}
	return nil
}

// With Sharded every worker gets its shares of the sum, all shares together are the whole sum, and
// the all-gather completes a vector, with a lossless codec too.
func TestShares(t *testing.T) {
	segments, order, total := layout()
	for workers := 1; workers <= 6; workers++ {
		for _, name := range []string{"fp32", "zstd"} {
			plan := commtest.Cut(t, 7, workers)
			data := commtest.NewContributions(7, total)
			want := data.Tree(0, 7)
			errs := commtest.Ranks(t, local, plan, comm.Config{}, func(g *comm.Group) error {
				pieces := data.Pieces(g)
				s, err := gradsync.NewSharded(gradsync.Config{Group: g, Segments: segments, Order: order,
					Pieces: pieces, BucketBytes: 4096, Wire: wire(t, name)})
				if err != nil {
					return err
				}
				s.Begin(0)
				for _, param := range order {
					s.Ready(param)
				}
				if err := s.WaitShares(); err != nil {
					return err
				}
				sum, own := make([]float32, total), []float32(nil)
				for _, share := range s.Shares() {
					copy(sum[share[0]:share[1]], pieces[0][share[0]:share[1]])
					own = append(own, pieces[0][share[0]:share[1]]...)
				}
				collected := make([]float32, total)
				if err := errors.Join(spread(s, sum), s.Collect(collected, own)); err != nil {
					return err
				}
				if len(own) > total/workers+16*len(s.Shares()) {
					return fmt.Errorf("%d of %d elements are one worker's share", len(own), total)
				}
				for param, seg := range segments {
					lo, hi := seg.Offset, seg.Offset+seg.Len
					if i := commtest.Differ(sum[lo:hi], want[lo:hi]); i >= 0 {
						return fmt.Errorf("parameter %d: %v, want %v", param, sum[lo+i], want[lo+i])
					}
					if i := commtest.Differ(collected[lo:hi], want[lo:hi]); i >= 0 && g.Rank() == 0 {
						return fmt.Errorf("parameter %d: collected %v, want %v", param, collected[lo+i],
							want[lo+i])
					}
				}
				return nil
			})
			for r, err := range errs {
				if err != nil {
					t.Errorf("%d workers, %s, rank %d: %v", workers, name, r, err)
				}
			}
		}
	}
}

// spread completes v on all workers, beginning with the parameters that a forward pass reads first.
func spread(s *gradsync.Sharded, v []float32) error {
	s.StartAllGather(v)
	return errors.Join(s.WaitAllGather(2), s.WaitAllGather(2), s.WaitAllGather(0),
		s.WaitAllGather(-1), s.WaitAllGather(-1))
}
