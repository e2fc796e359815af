package graph

// ReLU returns max(x, 0), elementwise.
func ReLU(x *Node) *Node { return x.graph.emit(ReLUOp{}, x) }

// ReLUOp is ReLU of x.
type ReLUOp struct{}

func (ReLUOp) name() string { return "relu" }

func (ReLUOp) isRowwise() {}

func (ReLUOp) overwrites() int { return 0 }

func (ReLUOp) infer(in []Type) ([]Type, error) { return in, nil }

func (ReLUOp) cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (ReLUOp) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.ReLU(a.Out[0].F, a.In[0].F) }}
}

// The gradient reads the result, not the input, so that the input need not be kept.
func (ReLUOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(ReLUBackwardOp{}, dy[0], c.out[0])}
}

// ReLUBackwardOp computes dx = dy where y > 0, else 0, from dy and y.
type ReLUBackwardOp struct{}

func (ReLUBackwardOp) name() string { return "relu-backward" }

func (ReLUBackwardOp) isRowwise() {}

func (ReLUBackwardOp) overwrites() int { return 0 }

func (ReLUBackwardOp) infer(in []Type) ([]Type, error) { return in[:1], nil }

func (ReLUBackwardOp) cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (ReLUBackwardOp) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.ReLUBackward(a.Out[0].F, a.In[0].F, a.In[1].F) }}
}
