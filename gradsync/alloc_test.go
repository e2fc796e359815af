//go:build !race

package gradsync_test

import (
	"testing"

	"lockstep/comm"
	"lockstep/gradsync"
)

func TestAStepAllocatesNothing(t *testing.T) {
	const runs = 20
	for _, name := range []string{"gather-scatter", "all-reduce", "ddp"} {
		segments, order, total := layout()
		steps := make([]func(), 2)
		for r, mesh := range comm.NewLocal(len(steps)) {
			g, err := comm.NewGroup(mesh, comm.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			s, err := gradsync.New(name, gradsync.Config{Group: g, Segments: segments, Order: order,
				Pieces: [][]float32{make([]float32, total)}, BucketBytes: 4096, TopK: true})
			if err != nil {
				t.Fatal(err)
			}
			rows := make([]float32, 2*5)
			steps[r] = func() {
				s.Begin(0)
				s.Share(rows)
				for _, param := range order {
					s.Ready(param)
				}
				if err := s.Wait(); err != nil {
					t.Error(err)
				}
			}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range runs + 2 {
				steps[1]()
			}
		}()
		steps[0]()
		if n := testing.AllocsPerRun(runs, steps[0]); n >= 1 {
			t.Errorf("%s: %v allocations per step, want none", name, n)
		}
		<-done
	}
}
