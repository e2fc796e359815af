//go:build cuda && linux && amd64

package gpu_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"lockstep/graph"
	"lockstep/graph/gpu"
	"lockstep/random"
	"lockstep/tensor"
)

// bench is an executor with what a test puts there.
type bench struct {
	*testing.T
	ex     *gpu.Executor
	isHalf bool // maps are bf16
	drawn  uint64
}

// newBench opens a GPU. Libraries need a real one, with all that belongs to it.
func newBench(t *testing.T, c gpu.Config) *bench {
	if !c.Plain {
		ex, err := gpu.Open(c)
		if err != nil {
			t.Skip(err)
		}
		ex.Close()
	}
	b := &bench{T: t, ex: open(t, c), isHalf: c.Math == gpu.BF16}
	t.Cleanup(func() {
		for _, m := range b.ex.Methods() {
			t.Log(m)
		}
	})
	return b
}

// value is a value of the executor with what it holds, rounded to its type.
type value struct {
	typ    graph.Type
	buffer *graph.Buffer
	data   []float32
}

// room returns uncleared memory for n elements of 4 bytes: all are NaN.
func (b *bench) room(n int) *graph.Buffer {
	m, err := b.ex.Allocate(max(n, 1))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(m.Release)
	buffer := &graph.Buffer{Device: graph.Span{Handle: m.Handle, Len: n}}
	nans := make([]int32, n)
	for i := range nans {
		nans[i] = -1
	}
	b.ex.Upload(buffer, &graph.Buffer{I: nans})
	return buffer
}

// map and floats are types of maps and of other values.
func (b *bench) mapType(axes ...int) graph.Type {
	t := graph.Type{Shape: axes}
	if b.isHalf {
		t.DType = tensor.BFloat16
	}
	return t
}

func floats(axes ...int) graph.Type { return graph.Type{Shape: axes} }

// empty returns a value that is not set.
func (b *bench) empty(t graph.Type) value {
	n := t.Shape.Elems()
	v := value{typ: t, buffer: b.room((n*t.DType.Bytes() + 3) / 4)}
	v.buffer.Device.Len = n
	return v
}

// random returns a value of random numbers that bf16 can represent, so that all precisions agree.
func (b *bench) random(t graph.Type) value {
	b.drawn++
	v := b.empty(t)
	v.data = make([]float32, t.Shape.Elems())
	for i := range v.data {
		v.data[i] = rounded(random.Stream(b.drawn).Symmetric(uint64(i), 1))
	}
	b.set(v)
	return v
}

func rounded(x float32) float32 {
	bits := math.Float32bits(x)
	bits += 0x7fff + bits>>16&1
	return math.Float32frombits(bits &^ 0xffff)
}

// set uploads v.data.
func (b *bench) set(v value) {
	raw := make([]int32, v.buffer.Device.Len*v.typ.DType.Bytes()/4+1)
	for i, x := range v.data {
		bits := math.Float32bits(x)
		if v.typ.DType == tensor.BFloat16 {
			raw[i/2] |= int32(bits >> 16 << (16 * (i % 2)))
		} else {
			raw[i] = int32(bits)
		}
	}
	b.ex.Upload(v.buffer, &graph.Buffer{I: raw[:(len(v.data)*v.typ.DType.Bytes()+3)/4]})
}

// get downloads n elements of v.
func (b *bench) get(v value, n int) []float32 {
	raw := make([]float32, (n*v.typ.DType.Bytes()+3)/4)
	b.ex.Download(&graph.Buffer{F: raw}, v.buffer)
	if v.typ.DType != tensor.BFloat16 {
		return raw
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = math.Float32frombits(math.Float32bits(raw[i/2]) >> (16 * (i % 2)) << 16)
	}
	return data
}

