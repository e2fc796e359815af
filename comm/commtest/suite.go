package commtest

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/comm"
)

// maxRanks is the largest group of the suite.
const maxRanks = 9

// Run checks the links that connect makes with every collective and algorithm, over 1 to 9 ranks (some
// of these in short tests) and odd sizes, and checks the errors after a loss. It leaves no goroutine behind,
// which a caller's TestMain should verify (goleak).
func Run(t *testing.T, connect Connect) {
	tests := []struct {
		name string
		run  func(*testing.T, Connect)
	}{
		{"AllReduce", testAllReduce},
		{"LongAllReduce", testLongAllReduce},
		{"Ring", testRing},
		{"ReduceScatter", testReduceScatter},
		{"Reduce", testReduce},
		{"Plans", testPlans},
		{"Moves", testMoves},
		{"Barrier", testBarrier},
		{"Asynchronous", testAsynchronous},
		{"SlowPeer", testSlowPeer},
		{"Counters", testCounters},
		{"LostPeer", testLostPeer},
		{"LateSurvivor", testLateSurvivor},
		{"StuckPeer", testStuckPeer},
		{"Mismatch", testMismatch},
		{"Generation", testGeneration},
		{"CloseWhileWaiting", testCloseWhileWaiting},
		{"CloseWhileReporting", testCloseWhileReporting},
		{"Messages", testMessages},
		{"MessagesInPlace", testInPlace},
		{"LostCorrespondent", testLostCorrespondent},
		{"LossOfOneNotNeeded", testLossOfOneNotNeeded},
		{"Leave", testLeave},
		{"StuckCorrespondent", testStuckCorrespondent},
		{"Unfit", testUnfit},
		{"MessagesAllocateNothing", testMessagesAllocateNothing},
		{"Wake", testWake},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, connect) })
	}
}

// exact lists the algorithms that keep the tree's order.
func exact() []string {
	return slices.DeleteFunc(comm.Algorithms(), func(name string) bool { return !comm.IsExact(name) })
}

func testAllReduce(t *testing.T, connect Connect) {
	for workers := 1; workers <= maxRanks; workers++ {
		if testing.Short() && workers > 3 && workers != 5 && workers != 8 {
			continue // 2 and 8 are powers of two, and each is met without the race detector
		}
		for _, shards := range []int{workers, 13} {
			plan := Cut(t, shards, workers)
			sizes := []int{0, 1, 7, 1009}
			var data []Contributions
			var want [][]float32
			for _, n := range sizes {
				data = append(data, NewContributions(shards, n))
				want = append(want, data[len(data)-1].Tree(0, shards))
			}
			each(t, connect, plan, comm.Config{}, func(g *comm.Group) error {
				for i, n := range sizes {
					for _, name := range exact() {
						if err := oneAllReduce(g, name, data[i], want[i]); err != nil {
							return fmt.Errorf("%s of %d: %w", name, n, err)
						}
					}
				}
				return nil
			})
		}
	}
}

// oneAllReduce compares one all-reduce with the sequential sum, first with a separate out and then
// in place.
func oneAllReduce(g *comm.Group, name string, data Contributions, want []float32) error {
	out := make([]float32, len(want))
	for _, inPlace := range []bool{false, true} {
		pieces := data.Pieces(g)
		if inPlace {
			out = pieces[0]
		}
		h := g.Start(comm.Call{Op: comm.AllReduce, Algorithm: name, Out: out, Pieces: pieces})
		if err := h.Wait(); err != nil {
			return err
		}
		if i := Differ(out, want); i >= 0 {
			return fmt.Errorf("in place %t: element %d is %v, want %v", inPlace, i, out[i], want[i])
		}
	}
	return nil
}

// testLongAllReduce uses vectors longer than any buffer and longer than a segment.
func testLongAllReduce(t *testing.T, connect Connect) {
	elems := 1<<20 + 104_729
	if testing.Short() {
		elems = comm.SegmentElems + 104_729
	}
	plan := Cut(t, 4, 3)
	data := NewContributions(plan.Shards(), elems)
	want := data.Tree(0, plan.Shards())
	each(t, connect, plan, comm.Config{}, func(g *comm.Group) error {
		for _, name := range exact() {
			pieces := data.Pieces(g)
			h := g.Start(comm.Call{Op: comm.AllReduce, Algorithm: name, Out: pieces[0], Pieces: pieces})
			if err := h.Wait(); err != nil {
				return err
			}
			if i := Differ(pieces[0], want); i >= 0 {
				return fmt.Errorf("%s: element %d is %v, want %v", name, i, pieces[0][i], want[i])
			}
		}
		return nil
	})
}

