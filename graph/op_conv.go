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
	return x.graph.emit(ConvOp{Stride: stride, Pad: pad}, withBias(x, w, bias)...)
}

// withBias lists the inputs of an op with an optional bias.
func withBias(x, w, bias *Node) []*Node {
	if bias == nil {
		return []*Node{x, w}
	}
	return []*Node{x, w, bias}
}

// ConvOp is Conv of x, w and, if there is a third input, bias. With ReLU it takes the maximum of that and 0.
type ConvOp struct {
	Stride, Pad int
	ReLU        bool
}

func (o ConvOp) name() string {
	if o.ReLU {
		return "conv+relu"
	}
	return "conv"
}

func (o ConvOp) withReLU() Op { o.ReLU = true; return o }

// ConvShape says how large a convolution is; see the package comment for the letters.
type ConvShape struct{ N, H, W, C, K, R, S, Stride, Pad int }

// planned returns s as the host's kernels take it.
func (s ConvShape) planned() product.ConvShape { return product.ConvShape(s) }

// shape returns the shape of the convolution of x with w.
func (o ConvOp) shape(x, w Type) ConvShape {
	return ConvShape{
		N: x.Shape[0], H: x.Shape[1], W: x.Shape[2], C: x.Shape[3],
		R: w.Shape[0], S: w.Shape[1], K: w.Shape[3], Stride: o.Stride, Pad: o.Pad,
	}
}