// run computes op twice, with the addend, if any, set again in between, and returns the results, which must
// have the same bits. A ragged run has rows rows.
func (b *bench) run(op graph.Op, in, out []value, rows int) [][]float32 {
	b.Helper()
	a := graph.Application{Op: op, Name: fmt.Sprintf("%T", op), Overwrites: -1}
	args := &graph.Args{}
	fit := func(v value) {
		if v.typ.Ragged {
			v.buffer.Device.Len = rows * (v.typ.Shape.Elems() / v.typ.Shape[0])
		}
	}
	for _, v := range in {
		fit(v)
		a.In, args.In = append(a.In, v.typ), append(args.In, v.buffer)
	}
	for _, v := range out {
		fit(v)
		a.Out, args.Out = append(a.Out, v.typ), append(args.Out, v.buffer)
	}
	k, err := b.ex.Prepare(a)
	if err != nil {
		b.Fatal(err)
	}
	args.Scratch = b.room(k.Scratch)
	var first [][]float32
	for again := range 2 {
		k.Run(args)
		for i, v := range out {
			data := b.get(v, v.buffer.Device.Len)
			if again == 0 {
				first = append(first, data)
			} else if !slices.EqualFunc(data, first[i], func(x, y float32) bool {
				return math.Float32bits(x) == math.Float32bits(y)
			}) {
				b.Errorf("%T: result %d has other bits in the second run", op, i)
			}
		}
	}
	if err := b.ex.Err(); err != nil {
		b.Fatal(err)
	}
	return first
}

// term is the sum of products with the sum of their magnitudes, which bounds the error.
type term struct{ sum, size float64 }

func (t *term) add(x, y float32) {
	p := float64(x) * float64(y)
	t.sum += p
	t.size += math.Abs(p)
}

// outSize returns the size of the result of s.
func outSize(s graph.ConvShape) (int, int) {
	return (s.H+2*s.Pad-s.R)/s.Stride + 1, (s.W+2*s.Pad-s.S)/s.Stride + 1
}

// eachProduct calls f with the indices into x, w and y of all products of the convolution.
func eachProduct(s graph.ConvShape, f func(x, w, y int)) {
	oh, ow := outSize(s)
	for pixel := range s.N * oh * ow {
		n, p, q := pixel/(oh*ow), pixel/ow%oh, pixel%ow
		for tap := range s.R * s.S {
			h, w := p*s.Stride-s.Pad+tap/s.S, q*s.Stride-s.Pad+tap%s.S
			if h < 0 || h >= s.H || w < 0 || w >= s.W {
				continue
			}
			for c := range s.C {
				for k := range s.K {
					f(((n*s.H+h)*s.W+w)*s.C+c, (tap*s.C+c)*s.K+k, pixel*s.K+k)
				}
			}
		}
	}
}

// compare checks results against exact ones after finish.
func (b *bench) compare(what string, v value, got []float32, want []term,
	finish func(i int, x float64) float64) {
	b.Helper()
	bad := 0
	for i, x := range got {
		exact := finish(i, want[i].sum)
		allowed := 2e-6 * (1 + want[i].size)
		if v.typ.DType == tensor.BFloat16 {
			// A bias may be added to what is rounded.
			allowed += (math.Abs(exact) + math.Abs(want[i].sum)) / 128
		}
		if b.isHalf {
			allowed += want[i].size/4096 + math.Abs(exact)/256 // a gradient of weights may have been bf16
		}
		if !(math.Abs(float64(x)-exact) <= allowed) {
			if bad++; bad <= 3 {
				b.Errorf("%s: element %d is %g, want %g +- %g", what, i, x, exact, allowed)
			}
		}
	}
	if bad > 3 {
		b.Errorf("%s: %d of %d elements are wrong", what, bad, len(got))
	}
}

func same(_ int, x float64) float64 { return x }

