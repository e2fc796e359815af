package graph

import (
	"fmt"

	"lockstep/internal/kernel/row"
)

// MaxPool returns the largest value of each window of size x size pixels, windows being stride
// apart on a map with pad pixels around it that never win: [N, H, W, C] becomes
// [N, (H+2*pad-size)/stride+1, (W+2*pad-size)/stride+1, C], rounded down. pad is at most size/2. The
// gradient goes to a window's first maximum in row-major order.
func MaxPool(x *Node, size, stride, pad int) *Node {
	return x.graph.emit(MaxPoolOp{Size: size, Stride: stride, Pad: pad}, x)
}

// MaxPoolOp is MaxPool of x.
type MaxPoolOp struct{ Size, Stride, Pad int }

func (MaxPoolOp) name() string { return "max-pool" }

func (o MaxPoolOp) shape(x Type) row.PoolShape {
	return row.PoolShape{N: x.Shape[0], H: x.Shape[1], W: x.Shape[2], C: x.Shape[3],
		Size: o.Size, Stride: o.Stride, Pad: o.Pad}
}

func (o MaxPoolOp) infer(in []Type) ([]Type, error) {
	x := in[0].Shape
	if len(x) != 4 {
		return nil, fmt.Errorf("want a map [N, H, W, C]")
	}
	s := o.shape(in[0])
	if !s.Possible() {
		return nil, fmt.Errorf("window %d, stride %d, padding %d", o.Size, o.Stride, o.Pad)
	}
	return []Type{float(s.N, s.OutH(), s.OutW(), s.C)}, nil
}

func (o MaxPoolOp) cost(in, out []Type) Cost {
	return cost(int64(out[0].Shape.Elems()*o.Size*o.Size), in, out)
}

func (o MaxPoolOp) host(h *Host, in, _ []Type) Kernel {
	v := h.rows.NewMaxPool(o.shape(in[0]))
	return Kernel{Run: func(a *Args) { v.Forward(a.Out[0].F, a.In[0].F) }}
}

func (o MaxPoolOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(MaxPoolBackwardOp{Of: o}, dy[0], c.in[0])}
}

// MaxPoolBackwardOp computes dx from dy and x. With ReLU, x is the result of a ReLU, and dx is the
// gradient of that ReLU's input.
type MaxPoolBackwardOp struct {
	Of   MaxPoolOp
	ReLU bool
}

func (o MaxPoolBackwardOp) name() string {
	if o.ReLU {
		return "max-pool+relu-backward"
	}
	return "max-pool-backward"
}

func (MaxPoolBackwardOp) infer(in []Type) ([]Type, error) { return in[1:2], nil }

func (o MaxPoolBackwardOp) cost(in, out []Type) Cost {
	return cost(int64(in[0].Shape.Elems()*o.Of.Size*o.Of.Size), in, out)
}

func (o MaxPoolBackwardOp) host(h *Host, in, _ []Type) Kernel {
	v := h.rows.NewMaxPool(o.Of.shape(in[1]))
	return Kernel{Run: func(a *Args) { v.Backward(a.Out[0].F, a.In[0].F, a.In[1].F, o.ReLU) }}
}
