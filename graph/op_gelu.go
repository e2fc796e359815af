package graph

// GELU returns x Phi(x), elementwise, Phi being the normal distribution function.
func GELU(x *Node) *Node { return x.graph.emit(gelu{}, x) }

type gelu struct{}

func (gelu) Name() string { return "gelu" }

func (gelu) isRowwise() {}

func (gelu) Infer(in []Type) ([]Type, error) { return in, nil }

// geluFLOPs is about what an element takes: an exponential, a polynomial, a division.
const geluFLOPs = 32

func (gelu) Cost(in, out []Type) Cost { return cost(geluFLOPs*int64(in[0].Shape.Elems()), in, out) }

func (gelu) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.GELU(a.Out[0].F, a.In[0].F) }}
}

func (gelu) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(geluBackward{}, dy[0], c.in[0])}
}

// geluBackward computes dx = dy (Phi(x) + x phi(x)).
type geluBackward struct{}

func (geluBackward) Name() string { return "gelu-backward" }

func (geluBackward) isRowwise() {}

func (geluBackward) overwrites() int { return 0 }

func (geluBackward) Infer(in []Type) ([]Type, error) { return in[:1], nil }

func (geluBackward) Cost(in, out []Type) Cost {
	return cost(geluFLOPs*int64(in[0].Shape.Elems()), in, out)
}

func (geluBackward) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.GELUBackward(a.Out[0].F, a.In[0].F, a.In[1].F) }}
}
