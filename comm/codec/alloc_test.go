//go:build !race

package codec_test

import (
	"testing"

	"lockstep/comm"
	"lockstep/comm/commtest"
)

// A step with a codec allocates nothing, except for the tables of the standard library's deflate.
func TestStepsAllocateNothing(t *testing.T) {
	const elems = 70_000
	for _, name := range []string{"bf16", "int8", "sparse", "zstd"} {
		steps := make([]func(), 2)
		for r, mesh := range comm.NewLocal(len(steps)) {
			g, err := comm.NewGroup(mesh, comm.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			pieces := [][]float32{make([]float32, elems)}
			h := g.Prepare(comm.Call{Op: comm.AllReduce, Codec: must(t, name), Out: pieces[0],
				Pieces: pieces})
			steps[r] = func() {
				h.Start()
				if err := h.Wait(); err != nil {
					t.Error(err)
				}
			}
		}
		if n := commtest.Allocations(steps); n >= 1 {
			t.Errorf("%s: %v allocations per step, want none", name, n)
		}
	}
}
