//go:build cuda && linux && amd64

package gpu_test

import (
	"slices"
	"testing"

	"lockstep/graph"
	"lockstep/graph/gpu"
)

// With parameters and gradients in the GPU's memory, where passes are recorded from the second on, and
// replayed, all steps have the bits that they have with parameters on the host. Inputs and parameters differ
// from step to step.
func TestKeptProgramsHaveTheSameBits(t *testing.T) {
	for i, n := range networks {
		for j, math := range []gpu.Math{gpu.Float32, gpu.BF16} {
			if testing.Short() && i >= 2 && i%2 == j {
				continue // the larger networks take long without a GPU: each is recorded in one precision
			}
			t.Run(n.name+" "+string(math), func(t *testing.T) {
				c := gpu.Config{Plain: true, Math: math}
				want := n.steps(t, open(t, c), false)
				got := n.steps(t, open(t, c), true)
				for step := range want {
					if !slices.EqualFunc(got[step], want[step], sameBits) {
						t.Errorf("step %d differs: %s", step, first(got[step], want[step]))
					}
				}
			})
		}
	}
}

// steps returns the logits, batch statistics and gradients of each of three steps: passes as they are,
// recorded and replayed.
func (n plan) steps(t *testing.T, ex *gpu.Executor, kept bool) [][]float32 {
	p, net, v, gradient := n.compile(t, ex, kept)
	var weights, device graph.Span
	if kept {
		weights, device = vector(t, ex, len(gradient)), vector(t, ex, len(gradient))
		p.Keep(weights, device)
	}
	p.SetDraws(graph.Draws{Seed: 1, Samples: make([]int32, n.samples)})
	p.Input("labels").Ints()
	var all [][]float32
	for step := range 3 {
		feed(p, net, uint64(step))
		if kept {
			ex.Upload(&graph.Buffer{Device: weights}, &graph.Buffer{F: v.Weights})
		}
		p.Forward()
		p.Backward(nil)
		if kept {
			ex.Download(&graph.Buffer{F: gradient}, &graph.Buffer{Device: device})
		}
		all = append(all, slices.Concat(p.Logits(), p.BatchStats(), gradient))
		for i, d := range gradient {
			v.Weights[i] -= 1e-3 * d
		}
	}
	return all
}

// vector returns n zeros in the GPU's memory.
func vector(t *testing.T, ex *gpu.Executor, n int) graph.Span {
	m, err := ex.Allocate(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Release)
	return graph.Span{Handle: m.Handle, Len: n}
}
