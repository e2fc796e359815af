package graph

// Tanh returns the hyperbolic tangent, elementwise. It is meant for small layers such as a pooler.
func Tanh(x *Node) *Node { return x.graph.emit(tanh{}, x) }

type tanh struct{}

func (tanh) Name() string { return "tanh" }

func (tanh) overwrites() int { return 0 }

func (tanh) Infer(in []Type) ([]Type, error) { return in, nil }

func (tanh) Cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (tanh) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.Tanh(a.Out[0].F, a.In[0].F) }}
}

// The gradient reads the result, not the input, so that the input need not be kept.
func (tanh) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(tanhBackward{}, dy[0], c.out[0])}
}

// tanhBackward computes dx = dy (1 - y^2).
type tanhBackward struct{}

func (tanhBackward) Name() string { return "tanh-backward" }

func (tanhBackward) overwrites() int { return 0 }

func (tanhBackward) Infer(in []Type) ([]Type, error) { return in[:1], nil }

func (tanhBackward) Cost(in, out []Type) Cost { return cost(3*int64(in[0].Shape.Elems()), in, out) }

func (tanhBackward) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.TanhBackward(a.Out[0].F, a.In[0].F, a.In[1].F) }}
}