// checkConv checks all directions of a convolution.
func (b *bench) checkConv(s graph.ConvShape) {
	b.Helper()
	oh, ow := outSize(s)
	x, w, dy := b.random(b.mapType(s.N, s.H, s.W, s.C)), b.random(floats(s.R, s.S, s.C, s.K)),
		b.random(b.mapType(s.N, oh, ow, s.K))
	bias, more := b.random(floats(s.K)), b.random(b.mapType(s.N, s.H, s.W, s.C))
	y, dx, dw := make([]term, len(dy.data)), make([]term, len(x.data)), make([]term, len(w.data))
	eachProduct(s, func(i, j, k int) {
		y[k].add(x.data[i], w.data[j])
		dx[i].add(dy.data[k], w.data[j])
		dw[j].add(x.data[i], dy.data[k])
	})
	name := fmt.Sprintf("%+v", s)
	conv := graph.ConvOp{Stride: s.Stride, Pad: s.Pad}
	out := b.empty(dy.typ)
	b.compare(name+" forward", out, b.run(conv, []value{x, w}, []value{out}, 0)[0], y, same)
	conv.ReLU, out = true, b.empty(dy.typ)
	b.compare(name+" forward+relu", out, b.run(conv, []value{x, w, bias}, []value{out}, 0)[0], y,
		func(i int, x float64) float64 { return max(x+float64(bias.data[i%s.K]), 0) })

	data := graph.ConvBackwardDataOp{Shape: s}
	out = b.empty(x.typ)
	b.compare(name+" data", out, b.run(data, []value{dy, w}, []value{out}, 0)[0], dx, same)
	out = b.empty(x.typ)
	b.compare(name+" data+add", out, b.run(graph.ConvBackwardDataAddOp{ConvBackwardDataOp: data},
		[]value{dy, w, more}, []value{out}, 0)[0], dx,
		func(i int, x float64) float64 { return x + float64(more.data[i]) })

	out = b.empty(w.typ)
	b.compare(name+" weights", out, b.run(graph.ConvBackwardWeightsOp{Shape: s}, []value{x, dy},
		[]value{out}, 0)[0], dw, same)
	b.checkFused(s, conv, x, w, dy, bias, y, dx)
}

// checkFused checks the ops that take sums of what they have computed.
func (b *bench) checkFused(s graph.ConvShape, conv graph.ConvOp, x, w, dy, bias value, y, dx []term) {
	b.Helper()
	name := fmt.Sprintf("%+v", s)
	out := b.empty(dy.typ)
	results := []value{out, b.empty(floats(s.K)), b.empty(floats(s.K)), b.empty(floats(s.K))}
	finish := func(i int, x float64) float64 { return max(x+float64(bias.data[i%s.K]), 0) }
	got := b.run(graph.ConvStatisticsOp{ConvOp: conv}, []value{x, w, bias}, results, 0)
	b.compare(name+" forward+statistics", out, got[0], y, finish)
	mean := make([]term, s.K)
	for i := range y {
		mean[i%s.K].add(float32(finish(i, y[i].sum)), float32(s.K)/float32(len(y)))
	}
	b.compare(name+" mean", results[1], got[1], mean, same)

	statistic := func() value { return b.random(floats(s.C)) }
	out, sums := b.empty(x.typ), b.empty(floats(2*s.C))
	op := graph.ConvBackwardDataSumsOp{ConvBackwardDataOp: graph.ConvBackwardDataOp{Shape: s}, Eps: 1e-5}
	got = b.run(op,
		[]value{dy, w, x, statistic(), statistic(), statistic(), statistic()}, []value{out, sums}, 0)
	b.compare(name+" data+sums", out, got[0], dx, same)
	total := make([]term, s.C)
	for i := range dx {
		total[i%s.C].add(got[0][i], 1)
	}
	b.compare(name+" sums", sums, got[1][:s.C], total, same)
}

