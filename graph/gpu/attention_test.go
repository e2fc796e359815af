//go:build cuda && linux && amd64

package gpu_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/tensor"
)

// attentionCase is a batch of texts for attention.
type attentionCase struct {
	lengths           []int32
	heads, size, most int
	share             float64
}

// starts returns where the texts start.
func (c attentionCase) starts() []int32 {
	s := []int32{0}
	for i, n := range c.lengths {
		s = append(s, s[i]+n)
	}
	return s
}

// ragged is the type of a value with a row for each token. There is room for more tokens than a run has.
func (b *bench) ragged(c attentionCase, cols int, isMap bool) graph.Type {
	t := graph.Type{Shape: tensor.Shape{len(c.lengths) * c.most, cols}, Ragged: true}
	if isMap && b.isHalf {
		t.DType = tensor.BFloat16
	}
	return t
}

// plain is a type as the host has it.
func plain(t graph.Type) graph.Type {
	if t.DType == tensor.BFloat16 {
		t.DType = tensor.Float32
	}
	return t
}

var attentionDraws = &graph.Draws{Seed: 5, Step: 3, Samples: []int32{7, 1, 9, 4, 30, 2, 11}}

// onHost computes op on the host.
func onHost(t *testing.T, h *graph.Host, op graph.Op, in, out []value, starts []int32, rows int) [][]float32 {
	a := graph.Application{Op: op, Name: "host", Overwrites: -1}
	args := &graph.Args{Draws: attentionDraws}
	for _, v := range in {
		a.In, args.In = append(a.In, plain(v.typ)), append(args.In, &graph.Buffer{F: v.data})
	}
	a.In = append(a.In, graph.Type{Shape: tensor.Shape{len(starts)}, DType: tensor.Int32})
	args.In = append(args.In, &graph.Buffer{I: starts})
	var results [][]float32
	for _, v := range out {
		f := make([]float32, rows*v.typ.Shape[1])
		a.Out, args.Out = append(a.Out, plain(v.typ)), append(args.Out, &graph.Buffer{F: f})
		results = append(results, f)
	}
	k, err := h.Prepare(a)
	if err != nil {
		t.Fatal(err)
	}
	args.Scratch = &graph.Buffer{F: make([]float32, k.Scratch)}
	k.Run(args)
	return results
}

// onGPU computes op on the bench.
func (b *bench) onGPU(op graph.Op, in, out []value, starts []int32, rows int) [][]float32 {
	b.Helper()
	a := graph.Application{Op: op, Name: "gpu", Overwrites: -1}
	args := &graph.Args{Draws: attentionDraws}
	for _, v := range in {
		v.buffer.Device.Len = rows * v.typ.Shape[1]
		a.In, args.In = append(a.In, v.typ), append(args.In, v.buffer)
	}
	at := b.room(len(starts))
	b.ex.Upload(at, &graph.Buffer{I: starts})
	a.In = append(a.In, graph.Type{Shape: tensor.Shape{len(starts)}, DType: tensor.Int32})
	args.In = append(args.In, at)
	for _, v := range out {
		v.buffer.Device.Len = rows * v.typ.Shape[1]
		a.Out, args.Out = append(a.Out, v.typ), append(args.Out, v.buffer)
	}
	k, err := b.ex.Prepare(a)
	if err != nil {
		b.Fatal(err)
	}
	args.Scratch = b.room(k.Scratch)
	k.Run(args)
	var results [][]float32
	for _, v := range out {
		results = append(results, b.get(v, rows*v.typ.Shape[1]))
	}
	if err := b.ex.Err(); err != nil {
		b.Fatal(err)
	}
	return results
}

// near checks that the difference is small beside want, by their 2-norms.
func (b *bench) near(what string, got, want []float32, bound float64) {
	b.Helper()
	var off, size float64
	for i, x := range want {
		d := float64(got[i]) - float64(x)
		off, size = off+d*d, size+float64(x)*float64(x)
	}
	if size == 0 { // the gradients of a score that has no other beside it
		size = 1
	}
	if e := math.Sqrt(off / size); !(e <= bound) {
		b.Errorf("%s: relative error %.2g, want at most %.2g", what, e, bound)
	}
}

// everySecond returns every second element of x from i on.
func everySecond(x []float32, i int) []float32 {
	var y []float32
	for ; i < len(x); i += 2 {
		y = append(y, x[i])
	}
	return y
}

