package graph

import (
	"fmt"

	"lockstep/internal/kernel/product"
	"lockstep/tensor"
)

// Conv returns the convolution of x with w, y[n,h,w,k] = bias[k] + sum over r, s, c of
// x[n, h*stride+r-pad, w*stride+s-pad, c] * w[r,s,c,k], zeros standing outside the map.
//
// x is [N, H, W, C], w [R, S, C, K], bias [K] or nil; the result is [N, OH, OW, K] with
// OH = (H+2*pad-R)/stride + 1, rounded down.
func Conv(x, w, bias *Node, stride, pad int) *Node {
	return x.graph.emit(conv{stride: stride, pad: pad}, withBias(x, w, bias)...)
}

// withBias lists the inputs of an op with an optional bias.
func withBias(x, w, bias *Node) []*Node {
	if bias == nil {
		return []*Node{x, w}
	}
	return []*Node{x, w, bias}
}

type conv struct {
	stride, pad int
	relu        bool
}

func (o conv) Name() string {
	if o.relu {
		return "conv+relu"
	}
	return "conv"
}

func (o conv) withReLU() Op { o.relu = true; return o }

// shape returns the kernel's description of the convolution of x with w.
func (o conv) shape(x, w Type) product.ConvShape {
	return product.ConvShape{
		N: x.Shape[0], H: x.Shape[1], W: x.Shape[2], C: x.Shape[3],
		R: w.Shape[0], S: w.Shape[1], K: w.Shape[3], Stride: o.stride, Pad: o.pad,
	}
}

func (o conv) Infer(in []Type) ([]Type, error) {
	x, w := in[0], in[1]
	if len(x.Shape) != 4 || len(w.Shape) != 4 {
		return nil, fmt.Errorf("want a map [N, H, W, C] and weights [R, S, C, K]")
	}
	if x.Shape[3] != w.Shape[2] {
		return nil, fmt.Errorf("input has %d channels, weights %d", x.Shape[3], w.Shape[2])
	}
	if o.stride < 1 || o.pad < 0 {
		return nil, fmt.Errorf("stride %d, padding %d", o.stride, o.pad)
	}
	if err := checkBias(in, w.Shape[3]); err != nil {
		return nil, err
	}
	s := o.shape(x, w)
	if s.H+2*s.Pad < s.R || s.W+2*s.Pad < s.S {
		return nil, fmt.Errorf("filter %dx%d is larger than the padded map", s.R, s.S)
	}
	return []Type{float(s.N, s.OutH(), s.OutW(), s.K)}, nil
}

// checkBias checks the third input, if there is one.
func checkBias(in []Type, k int) error {
	if len(in) == 3 && !in[2].Shape.Equal(tensor.Shape{k}) {
		return fmt.Errorf("bias has shape %v, want [%d]", in[2].Shape, k)
	}
	return nil
}

func (o conv) Cost(in, out []Type) Cost { return cost(o.shape(in[0], in[1]).FLOPs(), in, out) }

func (o conv) host(h *Host, in, out []Type) Kernel {
	return convForward(h.products.NewConv(o.shape(in[0], in[1])), o.relu)
}

// convForward runs a planned convolution whose bias, if any, is the third input.
func convForward(v *product.Conv, relu bool) Kernel {
	return Kernel{Scratch: v.ScratchFloats(), Run: func(a *Args) {
		v.Forward(a.Out[0].F, a.In[0].F, a.In[1].F, biasOf(a), relu, nil, a.Scratch.F)
	}}
}

// convStatistics is a convolution that also computes the batchStatistics of its result.
type convStatistics struct{ conv }

func (o convStatistics) Name() string { return o.conv.Name() + "+statistics" }

func (o convStatistics) Infer(in []Type) ([]Type, error) {
	y, err := o.conv.Infer(in)
	if err != nil {
		return nil, err
	}
	statistics, err := batchStatistics{}.Infer(y)
	return append(y, statistics...), err
}

// repeated is the convolution alone: its statistics are few and stay.
func (o convStatistics) repeated() Op { return o.conv }

func (o convStatistics) Cost(in, out []Type) Cost {
	c := o.conv.Cost(in, out)
	c.FLOPs += batchStatistics{}.Cost(out[:1], nil).FLOPs
	return c
}