// checkLinear checks a linear layer of n rows; with fewer it is ragged and has only these.
func (b *bench) checkLinear(n, c, k, rows int) {
	b.Helper()
	isRagged := rows < n
	rowType := func(cols int) graph.Type {
		t := graph.Type{Shape: tensor.Shape{n, cols}, Ragged: isRagged}
		if b.isHalf {
			t.DType = tensor.BFloat16
		}
		return t
	}
	s := graph.ConvShape{N: n, H: 1, W: 1, C: c, K: k, R: 1, S: 1, Stride: 1}
	x, w, dy, bias, more := b.random(rowType(c)), b.random(floats(c, k)), b.random(rowType(k)),
		b.random(floats(k)), b.random(rowType(c))
	y, dx, dw := make([]term, rows*k), make([]term, rows*c), make([]term, c*k)
	few := s
	few.N = rows
	eachProduct(few, func(i, j, k int) {
		y[k].add(x.data[i], w.data[j])
		dx[i].add(dy.data[k], w.data[j])
		dw[j].add(x.data[i], dy.data[k])
	})
	name := fmt.Sprintf("linear %d (%d) x %d to %d", n, rows, c, k)
	withBias := func(i int, x float64) float64 { return x + float64(bias.data[i%k]) }
	out := b.empty(dy.typ)
	b.compare(name, out, b.run(graph.LinearOp{}, []value{x, w, bias}, []value{out}, rows)[0], y, withBias)
	out = b.empty(dy.typ)
	b.compare(name+" relu", out, b.run(graph.LinearOp{ReLU: true}, []value{x, w, bias}, []value{out},
		rows)[0], y, func(i int, x float64) float64 { return max(withBias(i, x), 0) })
	out, gelu := b.empty(dy.typ), b.empty(dy.typ)
	got := b.run(graph.LinearOp{GELU: true}, []value{x, w, bias}, []value{out, gelu}, rows)
	b.compare(name+" before gelu", out, got[0], y, withBias)
	b.compare(name+" gelu", out, got[1], y, func(i int, x float64) float64 {
		x = withBias(i, x)
		return x * (1 + math.Erf(x/math.Sqrt2)) / 2
	})
	if !b.isHalf || isRagged {
		// The result of a layer that is not ragged, such as the logits, is float32 whatever its operands are.
		out = b.empty(x.typ)
	} else {
		out, more = b.empty(floats(n, c)), b.random(floats(n, c))
	}
	data := graph.ConvBackwardDataOp{Shape: s}
	b.compare(name+" data", out, b.run(data, []value{dy, w}, []value{out}, rows)[0], dx, same)
	out = b.empty(out.typ)
	b.compare(name+" data+add", out, b.run(graph.ConvBackwardDataAddOp{ConvBackwardDataOp: data},
		[]value{dy, w, more}, []value{out}, rows)[0], dx,
		func(i int, x float64) float64 { return x + float64(more.data[i]) })
	out = b.empty(w.typ)
	b.compare(name+" weights", out, b.run(graph.ConvBackwardWeightsOp{Shape: s}, []value{x, dy},
		[]value{out}, rows)[0], dw, same)
}

// smallShapes has strides, padding, odd sizes and numbers of channels of all kinds.
var smallShapes = []graph.ConvShape{
	{N: 2, H: 5, W: 6, C: 3, K: 4, R: 3, S: 3, Stride: 1, Pad: 1},
	{N: 2, H: 7, W: 5, C: 4, K: 8, R: 3, S: 3, Stride: 2, Pad: 1},
	{N: 1, H: 8, W: 8, C: 8, K: 12, R: 1, S: 1, Stride: 2},
	{N: 2, H: 6, W: 6, C: 4, K: 4, R: 5, S: 5, Stride: 1, Pad: 2},
	{N: 3, H: 9, W: 9, C: 6, K: 16, R: 5, S: 5, Stride: 1},
	{N: 2, H: 4, W: 4, C: 4, K: 8, R: 4, S: 4, Stride: 1},
	{N: 2, H: 5, W: 5, C: 8, K: 72, R: 1, S: 1, Stride: 1},
	{N: 1, H: 5, W: 7, C: 5, K: 7, R: 3, S: 2, Stride: 3, Pad: 1},
	{N: 9, H: 6, W: 6, C: 20, K: 24, R: 3, S: 3, Stride: 1, Pad: 1},
	{N: 2, H: 11, W: 10, C: 32, K: 16, R: 3, S: 3, Stride: 2, Pad: 1},
}

