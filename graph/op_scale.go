package graph

// Scale returns x * factor, elementwise.
func Scale(x *Node, factor float32) *Node { return x.graph.emit(scale{factor}, x) }

type scale struct{ factor float32 }

func (scale) Name() string { return "scale" }

func (scale) overwrites() int { return 0 }

func (scale) Infer(in []Type) ([]Type, error) { return in, nil }

func (scale) Cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (s scale) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.Scale(a.Out[0].F, a.In[0].F, s.factor) }}
}

func (s scale) gradient(b *Graph, _ *call, dy []*Node) []*Node { return []*Node{b.emit(s, dy[0])} }
