//go:build !race

package comm_test

import (
	"testing"

	"lockstep/comm"
	"lockstep/comm/commtest"
)

// Repeated collectives of the same size allocate nothing, whether synchronous, started or prepared.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	steadyStateAllocatesNothing(t, comm.NewLocal(2))
	checked := comm.NewLocal(2)
	for r, m := range checked {
		checked[r] = &faulty{Mesh: m, bit: -1}
	}
	steadyStateAllocatesNothing(t, checked)
}

func steadyStateAllocatesNothing(t *testing.T, meshes []comm.Mesh) {
	t.Helper()
	const elems = 70_000
	bodies := make([]func(), len(meshes))
	for r, mesh := range meshes {
		g, err := comm.NewGroup(mesh, comm.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		bodies[r] = steadyStep(t, g, elems)
	}
	if n := commtest.Allocations(bodies); n >= 1 {
		t.Errorf("%v allocations per step, want none", n)
	}
}

// steadyStep returns a function that runs every kind of collective once.
func steadyStep(t *testing.T, g *comm.Group, elems int) func() {
	pieces := [][]float32{make([]float32, elems)}
	out := make([]float32, elems)
	bounds := []int{0, elems, 4 * elems}
	prepared := g.Prepare(comm.Call{Op: comm.AllGather, Buf: comm.Bytes(out), Bounds: bounds})
	check := func(err error) {
		if err != nil {
			t.Error(err)
		}
	}
	names := comm.Algorithms()
	return func() {
		for _, name := range names {
			h := g.Start(comm.Call{Op: comm.AllReduce, Algorithm: name, Out: out, Pieces: pieces})
			check(h.Wait())
		}
		prepared.Start()
		check(prepared.Wait())
		check(g.AllReduce(pieces[0], pieces))
		check(g.ReduceScatter(out, pieces))
		check(g.Reduce(out, pieces, 1))
		check(g.Gather(comm.Bytes(out), bounds, 0))
		check(g.Broadcast(comm.Bytes(out), 1))
		check(g.Barrier())
	}
}
