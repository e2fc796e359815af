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
	return x.graph.emit(maxPool{size: size, stride: stride, pad: pad}, x)
}

type maxPool struct{ size, stride, pad int }

func (maxPool) Name() string { return "max-pool" }

func (o maxPool) shape(x Type) row.PoolShape {
	return row.PoolShape{N: x.Shape[0], H: x.Shape[1], W: x.Shape[2], C: x.Shape[3],
		Size: o.size, Stride: o.stride, Pad: o.pad}
}

func (o maxPool) Infer(in []Type) ([]Type, error) {
	x := in[0].Shape
	if len(x) != 4 {
		return nil, fmt.Errorf("want a map [N, H, W, C]")
	}
	s := o.shape(in[0])
	if !s.Possible() {
		return nil, fmt.Errorf("window %d, stride %d, padding %d", o.size, o.stride, o.pad)
	}
	return []Type{float(s.N, s.OutH(), s.OutW(), s.C)}, nil
}

func (o maxPool) Cost(in, out []Type) Cost {
	return cost(int64(out[0].Shape.Elems()*o.size*o.size), in, out)
}

func (o maxPool) host(h *Host, in, _ []Type) Kernel {
	v := h.rows.NewMaxPool(o.shape(in[0]))
	return Kernel{Run: func(a *Args) { v.Forward(a.Out[0].F, a.In[0].F) }}
}

func (o maxPool) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(maxPoolBackward{of: o}, dy[0], c.in[0])}
}

// maxPoolBackward computes dx from dy and x. With relu, x is the output of a ReLU, and the gradient
// is that of its input.
type maxPoolBackward struct {
	of   maxPool
	relu bool
}

func (o maxPoolBackward) Name() string {
	if o.relu {
		return "max-pool+relu-backward"
	}
	return "max-pool-backward"
}

func (maxPoolBackward) Infer(in []Type) ([]Type, error) { return in[1:2], nil }

func (o maxPoolBackward) Cost(in, out []Type) Cost {
	return cost(int64(in[0].Shape.Elems()*o.of.size*o.of.size), in, out)
}

func (o maxPoolBackward) host(h *Host, in, _ []Type) Kernel {
	v := h.rows.NewMaxPool(o.of.shape(in[1]))
	return Kernel{Run: func(a *Args) { v.Backward(a.Out[0].F, a.In[0].F, a.In[1].F, o.relu) }}
}