func (o ConvOp) infer(in []Type) ([]Type, error) {
	x, w := in[0], in[1]
	if len(x.Shape) != 4 || len(w.Shape) != 4 {
		return nil, fmt.Errorf("want a map [N, H, W, C] and weights [R, S, C, K]")
	}
	if x.Shape[3] != w.Shape[2] {
		return nil, fmt.Errorf("input has %d channels, weights %d", x.Shape[3], w.Shape[2])
	}
	if o.Stride < 1 || o.Pad < 0 {
		return nil, fmt.Errorf("stride %d, padding %d", o.Stride, o.Pad)
	}
	if err := checkBias(in, w.Shape[3]); err != nil {
		return nil, err
	}
	s := o.shape(x, w).planned()
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

func (o ConvOp) cost(in, out []Type) Cost {
	return cost(o.shape(in[0], in[1]).planned().FLOPs(), in, out)
}

func (o ConvOp) host(h *Host, in, out []Type) Kernel {
	return convForward(h.products.NewConv(o.shape(in[0], in[1]).planned()), o.ReLU)
}

// convForward runs a planned convolution whose bias, if any, is the third input.
func convForward(v *product.Conv, relu bool) Kernel {
	return Kernel{Scratch: v.ScratchFloats(), OfParts: v.PartsForward(), keeping: v, Run: func(a *Args) {
		v.Forward(a.Out[0].F, a.In[0].F, a.In[1].F, biasOf(a), relu, nil, a.Scratch.F)
	}}
}

// ConvAddOp adds ConvOp of its first three inputs to the fourth, before the maximum with ReLU. Only programs
// with constants have it.
type ConvAddOp struct{ ConvOp }

func (o ConvAddOp) name() string {
	if o.ReLU {
		return "conv+add+relu"
	}
	return "conv+add"
}

func (ConvAddOp) overwrites() int { return 3 }

func (o ConvAddOp) infer(in []Type) ([]Type, error) { return in[3:], nil }

func (o ConvAddOp) host(h *Host, in, out []Type) Kernel {
	v := h.products.NewConv(o.shape(in[0], in[1]).planned())
	k := convForward(v, o.ReLU)
	if v.CanAdd() {
		k.Run = func(a *Args) {
			y := a.Out[0].F
			copy(y, a.In[3].F) // at once if it is the same memory
			v.ForwardAdd(y, a.In[0].F, a.In[1].F, a.In[2].F, o.ReLU, a.Scratch.F)
		}
		return k
	}
	n := alignUp(out[0].Shape.Elems())
	k.Scratch += n
	k.Run = func(a *Args) {
		y, sum := a.Out[0].F, a.Scratch.F[:out[0].Shape.Elems()]
		v.Forward(sum, a.In[0].F, a.In[1].F, a.In[2].F, false, nil, a.Scratch.F[n:])
		h.rows.Add(y, a.In[3].F, sum)
		if o.ReLU {
			h.rows.ReLU(y, y)
		}
	}
	return k
}

// ConvStatisticsOp is ConvOp followed by BatchStatisticsOp: its results are those of both.
type ConvStatisticsOp struct{ ConvOp }

func (o ConvStatisticsOp) name() string { return o.ConvOp.name() + "+statistics" }

func (o ConvStatisticsOp) infer(in []Type) ([]Type, error) {
	y, err := o.ConvOp.infer(in)
	if err != nil {
		return nil, err
	}
	statistics, err := BatchStatisticsOp{}.infer(y)
	return append(y, statistics...), err
}

// repeated is the convolution alone: its statistics are few and stay.
func (o ConvStatisticsOp) repeated() Op { return o.ConvOp }

func (o ConvStatisticsOp) cost(in, out []Type) Cost {
	c := o.ConvOp.cost(in, out)
	c.FLOPs += BatchStatisticsOp{}.cost(out[:1], nil).FLOPs
	return c
}

func (o ConvStatisticsOp) host(h *Host, in, out []Type) Kernel {
	v, m := h.products.NewConv(o.shape(in[0], in[1]).planned()), moments(h, out[0])
	return Kernel{Scratch: v.ScratchFloats(), OfParts: v.PartsForward(), Run: func(a *Args) {
		m.Start(a.Out[0].F)
		v.Forward(a.Out[0].F, a.In[0].F, a.In[1].F, biasOf(a), o.ReLU, m, a.Scratch.F)
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

func (o ConvOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return convGradient(b, c, dy[0], o.shape(c.in[0].typ, c.in[1].typ))
}

// convGradient emits the gradients of a convolution or a linear layer, which is one of shape s. Those of
// the bias and the weights come first, so that they can be exchanged while dx is computed.
func convGradient(b *Graph, c *call, dy *Node, s ConvShape) []*Node {
	x, w := c.in[0], c.in[1]
	d := make([]*Node, len(c.in))
	if len(d) == 3 {
		d[2] = b.emit(ColumnSumsOp{}, dy)
	}
	d[1] = b.emit(ConvBackwardWeightsOp{of: c.op.name(), Shape: s, w: w.typ}, x, dy)
	d[0] = b.emit(ConvBackwardDataOp{of: c.op.name(), Shape: s, x: x.typ}, dy, w)
	return d
}

// ConvBackwardDataOp computes dx from dy and w: the convolution's adjoint with respect to its input. A linear
// layer is the convolution of maps of one pixel with a filter of one.
type ConvBackwardDataOp struct {
	of    string
	Shape ConvShape
	x     Type
}

func (o ConvBackwardDataOp) name() string { return o.of + "-backward-data" }

func (ConvBackwardDataOp) isRowwise() {}

func (o ConvBackwardDataOp) infer([]Type) ([]Type, error) { return []Type{o.x}, nil }

func (o ConvBackwardDataOp) cost(in, out []Type) Cost {
	return cost(o.Shape.planned().FLOPs(), in, out)
}

func (o ConvBackwardDataOp) host(h *Host, in, _ []Type) Kernel {
	return o.planned(h, in, func(v *product.Conv, a *Args) {
		v.BackwardData(a.Out[0].F, a.In[0].F, a.In[1].F, false, a.Scratch.F)
	})
}

// planned returns the kernel that calls run with a plan for the rows of dy.
func (o ConvBackwardDataOp) planned(h *Host, in []Type, run func(v *product.Conv, a *Args)) Kernel {
	v := h.products.NewConv(o.Shape.planned())
	ofParts, _ := v.PartsBackward()
	k := Kernel{Scratch: v.ScratchFloats(), OfParts: ofParts, Run: func(a *Args) { run(v, a) }}
	return resizing(k, v, in)
}

// ConvBackwardDataAddOp adds to its third input what ConvBackwardDataOp computes.
type ConvBackwardDataAddOp struct{ ConvBackwardDataOp }

func (o ConvBackwardDataAddOp) name() string { return o.ConvBackwardDataOp.name() + "+add" }

func (ConvBackwardDataAddOp) overwrites() int { return 2 }

func (o ConvBackwardDataAddOp) host(h *Host, in, _ []Type) Kernel {
	return o.planned(h, in, func(v *product.Conv, a *Args) {
		copy(a.Out[0].F, a.In[2].F) // at once if it is the same memory
		v.BackwardData(a.Out[0].F, a.In[0].F, a.In[1].F, true, a.Scratch.F)
	})
}

// ConvBackwardDataMulOp multiplies what ConvBackwardDataOp computes by its third input, element by element,
// while it is in a cache. Only the host has it.
type ConvBackwardDataMulOp struct{ ConvBackwardDataOp }

func (o ConvBackwardDataMulOp) name() string { return o.ConvBackwardDataOp.name() + "+mul" }

func (o ConvBackwardDataMulOp) host(h *Host, in, _ []Type) Kernel {
	cols := lastAxis(o.x)
	blockRows := product.FinishRows(1, cols)
	rows := h.rows.NewMulRows(blockRows * cols)
	return o.planned(h, in, func(v *product.Conv, a *Args) {
		dx := a.Out[0].F
		v.BackwardDataThen(dx, a.In[0].F, a.In[1].F, false, rows.Of(dx, a.In[2].F), blockRows, a.Scratch.F)
	})
}

// ConvBackwardWeightsOp computes dw from x and dy: the convolution's adjoint with respect to its weights.
type ConvBackwardWeightsOp struct {
	of    string
	Shape ConvShape
	w     Type
}

func (o ConvBackwardWeightsOp) name() string { return o.of + "-backward-weights" }

func (ConvBackwardWeightsOp) isRowwise() {}

func (o ConvBackwardWeightsOp) infer([]Type) ([]Type, error) { return []Type{o.w}, nil }

func (o ConvBackwardWeightsOp) cost(in, out []Type) Cost {
	return cost(o.Shape.planned().FLOPs(), in, out)
}

func (o ConvBackwardWeightsOp) host(h *Host, in, _ []Type) Kernel {
	v := h.products.NewConv(o.Shape.planned())
	_, ofParts := v.PartsBackward()
	return resizing(Kernel{Scratch: v.ScratchFloats(), OfParts: ofParts, Run: func(a *Args) {
		v.BackwardWeights(a.Out[0].F, a.In[0].F, a.In[1].F, a.Scratch.F)
	}}, v, in)
}