// testRing checks that ring gives all ranks the same bits, close to the sum along the tree.
func testRing(t *testing.T, connect Connect) {
	const elems = 1009
	for workers := 1; workers <= maxRanks; workers++ {
		plan := Cut(t, workers+2, workers)
		data := NewContributions(plan.Shards(), elems)
		want := data.Tree(0, plan.Shards())
		results := make([][]float32, workers)
		each(t, connect, plan, comm.Config{Algorithm: "ring"}, func(g *comm.Group) error {
			pieces := data.Pieces(g)
			results[g.Rank()] = make([]float32, elems)
			return g.AllReduce(results[g.Rank()], pieces)
		})
		for r, got := range results {
			if i := Differ(got, results[0]); i >= 0 {
				t.Errorf("%d ranks: element %d is %v at rank %d, %v at rank 0", workers, i, got[i], r,
					results[0][i])
			}
		}
		for i, got := range results[0] {
			if d := math.Abs(float64(got - want[i])); d > 1e-5 {
				t.Errorf("%d ranks: element %d is %v, want about %v", workers, i, got, want[i])
				break
			}
		}
	}
}

func testReduceScatter(t *testing.T, connect Connect) {
	const elems = 101
	for workers := 1; workers <= maxRanks; workers++ {
		plan := Cut(t, workers+2, workers)
		data := NewContributions(plan.Shards(), elems)
		want := data.Tree(0, plan.Shards())
		each(t, connect, plan, comm.Config{}, func(g *comm.Group) error {
			out := make([]float32, elems)
			if err := g.ReduceScatter(out, data.Pieces(g)); err != nil {
				return err
			}
			part := comm.Part(elems, workers, g.Rank())
			if i := Differ(out[part.Lo:part.Hi], want[part.Lo:part.Hi]); i >= 0 {
				return fmt.Errorf("element %d of %v differs", i, part)
			}
			return nil
		})
	}
}

func testReduce(t *testing.T, connect Connect) {
	const elems = 101
	for workers := 1; workers <= maxRanks; workers++ {
		plan := Cut(t, workers+2, workers)
		data := NewContributions(plan.Shards(), elems)
		want := data.Tree(0, plan.Shards())
		root := workers / 2
		each(t, connect, plan, comm.Config{}, func(g *comm.Group) error {
			var out []float32
			if g.Rank() == root {
				out = make([]float32, elems)
			}
			if err := g.Reduce(out, data.Pieces(g), root); err != nil {
				return err
			}
			if i := Differ(out, want); g.Rank() == root && i >= 0 {
				return fmt.Errorf("element %d differs", i)
			}
			return nil
		})
	}
}

// testMoves checks the collectives that only move bytes, with parts of uneven length, some empty.
func testMoves(t *testing.T, connect Connect) {
	for workers := 1; workers <= maxRanks; workers++ {
		bounds := []int{0}
		for r := range workers {
			bounds = append(bounds, bounds[r]+r%3*1000)
		}
		n := bounds[workers]
		full := make([]byte, n)
		for i := range full {
			full[i] = byte(i*31 + i>>8)
		}
		each(t, connect, Cut(t, workers, workers), comm.Config{}, func(g *comm.Group) error {
			own := func() []byte {
				b := make([]byte, n)
				lo, hi := bounds[g.Rank()], bounds[g.Rank()+1]
				copy(b[lo:hi], full[lo:hi])
				return b
			}
			for root := range workers {
				if err := moveOnce(g, root, full, own, bounds); err != nil {
					return fmt.Errorf("root %d: %w", root, err)
				}
			}
			return nil
		})
	}
}

func moveOnce(g *comm.Group, root int, full []byte, own func() []byte, bounds []int) error {
	isRoot := g.Rank() == root
	buf := own()
	if err := g.AllGather(buf, bounds); err != nil {
		return err
	} else if !slices.Equal(buf, full) {
		return fmt.Errorf("all-gather: wrong bytes")
	}
	buf = own()
	if err := g.Gather(buf, bounds, root); err != nil {
		return err
	} else if isRoot && !slices.Equal(buf, full) {
		return fmt.Errorf("gather: wrong bytes")
	}
	buf = make([]byte, len(full))
	if isRoot {
		copy(buf, full)
	}
	if err := g.Scatter(buf, bounds, root); err != nil {
		return err
	} else if !isRoot && !slices.Equal(buf, own()) {
		return fmt.Errorf("scatter: wrong bytes")
	}
	clear(buf)
	if isRoot {
		copy(buf, full)
	}
	if err := g.Broadcast(buf, root); err != nil {
		return err
	} else if !slices.Equal(buf, full) {
		return fmt.Errorf("broadcast: wrong bytes")
	}
	return nil
}

