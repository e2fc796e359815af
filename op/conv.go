package op

import (
	"fmt"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/internal/kernel/product"
	"lockstep/tensor"
)

// Window says how filters or pools move over a map: height first, then width.
type Window struct {
	Stride [2]int // 0 means 1
	// Pad is how many zeros stand above, left of, below and right of the map.
	Pad [4]int
	// Dilation is how far apart the taps of a filter are; 0 means 1.
	Dilation [2]int
	// Groups is how many parts the channels are cut into, each with filters of its own; 0 means 1.
	Groups int
}

// filled returns w with zeros replaced by what they mean.
func (w Window) filled() Window {
	for i := range 2 {
		w.Stride[i], w.Dilation[i] = max(w.Stride[i], 1), max(w.Dilation[i], 1)
	}
	w.Groups = max(w.Groups, 1)
	return w
}

// isPlain reports whether graph's own convolution can do it.
func (w Window) isPlain() bool {
	p := w.Pad
	return w.Groups == 1 && w.Dilation == [2]int{1, 1} && w.Stride[0] == w.Stride[1] &&
		p[0] == p[1] && p[0] == p[2] && p[0] == p[3]
}

// Conv returns the convolution of x, [N, H, W, C], with w, [R, S, C/Groups, K]: output k of K reads the
// channels of its group. bias is [K] or nil. Depthwise is Groups = C.
func Conv(x, w, bias *graph.Node, o Window) *graph.Node {
	o = o.filled()
	if o.isPlain() {
		return graph.Conv(x, w, bias, o.Stride[0], o.Pad[0])
	}
	y := one(conv{o}, x, w)
	if bias != nil {
		y = Add(y, bias)
	}
	return y
}

// conv is the convolution as plain loops.
type conv struct{ Window }

// WindowOf returns the window of an op that Conv has added, in groups or with gaps; ok is false of any other.
func WindowOf(o graph.Custom) (w Window, ok bool) {
	c, ok := o.(conv)
	return c.Window, ok
}

// Name implements graph.Custom.
func (o conv) Name() string { return "conv-groups" }

// extent returns how many places a window of taps along an axis of n pixels has.
func (w Window) extent(axis, n, taps int) int {
	room := n + w.Pad[axis] + w.Pad[axis+2] - (taps-1)*w.Dilation[axis] - 1
	if room < 0 {
		return 0
	}
	return room/w.Stride[axis] + 1
}

// Infer implements graph.Custom.
func (o conv) Infer(in []graph.Type) ([]graph.Type, error) {
	x, w := in[0].Shape, in[1].Shape
	if len(x) != 4 || len(w) != 4 {
		return nil, fmt.Errorf("want a map [N, H, W, C] and weights [R, S, C/groups, K]")
	}
	if x[3]%o.Groups != 0 || w[3]%o.Groups != 0 || w[2]*o.Groups != x[3] {
		return nil, fmt.Errorf("%d groups of %d channels, with filters for %d each", o.Groups, x[3], w[2])
	}
	h, v := o.extent(0, x[1], w[0]), o.extent(1, x[2], w[1])
	if h < 1 || v < 1 || min(o.Pad[0], o.Pad[1], o.Pad[2], o.Pad[3]) < 0 {
		return nil, fmt.Errorf("filter %dx%d does not fit the map padded with %v", w[0], w[1], o.Pad)
	}
	return []graph.Type{float(tensor.Shape{x[0], h, v, w[3]})}, floats(in)
}

// FLOPs implements graph.Custom.
func (o conv) FLOPs(in, out []graph.Type) int64 {
	return 2 * elems(out) * int64(in[1].Shape[:3].Elems())
}

// Kernel implements graph.Custom.
func (o conv) Kernel(cpu *compute.CPU, in, out []graph.Type) graph.Kernel {
	t := &convTask{conv: o, xs: in[0].Shape, ws: in[1].Shape, ys: out[0].Shape}
	return graph.Kernel{Run: func(a *graph.Args) {
		t.x, t.w, t.y = a.In[0].F, a.In[1].F, a.Out[0].F
		cpu.Run(t)
	}}
}

