package graph

// Scale returns x * factor, elementwise.
func Scale(x *Node, factor float32) *Node { return x.graph.emit(ScaleOp{factor}, x) }

// ScaleOp computes x * Factor.
type ScaleOp struct{ Factor float32 }

func (ScaleOp) name() string { return "scale" }

func (ScaleOp) overwrites() int { return 0 }

func (ScaleOp) infer(in []Type) ([]Type, error) { return in, nil }

func (ScaleOp) cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (s ScaleOp) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.Scale(a.Out[0].F, a.In[0].F, s.Factor) }}
}

func (s ScaleOp) gradient(b *Graph, _ *call, dy []*Node) []*Node { return []*Node{b.emit(s, dy[0])} }
