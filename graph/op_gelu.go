package graph

// GELU returns x Phi(x), elementwise, Phi being the normal distribution function.
func GELU(x *Node) *Node { return x.graph.emit(GELUOp{}, x) }

// GELUOp is GELU of x.
type GELUOp struct{}

func (GELUOp) name() string { return "gelu" }

func (GELUOp) isRowwise() {}

func (GELUOp) infer(in []Type) ([]Type, error) { return in, nil }

// geluFLOPs is about what an element takes: an exponential, a polynomial, a division.
const geluFLOPs = 32

func (GELUOp) cost(in, out []Type) Cost { return cost(geluFLOPs*int64(in[0].Shape.Elems()), in, out) }

func (GELUOp) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.GELU(a.Out[0].F, a.In[0].F) }}
}

func (GELUOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(GELUBackwardOp{}, dy[0], c.in[0])}
}

// GELUBackwardOp computes dx = dy (Phi(x) + x phi(x)) from dy and x.
type GELUBackwardOp struct{}

func (GELUBackwardOp) name() string { return "gelu-backward" }

func (GELUBackwardOp) isRowwise() {}

func (GELUBackwardOp) overwrites() int { return 0 }

func (GELUBackwardOp) infer(in []Type) ([]Type, error) { return in[:1], nil }

func (GELUBackwardOp) cost(in, out []Type) Cost {
	return cost(geluFLOPs*int64(in[0].Shape.Elems()), in, out)
}

func (GELUBackwardOp) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.GELUBackward(a.Out[0].F, a.In[0].F, a.In[1].F) }}
}