// checkAttention compares both directions with the host's, with relative errors of at most bound.
func (b *bench) checkAttention(h *graph.Host, c attentionCase, bound float64) {
	b.Helper()
	starts := c.starts()
	rows := int(starts[len(starts)-1])
	rowsType := func(cols int, isMap bool) graph.Type { return b.ragged(c, cols, isMap) }
	draw := func() value {
		v := b.random(rowsType(c.heads*c.size, true))
		for i := range v.data { // scores of several units
			v.data[i] = rounded(3 * v.data[i])
		}
		v.data = v.data[:rows*c.heads*c.size]
		v.buffer.Device.Len = len(v.data)
		b.set(v)
		return v
	}
	q, k, v, dy := draw(), draw(), draw(), draw()
	moments := rowsType(2*c.heads, false)
	op := graph.AttentionOp{Heads: c.heads, Most: c.most, Drop: graph.Drop{Share: c.share, Site: 2}}
	out := []value{b.empty(q.typ), b.empty(moments)}
	want := onHost(b.T, h, op, []value{q, k, v}, out, starts, rows)
	got := b.onGPU(op, []value{q, k, v}, out, starts, rows)
	name := fmt.Sprintf("%+v", c)
	b.near(name+": y", got[0], want[0], bound)
	for i, what := range []string{"maxima", "inverse sums"} {
		b.near(name+": "+what, everySecond(got[1], i), everySecond(want[1], i), 1e-5)
	}
	y, m := b.empty(q.typ), b.empty(moments)
	y.data, m.data = want[0], want[1]
	y.buffer.Device.Len, m.buffer.Device.Len = len(y.data), len(m.data)
	b.set(y)
	b.set(m)
	grads := []value{b.empty(q.typ), b.empty(q.typ), b.empty(q.typ)}
	back := graph.AttentionBackwardOp{Of: op}
	want = onHost(b.T, h, back, []value{dy, y, m, q, k, v}, grads, starts, rows)
	got = b.onGPU(back, []value{dy, y, m, q, k, v}, grads, starts, rows)
	for i, what := range []string{"dq", "dk", "dv"} {
		b.near(name+": "+what, got[i], want[i], bound)
	}
	again := b.onGPU(back, []value{dy, y, m, q, k, v}, grads, starts, rows)
	for i := range again {
		for j, x := range again[i] {
			if math.Float32bits(x) != math.Float32bits(got[i][j]) {
				b.Fatalf("%s: other bits in the second run", name)
			}
		}
	}
}

// Causal attention is refused by name.
func TestCausalAttentionIsRefused(t *testing.T) {
	b := newBench(t, gpu.Config{})
	c := attentionCase{lengths: []int32{5}, heads: 1, size: 16, most: 5}
	q := b.ragged(c, 16, true)
	_, err := b.ex.Prepare(graph.Application{Op: graph.AttentionOp{Heads: 1, Most: 5, Causal: true},
		Name: "causal-attention", In: []graph.Type{q, q, q, {Shape: tensor.Shape{2}, DType: tensor.Int32}},
		Out: []graph.Type{q, b.ragged(c, 2, false)}, Overwrites: -1})
	if err == nil || !strings.Contains(err.Error(), "causal attention") {
		t.Errorf("got %v", err)
	}
}

func TestAttention(t *testing.T) {
	bounds := map[gpu.Math]float64{gpu.Float32: 1e-5, gpu.TF32: 2e-3, gpu.BF16: 2e-2}
	for _, m := range []gpu.Math{gpu.Float32, gpu.TF32, gpu.BF16} {
		t.Run(string(m), func(t *testing.T) {
			b := newBench(t, gpu.Config{Math: m, Plain: true})
			cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cpu.Close() })
			h := graph.NewHost(cpu)
			for i, c := range []attentionCase{
				{[]int32{1}, 1, 16, 1, 0},
				{[]int32{17, 1, 64, 65, 2, 128}, 2, 32, 130, 0},
				{[]int32{1, 2, 17, 64, 65, 128}, 1, 64, 128, 0.1},
				{[]int32{5, 128}, 3, 16, 128, 0.25},
				{[]int32{40}, 1, 256, 40, 0},
				{[]int32{65, 130, 1}, 1, 32, 512, 0.1},
				{[]int32{33, 70}, 2, 48, 70, 0.1},
				{[]int32{3, 40}, 1, 128, 64, 0.1},
				{[]int32{130, 2, 17}, 2, 64, 130, 0.1},
				{[]int32{128, 100, 31}, 1, 32, 128, 0.1},
			} {
				if testing.Short() && (i >= 8 || m != gpu.Float32 && i%2 > 0) {
					continue // without a GPU products in tiles take long; others have these lengths
				}
				b.checkAttention(h, c, bounds[m])
			}
		})
	}
}
