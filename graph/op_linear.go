package graph

import (
	"fmt"

	"lockstep/internal/kernel/product"
)

// Linear returns x times w plus bias: y[n,k] = bias[k] + sum over c of x[n,c] * w[c,k].
//
// w is [C, K], bias [K] or nil. The features C may be several axes, which then are the last axes of
// x: [N, C] times [C, K] gives [N, K], a sequence [N, T, C] gives [N, T, K], and a map [N, H, W, C]
// times [H, W, C, K] gives [N, K].
func Linear(x, w, bias *Node) *Node {
	return x.graph.emit(LinearOp{}, withBias(x, w, bias)...)
}

// LinearOp is Linear of x, w and, if there is a third input, bias. With ReLU it takes the maximum of that
// and 0; with GELU it has a second result, GELU of the first, and with Slope, on the host alone, the
// derivative of GELU takes the place of the first.
type LinearOp struct{ ReLU, GELU, Slope bool }

func (o LinearOp) name() string {
	switch {
	case o.ReLU:
		return "linear+relu"
	case o.GELU:
		return "linear+gelu"
	}
	return "linear"
}

func (LinearOp) isRowwise() {}

func (o LinearOp) withReLU() Op { o.ReLU = true; return o }

// shape describes the layer as a 1x1 convolution over maps of one pixel.
func (o LinearOp) shape(x, w Type) ConvShape {
	k := w.Shape[len(w.Shape)-1]
	c := w.Shape.Elems() / k
	return ConvShape{N: x.Shape.Elems() / c, H: 1, W: 1, C: c, K: k, R: 1, S: 1, Stride: 1}
}

func (o LinearOp) infer(in []Type) ([]Type, error) {
	x, w := in[0], in[1]
	if len(x.Shape) < 2 || len(w.Shape) < 2 {
		return nil, fmt.Errorf("want an input [N, C] and weights [C, K]")
	}
	k := w.Shape[len(w.Shape)-1]
	features := w.Shape[:len(w.Shape)-1]
	kept := len(x.Shape) - len(features)
	if kept < 1 || !x.Shape[kept:].Equal(features) {
		return nil, fmt.Errorf("the input does not end in the weights' %v features", features)
	}
	if err := checkBias(in, k); err != nil {
		return nil, err
	}
	y := Type{Shape: append(x.Shape[:kept].Clone(), k), Ragged: x.Ragged}
	if o.GELU {
		return []Type{y, y}, nil
	}
	return []Type{y}, nil
}

func (o LinearOp) cost(in, out []Type) Cost {
	return cost(o.shape(in[0], in[1]).planned().FLOPs(), in, out)
}

func (o LinearOp) host(h *Host, in, out []Type) Kernel {
	v := h.products.NewConv(o.shape(in[0], in[1]).planned())
	if !o.GELU {
		return resizing(convForward(v, o.ReLU), v, in)
	}
	rows := h.rows.NewGELURows(v.FinishRows()*lastAxis(out[0]), o.Slope)
	k := convForward(v, false)
	k.Run = func(a *Args) {
		y := a.Out[0].F
		v.Forward(y, a.In[0].F, a.In[1].F, biasOf(a), false, rows.Of(a.Out[1].F, y), a.Scratch.F)
	}
	return resizing(k, v, in)
}

// resizing wraps k: before each run it resizes v to the number of rows of the first input, [rows, ...].
func resizing(k Kernel, v *product.Conv, in []Type) Kernel {
	if !in[0].Ragged {
		return k
	}
	run, cols := k.Run, in[0].Shape.Elems()/in[0].Shape[0]
	k.Run = func(a *Args) {
		v.Resize(len(a.In[0].F) / cols)
		run(a)
	}
	return k
}

func (o LinearOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return convGradient(b, c, dy[0], o.shape(c.in[0].typ, c.in[1].typ))
}