func (o convStatistics) host(h *Host, in, out []Type) Kernel {
	v, m := h.products.NewConv(o.shape(in[0], in[1])), moments(h, out[0])
	return Kernel{Scratch: v.ScratchFloats(), Run: func(a *Args) {
		m.Start(a.Out[0].F)
		v.Forward(a.Out[0].F, a.In[0].F, a.In[1].F, biasOf(a), o.relu, m, a.Scratch.F)
		m.Result(a.Out[1].F, a.Out[2].F, a.Out[3].F)
	}}
}

// biasOf returns the third input, or nil.
func biasOf(a *Args) []float32 {
	if len(a.In) < 3 {
		return nil
	}
	return a.In[2].F
}

func (o conv) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return convGradient(b, c, dy[0], o.shape(c.in[0].typ, c.in[1].typ))
}

// convGradient emits the gradients of a convolution or a linear layer, which is one of shape s. The
// bias and the weights come first, since theirs may be exchanged while the rest goes on.
func convGradient(b *Graph, c *call, dy *Node, s product.ConvShape) []*Node {
	x, w := c.in[0], c.in[1]
	d := make([]*Node, len(c.in))
	if len(d) == 3 {
		d[2] = b.emit(columnSums{}, dy)
	}
	d[1] = b.emit(convBackwardWeights{of: c.op.Name(), shape: s, w: w.typ}, x, dy)
	d[0] = b.emit(convBackwardData{of: c.op.Name(), shape: s, x: x.typ}, dy, w)
	return d
}

// convBackwardData computes dx from dy and w: the convolution's adjoint with respect to its input.
type convBackwardData struct {
	of    string
	shape product.ConvShape
	x     Type
}

func (o convBackwardData) Name() string { return o.of + "-backward-data" }

func (convBackwardData) isRowwise() {}

func (o convBackwardData) Infer([]Type) ([]Type, error) { return []Type{o.x}, nil }

func (o convBackwardData) Cost(in, out []Type) Cost { return cost(o.shape.FLOPs(), in, out) }

func (o convBackwardData) host(h *Host, in, _ []Type) Kernel {
	v := h.products.NewConv(o.shape)
	return resizing(Kernel{Scratch: v.ScratchFloats(), Run: func(a *Args) {
		v.BackwardData(a.Out[0].F, a.In[0].F, a.In[1].F, false, a.Scratch.F)
	}}, v, in)
}

// convBackwardDataAdd adds convBackwardData's result to its third input.
type convBackwardDataAdd struct{ convBackwardData }

func (o convBackwardDataAdd) Name() string { return o.convBackwardData.Name() + "+add" }

func (convBackwardDataAdd) overwrites() int { return 2 }

func (o convBackwardDataAdd) host(h *Host, in, _ []Type) Kernel {
	v := h.products.NewConv(o.shape)
	return resizing(Kernel{Scratch: v.ScratchFloats(), Run: func(a *Args) {
		copy(a.Out[0].F, a.In[2].F) // at once if it is the same memory
		v.BackwardData(a.Out[0].F, a.In[0].F, a.In[1].F, true, a.Scratch.F)
	}}, v, in)
}

// convBackwardWeights computes dw from x and dy: the convolution's adjoint with respect to its
// weights.
type convBackwardWeights struct {
	of    string
	shape product.ConvShape
	w     Type
}

func (o convBackwardWeights) Name() string { return o.of + "-backward-weights" }

func (convBackwardWeights) isRowwise() {}

func (o convBackwardWeights) Infer([]Type) ([]Type, error) { return []Type{o.w}, nil }

func (o convBackwardWeights) Cost(in, out []Type) Cost { return cost(o.shape.FLOPs(), in, out) }

func (o convBackwardWeights) host(h *Host, in, _ []Type) Kernel {
	v := h.products.NewConv(o.shape)
	return resizing(Kernel{Scratch: v.ScratchFloats(), Run: func(a *Args) {
		v.BackwardWeights(a.Out[0].F, a.In[0].F, a.In[1].F, a.Scratch.F)
	}}, v, in)
}