// largeShapes are computed in the larger tiles.
var largeShapes = []graph.ConvShape{
	{N: 1, H: 12, W: 11, C: 940, K: 132, R: 3, S: 3, Stride: 1, Pad: 1},
	{N: 1, H: 12, W: 11, C: 132, K: 940, R: 3, S: 3, Stride: 1, Pad: 1},
	{N: 40, H: 16, W: 16, C: 16, K: 136, R: 3, S: 3, Stride: 1, Pad: 1},
}

// configs are the ways to compute. Those with libraries need a GPU.
func configs() []gpu.Config {
	var all []gpu.Config
	for _, plain := range []bool{true, false} {
		for _, m := range []gpu.Math{gpu.Float32, gpu.TF32, gpu.BF16} {
			if plain && m == gpu.TF32 {
				continue // as Float32
			}
			all = append(all, gpu.Config{Math: m, Plain: plain})
		}
	}
	return all
}

// Every direction of convolutions and linear layers agrees with a plain loop in float64, and has the same
// bits twice.
func TestProducts(t *testing.T) {
	for _, c := range configs() {
		t.Run(fmt.Sprintf("%s plain=%t", c.Math, c.Plain), func(t *testing.T) {
			b := newBench(t, c)
			for _, s := range smallShapes {
				b.checkConv(s)
			}
			b.checkLinear(5, 7, 3, 5)
			b.checkLinear(70, 36, 68, 70)
			b.checkLinear(64, 24, 40, 50)
			b.checkLinear(600, 8, 8, 257)
		})
	}
}

// Large products take other tiles.
func TestLargeProducts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long without a GPU")
	}
	for _, c := range configs() {
		t.Run(fmt.Sprintf("%s plain=%t", c.Math, c.Plain), func(t *testing.T) {
			b := newBench(t, c)
			for _, s := range largeShapes {
				b.checkConv(s)
			}
			for _, tile := range []string{"plain_deep", "plain_tall"} {
				b.ex.Prefer(tile)
				b.checkConv(largeShapes[2])
			}
			b.ex.Prefer()
			b.checkLinear(8500, 132, 136, 8449)
		})
	}
}

// Convolutions with strides and filters of one pixel can be products of rows.
func TestStridedProducts(t *testing.T) {
	for _, c := range configs() {
		t.Run(fmt.Sprintf("%s plain=%t", c.Math, c.Plain), func(t *testing.T) {
			b := newBench(t, c)
			b.ex.Prefer("rows plain_small", "rows cuBLASLt")
			b.checkConv(graph.ConvShape{N: 9, H: 8, W: 7, C: 8, K: 12, R: 1, S: 1, Stride: 2})
			b.checkConv(graph.ConvShape{N: 3, H: 7, W: 6, C: 32, K: 64, R: 1, S: 1, Stride: 3})
		})
	}
}

// Convolutions of few channels can be products of what the filters meet.
func TestColumns(t *testing.T) {
	for _, c := range configs() {
		t.Run(fmt.Sprintf("%s plain=%t", c.Math, c.Plain), func(t *testing.T) {
			b := newBench(t, c)
			b.ex.Prefer("columns plain_small", "columns cuBLASLt")
			b.checkConv(graph.ConvShape{N: 3, H: 9, W: 8, C: 3, K: 16, R: 3, S: 3, Stride: 1, Pad: 1})
			b.checkConv(graph.ConvShape{N: 2, H: 15, W: 13, C: 3, K: 24, R: 7, S: 7, Stride: 2, Pad: 3})
			b.checkConv(graph.ConvShape{N: 2, H: 7, W: 9, C: 5, K: 8, R: 2, S: 3, Stride: 3})
			b.checkConv(graph.ConvShape{N: 4, H: 12, W: 12, C: 1, K: 6, R: 5, S: 5, Stride: 1})
		})
	}
}