func testBarrier(t *testing.T, connect Connect) {
	for workers := 1; workers <= maxRanks; workers++ {
		var arrived atomic.Int32
		each(t, connect, Cut(t, workers, workers), comm.Config{}, func(g *comm.Group) error {
			time.Sleep(time.Duration(g.Rank()) * time.Millisecond)
			arrived.Add(1)
			if err := g.Barrier(); err != nil {
				return err
			}
			if n := arrived.Load(); int(n) != workers {
				return fmt.Errorf("barrier let through after %d of %d", n, workers)
			}
			return nil
		})
	}
}

// testAsynchronous starts many collectives, waits for them in the opposite order and mixes in
// blocking calls.
func testAsynchronous(t *testing.T, connect Connect) {
	const num, elems = 20, 501
	for _, workers := range []int{1, 2, 5} {
		plan := Cut(t, workers, workers)
		data := NewContributions(workers, elems)
		want := data.Tree(0, workers)
		each(t, connect, plan, comm.Config{}, func(g *comm.Group) error {
			for range 3 {
				var outs [num][][]float32
				var handles [num]*comm.Handle
				for i := range handles {
					outs[i] = data.Pieces(g)
					handles[i] = g.Start(comm.Call{Op: comm.AllReduce, Out: outs[i][0], Pieces: outs[i],
						Algorithm: exact()[i%len(exact())]})
				}
				if err := g.Barrier(); err != nil {
					return err
				}
				for i := num - 1; i >= 0; i-- {
					if err := handles[i].Wait(); err != nil {
						return err
					}
					if j := Differ(outs[i][0], want); j >= 0 {
						return fmt.Errorf("handle %d: element %d differs", i, j)
					}
				}
			}
			return nil
		})
	}
}

// testSlowPeer checks that a rank that is late, but within the time-out, causes no error.
func testSlowPeer(t *testing.T, connect Connect) {
	const elems = 1009
	for _, workers := range []int{2, 4} {
		plan := Cut(t, workers, workers)
		data := NewContributions(workers, elems)
		want := data.Tree(0, workers)
		crews := make([]*crew, len(exact()))
		for i := range crews {
			crews[i] = newCrew(workers)
		}
		each(t, connect, plan, comm.Config{Timeout: 5 * time.Second}, func(g *comm.Group) error {
			for i, name := range exact() {
				crews[i].join(g)
				if g.Rank() == 1 {
					crews[i].untilOthersWait(1)
				}
				if err := oneAllReduce(g, name, data, want); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// testCounters compares the counters, summed over collectives, with the schedules.
func testCounters(t *testing.T, connect Connect) {
	const elems = 1009
	for _, workers := range []int{1, 2, 5, 8} {
		plan := Cut(t, workers+1, workers)
		data := NewContributions(plan.Shards(), elems)
		each(t, connect, plan, comm.Config{}, func(g *comm.Group) error {
			var want comm.Cost
			for _, name := range comm.Algorithms() {
				s, err := comm.PlanAllReduce(name, g.Topology(), plan, g.Rank(), elems)
				if err != nil {
					return err
				}
				want.Sent += 4 * s.Cost().Sent
				want.Received += 4 * s.Cost().Received
				pieces := data.Pieces(g)
				h := g.Start(comm.Call{Op: comm.AllReduce, Algorithm: name, Out: pieces[0], Pieces: pieces})
				if err := h.Wait(); err != nil {
					return err
				}
			}
			c := g.Counters()
			got := c.Total()
			if int(got.Sent) != want.Sent || int(got.Received) != want.Received {
				return fmt.Errorf("sent %d, received %d bytes, want %d and %d", got.Sent, got.Received,
					want.Sent, want.Received)
			}
			if n := c.Calls[comm.AllReduce]; int(n) != len(comm.Algorithms()) {
				return fmt.Errorf("%d all-reduces counted, want %d", n, len(comm.Algorithms()))
			}
			return nil
		})
	}
}
