package graph

import (
	"fmt"

	"lockstep/tensor"
)

// FirstToken returns the row of each text's first token: ragged [tokens, C] becomes [N, C].
func FirstToken(x *Node) *Node { return x.graph.emit(FirstTokenOp{}, x, x.graph.texts.starts) }

// FirstTokenOp is FirstToken of x and where the texts start.
type FirstTokenOp struct{}

func (FirstTokenOp) name() string { return "first-token" }

func (FirstTokenOp) isRowwise() {}

func (FirstTokenOp) infer(in []Type) ([]Type, error) {
	if !in[0].Ragged || len(in[0].Shape) != 2 {
		return nil, fmt.Errorf("want the tokens of texts, [tokens, C]")
	}
	return []Type{{Shape: tensor.Shape{in[1].Shape[0] - 1, in[0].Shape[1]}}}, nil
}

func (FirstTokenOp) cost(_, out []Type) Cost { return cost(0, out, out) }

func (FirstTokenOp) host(_ *Host, in, _ []Type) Kernel {
	cols := in[0].Shape[1]
	return Kernel{Run: func(a *Args) {
		starts := a.In[1].I
		for n, start := range starts[:len(starts)-1] {
			copy(a.Out[0].F[n*cols:(n+1)*cols], a.In[0].F[int(start)*cols:])
		}
	}}
}

func (FirstTokenOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(FirstTokenBackwardOp{x: c.in[0].typ}, dy[0], c.in[1]), nil}
}

// FirstTokenBackwardOp writes dy to the first rows of the texts, whose starts are its second input, and
// zeros to the others.
type FirstTokenBackwardOp struct{ x Type }

func (FirstTokenBackwardOp) name() string { return "first-token-backward" }

func (o FirstTokenBackwardOp) infer([]Type) ([]Type, error) { return []Type{o.x}, nil }

func (FirstTokenBackwardOp) cost(in, out []Type) Cost { return cost(0, in, out) }

func (o FirstTokenBackwardOp) host(*Host, []Type, []Type) Kernel {
	cols := o.x.Shape[1]
	return Kernel{Run: func(a *Args) {
		clear(a.Out[0].F)
		starts := a.In[1].I
		for n, start := range starts[:len(starts)-1] {
			copy(a.Out[0].F[int(start)*cols:], a.In[0].F[n*cols:(n+1)*cols])
		}
	}}
}
