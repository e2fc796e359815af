package comm_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"lockstep/comm"
	"lockstep/internal/random"
	"lockstep/internal/shard"
)

// value is element i of shard v's contribution, with enough range that the order of sums shows.
func value(v, i int) float32 {
	s := random.Derive(1, uint64(v))
	return s.Symmetric(uint64(i), 1) * float32(math.Exp2(float64(s.Intn(uint64(i), 20)-10)))
}

// treeSum is the sum over shards [lo, hi) as the definition has it.
func treeSum(lo, hi, i int) float32 {
	if hi-lo == 1 {
		return value(lo, i)
	}
	half := 1
	for half*2 < hi-lo {
		half *= 2
	}
	return treeSum(lo, lo+half, i) + treeSum(lo+half, hi, i)
}

func pieces(plan shard.Plan, rank, elems int) [][]float32 {
	var out [][]float32
	for _, n := range plan.Pieces(rank) {
		p := make([]float32, elems)
		for i := range p {
			p[i] = treeSum(n.Lo, n.Hi, i)
		}
		out = append(out, p)
	}
	return out
}

// each runs f on every rank of a group over in-process links.
func each(t *testing.T, plan shard.Plan, c comm.Config, f func(g *comm.Group) error) {
	t.Helper()
	c.Plan = plan
	var all sync.WaitGroup
	for _, mesh := range comm.NewLocal(plan.Workers()) {
		all.Go(func() {
			g, err := comm.NewGroup(mesh, c)
			if err != nil {
				t.Error(err)
				return
			}
			defer g.Close()
			if err := f(g); err != nil {
				t.Errorf("rank %d: %v", g.Rank(), err)
			}
			g.Barrier()
		})
	}
	all.Wait()
}

func TestAllReduceGivesTheTreesBits(t *testing.T) {
	for _, name := range comm.Algorithms() {
		if !comm.IsExact(name) {
			continue
		}
		for workers := 1; workers <= 9; workers++ {
			for _, shards := range []int{workers, workers + 1, 13} {
				plan, err := shard.Cut(shards, workers)
				if err != nil {
					t.Fatal(err)
				}
				each(t, plan, comm.Config{Algorithm: name}, func(g *comm.Group) error {
					for _, n := range []int{0, 1, 7, 1009} {
						ps := pieces(plan, g.Rank(), n)
						if err := g.AllReduce(ps[0], ps); err != nil {
							return err
						}
						for i, got := range ps[0] {
							if want := treeSum(0, shards, i); got != want {
								return fmt.Errorf("%s, %d workers, %d shards, element %d of %d: %v, want %v",
									name, workers, shards, i, n, got, want)
							}
						}
					}
					return nil
				})
			}
		}
	}
}
