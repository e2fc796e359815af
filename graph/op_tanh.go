package graph

// Tanh returns the hyperbolic tangent, elementwise. It is meant for small layers such as a pooler.
func Tanh(x *Node) *Node { return x.graph.emit(TanhOp{}, x) }

// TanhOp is Tanh of x.
type TanhOp struct{}

func (TanhOp) name() string { return "tanh" }

func (TanhOp) overwrites() int { return 0 }

func (TanhOp) infer(in []Type) ([]Type, error) { return in, nil }

func (TanhOp) cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (TanhOp) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.Tanh(a.Out[0].F, a.In[0].F) }}
}

// The gradient reads the result, not the input, so that the input need not be kept.
func (TanhOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(TanhBackwardOp{}, dy[0], c.out[0])}
}

// TanhBackwardOp computes dx = dy (1 - y^2) from dy and y.
type TanhBackwardOp struct{}

func (TanhBackwardOp) name() string { return "tanh-backward" }

func (TanhBackwardOp) overwrites() int { return 0 }

func (TanhBackwardOp) infer(in []Type) ([]Type, error) { return in[:1], nil }

func (TanhBackwardOp) cost(in, out []Type) Cost { return cost(3*int64(in[0].Shape.Elems()), in, out) }

func (TanhBackwardOp) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.TanhBackward(a.Out[0].F, a.In[0].F, a.In[1].F) }}
}
