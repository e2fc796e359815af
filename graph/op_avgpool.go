package graph

import "fmt"

// GlobalAvgPool returns the mean of each channel over the map: [N, H, W, C] becomes [N, C].
func GlobalAvgPool(x *Node) *Node { return x.graph.emit(GlobalAvgPoolOp{}, x) }

// GlobalAvgPoolOp is GlobalAvgPool of x.
type GlobalAvgPoolOp struct{}

func (GlobalAvgPoolOp) name() string { return "global-avg-pool" }

func (GlobalAvgPoolOp) infer(in []Type) ([]Type, error) {
	if len(in[0].Shape) != 4 {
		return nil, fmt.Errorf("want a map [N, H, W, C]")
	}
	return []Type{float(in[0].Shape[0], in[0].Shape[3])}, nil
}

func (GlobalAvgPoolOp) cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (GlobalAvgPoolOp) host(h *Host, in, _ []Type) Kernel {
	x := in[0].Shape
	v := h.rows.NewAvgPool(x[0], x[1]*x[2], x[3])
	return Kernel{Run: func(a *Args) { v.Forward(a.Out[0].F, a.In[0].F) }}
}

func (GlobalAvgPoolOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(GlobalAvgPoolBackwardOp{x: c.in[0].typ}, dy[0])}
}

// GlobalAvgPoolBackwardOp spreads dy/(H*W) over the map.
type GlobalAvgPoolBackwardOp struct{ x Type }

func (GlobalAvgPoolBackwardOp) name() string { return "global-avg-pool-backward" }

func (o GlobalAvgPoolBackwardOp) infer([]Type) ([]Type, error) { return []Type{o.x}, nil }

func (GlobalAvgPoolBackwardOp) cost(in, out []Type) Cost {
	return cost(int64(in[0].Shape.Elems()), in, out)
}

func (o GlobalAvgPoolBackwardOp) host(h *Host, _, _ []Type) Kernel {
	x := o.x.Shape
	v := h.rows.NewAvgPool(x[0], x[1]*x[2], x[3])
	return Kernel{Run: func(a *Args) { v.Backward(a.Out[0].F, a.In[0].F) }}
}
