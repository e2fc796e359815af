//go:build cuda && linux && amd64

package gpu_test

import (
	"flag"
	"testing"

	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/tensor"
)

// attentionTimes returns the microseconds of one layer's attention, forward and backward, for texts of equal
// length.
func attentionTimes(t *testing.T, m gpu.Math, texts, length, heads, size int) (forward, backward float64) {
	b := newBench(t, gpu.Config{Math: m, Plain: true})
	c := attentionCase{heads: heads, size: size, most: length}
	for range texts {
		c.lengths = append(c.lengths, int32(length))
	}
	maps, moments := b.ragged(c, heads*size, true), b.ragged(c, 2*heads, false)
	q, k, v, dy := b.random(maps), b.random(maps), b.random(maps), b.random(maps)
	y, m2, dq, dk, dv := b.empty(maps), b.empty(moments), b.empty(maps), b.empty(maps), b.empty(maps)
	starts := b.room(texts + 1)
	b.ex.Upload(starts, &graph.Buffer{I: c.starts()})
	op := graph.AttentionOp{Heads: heads, Most: length, Drop: graph.Drop{Share: 0.1, Site: 2}}
	draws := &graph.Draws{Seed: 5, Step: 3, Samples: make([]int32, texts)}
	prepare := func(op graph.Op, in, out []value) func() {
		a, args := graph.Application{Op: op, Name: "timed", Overwrites: -1}, &graph.Args{Draws: draws}
		for _, x := range in {
			a.In, args.In = append(a.In, x.typ), append(args.In, x.buffer)
		}
		for _, x := range out {
			a.Out, args.Out = append(a.Out, x.typ), append(args.Out, x.buffer)
		}
		a.In = append(a.In, graph.Type{Shape: tensor.Shape{texts + 1}, DType: tensor.Int32})
		args.In = append(args.In, starts)
		kernel, err := b.ex.Prepare(a)
		if err != nil {
			t.Fatal(err)
		}
		args.Scratch = b.room(kernel.Scratch)
		return func() { kernel.Run(args) }
	}
	time := func(run func()) float64 {
		const calls = 50
		run()
		return 1e6 / calls * b.ex.Elapsed(func() {
			for range calls {
				run()
			}
		})
	}
	forward = time(prepare(op, []value{q, k, v}, []value{y, m2}))
	backward = time(prepare(graph.AttentionBackwardOp{Of: op}, []value{dy, y, m2, q, k, v},
		[]value{dq, dk, dv}))
	if err := b.ex.Err(); err != nil {
		t.Fatal(err)
	}
	return forward, backward
}

// TestMeasureAttention prints what attention takes, with dropout: bert-base's, and of longer texts.
func TestMeasureAttention(t *testing.T) {
	if f := flag.Lookup("measure"); f == nil || f.Value.String() == "" {
		t.Skip("takes a GPU; -measure=FILE asks for it, and leaves the file alone")
	}
	for _, s := range []struct{ texts, length int }{{32, 128}, {8, 512}} {
		for _, m := range []gpu.Math{gpu.Float32, gpu.TF32, gpu.BF16} {
			const heads, size = 12, 64
			forward, backward := attentionTimes(t, m, s.texts, s.length, heads, size)
			work := 4 * float64(s.texts*heads*s.length*s.length*size) // of forward's two products
			t.Logf("%d texts of %d, %s: forward %.1f us, %.0f TFLOP/s; backward %.1f us, %.0f TFLOP/s",
				s.texts, s.length, m, forward, work/forward/1e6, backward, 2.5*work/backward/1e6)
		}
	}
}