// Gradient implements graph.Custom.
func (o conv) Gradient(in, _, dy []*graph.Node) []*graph.Node {
	x, w := in[0], in[1]
	dw := one(convBackward{of: o, to: w.Shape()}, x, dy[0])
	return []*graph.Node{one(convBackward{of: o, to: x.Shape(), isData: true}, dy[0], w), dw}
}

// convBackward computes dx from dy and w if isData, else dw from x and dy.
type convBackward struct {
	of     conv
	to     tensor.Shape
	isData bool
}

// Name implements graph.Custom.
func (o convBackward) Name() string {
	if o.isData {
		return o.of.Name() + "-backward-data"
	}
	return o.of.Name() + "-backward-weights"
}

// Infer implements graph.Custom.
func (o convBackward) Infer([]graph.Type) ([]graph.Type, error) {
	return []graph.Type{float(o.to)}, nil
}

// FLOPs implements graph.Custom.
func (o convBackward) FLOPs(in, out []graph.Type) int64 {
	if o.isData {
		return o.of.FLOPs([]graph.Type{out[0], in[1]}, in[:1])
	}
	return o.of.FLOPs([]graph.Type{in[0], out[0]}, in[1:])
}

// Kernel implements graph.Custom.
func (o convBackward) Kernel(cpu *compute.CPU, in, out []graph.Type) graph.Kernel {
	t := &convTask{conv: o.of, pass: 2, xs: in[0].Shape, ws: out[0].Shape, ys: in[1].Shape}
	if o.isData {
		t.pass, t.xs, t.ws, t.ys = 1, out[0].Shape, in[1].Shape, in[0].Shape
	}
	return graph.Kernel{Run: func(a *graph.Args) {
		if o.isData {
			t.y, t.w, t.x = a.In[0].F, a.In[1].F, a.Out[0].F
		} else {
			t.x, t.y, t.w = a.In[0].F, a.In[1].F, a.Out[0].F
		}
		cpu.Run(t)
	}}
}

// Gradient implements graph.Custom.
func (o convBackward) Gradient(_, _, _ []*graph.Node) []*graph.Node { return make([]*graph.Node, 2) }

// convTask computes y from x and w, or dx (pass 1) or dw (pass 2) in the place of x and w.
type convTask struct {
	conv
	pass       int
	xs, ws, ys tensor.Shape
	x, w, y    []float32
}

// Do implements compute.Task.
func (t *convTask) Do(_, part, parts int) {
	switch t.pass {
	case 0:
		lo, hi := compute.Span(t.ys[0]*t.ys[1], part, parts)
		for i := lo; i < hi; i++ {
			t.forward(i/t.ys[1], i%t.ys[1])
		}
	case 1:
		lo, hi := compute.Span(t.xs[0]*t.xs[1], part, parts)
		for i := lo; i < hi; i++ {
			t.data(i/t.xs[1], i%t.xs[1])
		}
	case 2:
		lo, hi := compute.Span(t.ws[:3].Elems(), part, parts)
		for i := lo; i < hi; i++ {
			t.weights(i)
		}
	}
}

// source returns where along an axis tap r of output p reads; ok is false outside of the map.
func (t *convTask) source(axis, p, r int) (at int, ok bool) {
	at = p*t.Stride[axis] + r*t.Dilation[axis] - t.Pad[axis]
	return at, at >= 0 && at < t.xs[1+axis]
}

