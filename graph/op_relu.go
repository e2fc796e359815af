package graph

// ReLU returns max(x, 0), elementwise.
func ReLU(x *Node) *Node { return x.graph.emit(relu{}, x) }

type relu struct{}

func (relu) Name() string { return "relu" }

func (relu) isRowwise() {}

func (relu) overwrites() int { return 0 }

func (relu) Infer(in []Type) ([]Type, error) { return in, nil }

func (relu) Cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (relu) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.ReLU(a.Out[0].F, a.In[0].F) }}
}

// The gradient reads the result, not the input, so that the input need not be kept.
func (relu) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(reluBackward{}, dy[0], c.out[0])}
}

// reluBackward computes dx = dy where y > 0, else 0.
type reluBackward struct{}

func (reluBackward) Name() string { return "relu-backward" }

func (reluBackward) isRowwise() {}

func (reluBackward) overwrites() int { return 0 }

func (reluBackward) Infer(in []Type) ([]Type, error) { return in[:1], nil }

func (reluBackward) Cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (reluBackward) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.ReLUBackward(a.Out[0].F, a.In[0].F, a.In[1].F) }}
}
