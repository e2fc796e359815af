package graph

import (
	"fmt"

	"lockstep/internal/kernel"
)

// MaxPool returns the largest value of each window of size x size pixels, windows being stride
// apart and the first of them beginning pad pixels outside the map, where nothing counts:
// [N, H, W, C] becomes [N, (H+2*pad-size)/stride+1, (W+2*pad-size)/stride+1, C], rounded down. The
// gradient goes to a window's first maximum in row-major order.
func MaxPool(x *Node, size, stride, pad int) *Node {
	return x.graph.emit(maxPool{size: size, stride: stride, pad: pad}, x)
}

type maxPool struct{ size, stride, pad int }

func (maxPool) Name() string { return "max-pool" }

func (o maxPool) shape(x Type) kernel.PoolShape {
	return kernel.PoolShape{N: x.Shape[0], H: x.Shape[1], W: x.Shape[2], C: x.Shape[3],
		Size: o.size, Stride: o.stride, Pad: o.pad}
}

func (o maxPool) Infer(in []Type) ([]Type, error) {
	x := in[0].Shape
	if len(x) != 4 {
		return nil, fmt.Errorf("want a map [N, H, W, C]")
	}
	if o.size < 1 || o.stride < 1 || o.pad < 0 || o.pad > o.size/2 ||
		min(x[1], x[2])+2*o.pad < o.size {
		return nil, fmt.Errorf("window %d, stride %d, padding %d", o.size, o.stride, o.pad)
	}
	s := o.shape(in[0])
	return []Type{float(s.N, s.OutH(), s.OutW(), s.C)}, nil
}

func (o maxPool) Cost(in, out []Type) Cost {
	return cost(int64(out[0].Shape.Elems()*o.size*o.size), in, out)
}

func (o maxPool) host(h *Host, in, _ []Type) Kernel {
	v := h.cpu.NewMaxPool(o.shape(in[0]))
	return Kernel{Run: func(a *Args) { v.Forward(a.Out[0].F, a.In[0].F) }}
}

func (o maxPool) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(maxPoolBackward{o}, dy[0], c.in[0])}
}

// maxPoolBackward computes dx from dy and x.
type maxPoolBackward struct{ of maxPool }

func (maxPoolBackward) Name() string { return "max-pool-backward" }

func (maxPoolBackward) Infer(in []Type) ([]Type, error) { return in[1:2], nil }

func (o maxPoolBackward) Cost(in, out []Type) Cost {
	return cost(int64(in[0].Shape.Elems()*o.of.size*o.of.size), in, out)
}

func (o maxPoolBackward) host(h *Host, in, _ []Type) Kernel {
	v := h.cpu.NewMaxPool(o.of.shape(in[1]))
	return Kernel{Run: func(a *Args) { v.Backward(a.Out[0].F, a.In[0].F, a.In[1].F) }}
}
