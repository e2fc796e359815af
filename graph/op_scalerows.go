package graph

import "fmt"

// ScaleRows returns x * f, row by row: y[n,k] = x[n,k] * f[n] for x [N, K], and y[n] = x[n] * f[n] for x [N].
// f is [N] and must not depend on a parameter: it gets no gradient.
func ScaleRows(x, f *Node) *Node { return x.graph.emit(ScaleRowsOp{}, x, f) }

// ScaleRowsOp is ScaleRows of x and f.
type ScaleRowsOp struct{}

func (ScaleRowsOp) name() string { return "scale-rows" }

func (ScaleRowsOp) infer(in []Type) ([]Type, error) {
	x, f := in[0].Shape, in[1].Shape
	if len(x) < 1 || len(x) > 2 || len(f) != 1 || x[0] != f[0] {
		return nil, fmt.Errorf("want [N, K] or [N], and [N]")
	}
	return in[:1], nil
}

func (ScaleRowsOp) cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (ScaleRowsOp) host(_ *Host, in, _ []Type) Kernel {
	cols := in[0].Shape.Elems() / in[1].Shape[0]
	return Kernel{Run: func(a *Args) {
		x, y := a.In[0].F, a.Out[0].F
		for n, f := range a.In[1].F {
			for k := n * cols; k < (n+1)*cols; k++ {
				y[k] = x[k] * f
			}
		}
	}}
}

func (o ScaleRowsOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(o, dy[0], c.in[1]), nil}
}
