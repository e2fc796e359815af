package graph

// Dropout sets elements of x to zero at random, a share of them, and multiplies the others so that the
// mean stays (Srivastava et al. 2014). Inference leaves x alone. Which elements depends on Program's
// Draws, the place in the network, and the row and column within the sample.
func Dropout(x *Node, share float64) *Node {
	if share == 0 {
		return x
	}
	return x.graph.emit(DropoutOp{newDrop(x.graph, share)}, withStarts(x, x)...)
}

// DropoutOp is Dropout of x. For the tokens of texts the second input says where the texts start. Its
// gradient is the same op on dy.
type DropoutOp struct{ Drop }

func (DropoutOp) name() string { return "dropout" }

func (DropoutOp) isRowwise() {}

func (DropoutOp) overwrites() int { return 0 }

func (o DropoutOp) infer(in []Type) ([]Type, error) { return in[:1], o.check() }

// dropFLOPs is about what a factor takes.
const dropFLOPs = 4

func (DropoutOp) cost(in, out []Type) Cost {
	return cost(dropFLOPs*int64(in[0].Shape.Elems()), in, out)
}

func (o DropoutOp) lower(l *lowering, in []*Node) []*Node {
	if !l.train {
		return in[:1]
	}
	return l.to.apply(o, in...)
}

func (o DropoutOp) host(h *Host, in, _ []Type) Kernel {
	rows, dropper := rowsOf(in[0]), o.dropper()
	p := h.rows.NewDrop(rows.cols)
	return Kernel{Run: func(a *Args) {
		p.Run(a.Out[0].F, a.In[0].F, rows.of(a.In[len(a.In)-1]), dropper.of(a.Draws))
	}}
}

// The gradient is the same op: the factors are drawn again, not kept.
func (o DropoutOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	in := append([]*Node{dy[0]}, c.in[1:]...)
	return append([]*Node{b.emit(o, in...)}, make([]*Node, len(c.in)-1)...)
}