// forward computes row p of sample n.
func (t *convTask) forward(n, p int) {
	channels, outs, per := t.xs[3], t.ys[3], t.ws[2]
	perOut := outs / t.Groups
	for q := range t.ys[2] {
		y := t.y[((n*t.ys[1]+p)*t.ys[2]+q)*outs:][:outs]
		clear(y)
		for r := range t.ws[0] {
			h, ok := t.source(0, p, r)
			for s := 0; ok && s < t.ws[1]; s++ {
				v, ok := t.source(1, q, s)
				if !ok {
					continue
				}
				x := t.x[((n*t.xs[1]+h)*t.xs[2]+v)*channels:][:channels]
				w := t.w[(r*t.ws[1]+s)*per*outs:][:per*outs]
				if per == 1 && perOut == 1 {
					for k, v := range x {
						y[k] += float32(v * w[k])
					}
					continue
				}
				for c, v := range x {
					lo := c / per * perOut
					row := w[c%per*outs+lo:][:perOut]
					for k, u := range row {
						y[lo+k] += float32(v * u)
					}
				}
			}
		}
	}
}

// target returns the output whose tap r reads at along an axis; ok is false if there is none.
func (t *convTask) target(axis, at, r int) (p int, ok bool) {
	p = at + t.Pad[axis] - r*t.Dilation[axis]
	if p < 0 || p%t.Stride[axis] != 0 {
		return 0, false
	}
	p /= t.Stride[axis]
	return p, p < t.ys[1+axis]
}

// data computes row h of the gradient of sample n.
func (t *convTask) data(n, h int) {
	channels, outs, per := t.xs[3], t.ys[3], t.ws[2]
	perOut := outs / t.Groups
	for v := range t.xs[2] {
		x := t.x[((n*t.xs[1]+h)*t.xs[2]+v)*channels:][:channels]
		clear(x)
		for r := range t.ws[0] {
			p, ok := t.target(0, h, r)
			for s := 0; ok && s < t.ws[1]; s++ {
				q, ok := t.target(1, v, s)
				if !ok {
					continue
				}
				y := t.y[((n*t.ys[1]+p)*t.ys[2]+q)*outs:][:outs]
				w := t.w[(r*t.ws[1]+s)*per*outs:][:per*outs]
				for c := range x {
					lo, sum := c/per*perOut, float32(0)
					for k, u := range w[c%per*outs+lo:][:perOut] {
						sum += float32(u * y[lo+k])
					}
					x[c] += sum
				}
			}
		}
	}
}

// weights computes row i of the gradient of the weights: those of one tap and one channel of each group.
func (t *convTask) weights(i int) {
	channels, outs, per := t.xs[3], t.ys[3], t.ws[2]
	perOut := outs / t.Groups
	c, s, r := i%per, i/per%t.ws[1], i/per/t.ws[1]
	w := t.w[i*outs : (i+1)*outs]
	clear(w)
	var sums [lanes]float32
	for lo := 0; lo < outs; lo += lanes {
		block := sums[:min(lanes, outs-lo)]
		for np := range t.ys[0] * t.ys[1] {
			n, p := np/t.ys[1], np%t.ys[1]
			h, ok := t.source(0, p, r)
			if !ok {
				continue
			}
			clear(block)
			for q := range t.ys[2] {
				v, ok := t.source(1, q, s)
				if !ok {
					continue
				}
				x := t.x[((n*t.xs[1]+h)*t.xs[2]+v)*channels:][:channels]
				y := t.y[(np*t.ys[2]+q)*outs+lo:][:len(block)]
				if per == 1 && perOut == 1 {
					for k, u := range x[lo : lo+len(block)] {
						block[k] += float32(u * y[k])
					}
					continue
				}
				for k, d := range y {
					block[k] += float32(x[(lo+k)/perOut*per+c] * d)
				}
			}
			for k, v := range block {
				w[lo+k] += v
			}
		}
	}
}

// ConvTranspose returns the adjoint of a convolution with respect to its input, also called deconvolution:
// x is [N, OH, OW, K], w [R, S, C, K], the result [N, H, W, C] with H = (OH-1)*stride - 2*pad + R + extra.
// bias is [C] or nil.
func ConvTranspose(x, w, bias *graph.Node, stride, pad, extra int) *graph.Node {
	y := one(convTranspose{stride, pad, extra}, x, w)
	if bias != nil {
		y = Add(y, bias)
	}
	return y
}

type convTranspose struct{ stride, pad, extra int }

