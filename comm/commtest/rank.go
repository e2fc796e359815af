package commtest

import (
	"math"
	"strconv"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/shard"
)

// Connect returns size linked meshes, by rank.
type Connect func(t testing.TB, size int) []comm.Mesh

// Pairs returns the topology of size ranks in which ranks 0 and 1, 2 and 3, and so on share a host.
func Pairs(size int) comm.Topology {
	hosts := make([]string, size)
	for r := range hosts {
		hosts[r] = strconv.Itoa(r / 2)
	}
	return comm.NewTopology(hosts)
}

// Ranks runs f on every rank of a group, each on its own goroutine, and returns their errors. Two
// ranks share a host unless c says otherwise. Every rank closes its group as soon as its f returns;
// ranks whose f succeeds meet at a barrier first.
func Ranks(t testing.TB, connect Connect, plan shard.Plan, c comm.Config,
	f func(g *comm.Group) error) []error {
	t.Helper()
	c.Plan = plan
	if c.Topology.Size() == 0 {
		c.Topology = Pairs(plan.Workers())
	}
	if c.Timeout == 0 {
		c.Timeout = 20 * time.Second
	}
	meshes := connect(t, plan.Workers())
	errs := make([]error, len(meshes))
	var all sync.WaitGroup
	for r, mesh := range meshes {
		all.Go(func() {
			g, err := comm.NewGroup(mesh, c)
			if err != nil {
				errs[r] = err
				return
			}
			defer g.Close()
			if errs[r] = f(g); errs[r] == nil {
				errs[r] = g.Barrier()
			}
		})
	}
	all.Wait()
	return errs
}

// each is Ranks for an f that must succeed on every rank.
func each(t *testing.T, connect Connect, plan shard.Plan, c comm.Config,
	f func(g *comm.Group) error) {
	t.Helper()
	for r, err := range Ranks(t, connect, plan, c, f) {
		if err != nil {
			t.Errorf("%d ranks, %d shards, rank %d: %v", plan.Workers(), plan.Shards(), r, err)
		}
	}
}

// Cut is shard.Cut for tests.
func Cut(t testing.TB, shards, workers int) shard.Plan {
	t.Helper()
	plan, err := shard.Cut(shards, workers)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// Contributions holds every shard's vector. The exponents differ so much that the order of a sum
// shows in its bits.
type Contributions [][]float32

// NewContributions makes vectors of elems elements for that many shards.
func NewContributions(shards, elems int) Contributions {
	all := make(Contributions, shards)
	for v := range all {
		all[v] = make([]float32, elems)
		for i := range all[v] {
			h := uint32(v*7919+i+1) * 2654435761
			h ^= h >> 15
			h *= 2246822519
			h ^= h >> 13
			all[v][i] = float32(math.Ldexp(float64(int32(h)), -31-int(h%13)))
		}
	}
	return all
}

// Tree returns the sum over shards [lo, hi) along the tree, computed sequentially from the
// definition.
func (c Contributions) Tree(lo, hi int) []float32 {
	if hi-lo == 1 {
		return append([]float32(nil), c[lo]...)
	}
	half := 1
	for half*2 < hi-lo {
		half *= 2
	}
	left, right := c.Tree(lo, lo+half), c.Tree(lo+half, hi)
	for i := range left {
		left[i] += right[i]
	}
	return left
}

// Pieces returns a rank's contributions, the sums over its subtrees, in the group's memory.
func (c Contributions) Pieces(g *comm.Group) [][]float32 {
	var pieces [][]float32
	for _, n := range g.Plan().Pieces(g.Rank()) {
		piece := g.Alloc(len(c[0]))
		copy(piece, c.Tree(n.Lo, n.Hi))
		pieces = append(pieces, piece)
	}
	return pieces
}

// Differ returns the first index where a and b have different bits, or -1.
func Differ(a, b []float32) int {
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return i
		}
	}
	return -1
}