// Name implements graph.Custom.
func (o convTranspose) Name() string { return "conv-transpose" }

// shape is that of the convolution whose adjoint this is.
func (o convTranspose) shape(x, w tensor.Shape) product.ConvShape {
	side := func(n, taps int) int { return (n-1)*o.stride - 2*o.pad + taps + o.extra }
	return product.ConvShape{N: x[0], H: side(x[1], w[0]), W: side(x[2], w[1]), C: w[2], K: w[3], R: w[0],
		S:      w[1],
		Stride: o.stride, Pad: o.pad}
}

// Infer implements graph.Custom.
func (o convTranspose) Infer(in []graph.Type) ([]graph.Type, error) {
	x, w := in[0].Shape, in[1].Shape
	if len(x) != 4 || len(w) != 4 || x[3] != w[3] {
		return nil, fmt.Errorf("want a map [N, H, W, K] and weights [R, S, C, K]")
	}
	if o.stride < 1 || o.pad < 0 || o.extra < 0 || o.extra >= o.stride {
		return nil, fmt.Errorf("stride %d, padding %d, %d extra rows", o.stride, o.pad, o.extra)
	}
	s := o.shape(x, w)
	if s.H < 1 || s.W < 1 || s.H+2*s.Pad < s.R || s.W+2*s.Pad < s.S {
		return nil, fmt.Errorf("no result from a map %dx%d", x[1], x[2])
	}
	return []graph.Type{float(tensor.Shape{s.N, s.H, s.W, s.C})}, floats(in)
}

// FLOPs implements graph.Custom.
func (o convTranspose) FLOPs(in, _ []graph.Type) int64 {
	return o.shape(in[0].Shape, in[1].Shape).FLOPs()
}

// Kernel implements graph.Custom.
func (o convTranspose) Kernel(cpu *compute.CPU, in, _ []graph.Type) graph.Kernel {
	v := product.On(cpu).NewConv(o.shape(in[0].Shape, in[1].Shape))
	ofParts, _ := v.PartsBackward()
	return graph.Kernel{Scratch: v.ScratchFloats(), OfParts: ofParts, Run: func(a *graph.Args) {
		v.BackwardData(a.Out[0].F, a.In[0].F, a.In[1].F, false, a.Scratch.F)
	}}
}

// Gradient implements graph.Custom: the convolution itself, and the gradient of its weights.
func (o convTranspose) Gradient(in, _, dy []*graph.Node) []*graph.Node {
	x, w := in[0], in[1]
	dw := one(convTransposeWeights{o, w.Shape()}, dy[0], x)
	return []*graph.Node{graph.Conv(dy[0], w, nil, o.stride, o.pad), dw}
}

// convTransposeWeights computes dw from dy and x.
type convTransposeWeights struct {
	of convTranspose
	w  tensor.Shape
}

// Name implements graph.Custom.
func (o convTransposeWeights) Name() string { return "conv-transpose-backward-weights" }

// Infer implements graph.Custom.
func (o convTransposeWeights) Infer([]graph.Type) ([]graph.Type, error) {
	return []graph.Type{float(o.w)}, nil
}

// FLOPs implements graph.Custom.
func (o convTransposeWeights) FLOPs(in, _ []graph.Type) int64 {
	return o.of.shape(in[1].Shape, o.w).FLOPs()
}

// Kernel implements graph.Custom.
func (o convTransposeWeights) Kernel(cpu *compute.CPU, in, _ []graph.Type) graph.Kernel {
	v := product.On(cpu).NewConv(o.of.shape(in[1].Shape, o.w))
	_, ofParts := v.PartsBackward()
	return graph.Kernel{Scratch: v.ScratchFloats(), OfParts: ofParts, Run: func(a *graph.Args) {
		v.BackwardWeights(a.Out[0].F, a.In[0].F, a.In[1].F, a.Scratch.F)
	}}
}

// Gradient implements graph.Custom.
func (o convTransposeWeights) Gradient(_, _, _ []*graph.Node) []*graph.Node {
	return make([]*graph.Node, 2)
}
