package graph

import (
	"fmt"

	"lockstep/tensor"
)

// FirstToken returns the row of each text's first token: ragged [tokens, C] becomes [N, C].
func FirstToken(x *Node) *Node { return x.graph.emit(firstToken{}, x, x.graph.texts.starts) }

type firstToken struct{}

func (firstToken) Name() string { return "first-token" }

func (firstToken) isRowwise() {}

func (firstToken) Infer(in []Type) ([]Type, error) {
	if !in[0].Ragged || len(in[0].Shape) != 2 {
		return nil, fmt.Errorf("want the tokens of texts, [tokens, C]")
	}
	return []Type{{Shape: tensor.Shape{in[1].Shape[0] - 1, in[0].Shape[1]}}}, nil
}

func (firstToken) Cost(_, out []Type) Cost { return cost(0, out, out) }

func (firstToken) host(_ *Host, in, _ []Type) Kernel {
	cols := in[0].Shape[1]
	return Kernel{Run: func(a *Args) {
		starts := a.In[1].I
		for n, start := range starts[:len(starts)-1] {
			copy(a.Out[0].F[n*cols:(n+1)*cols], a.In[0].F[int(start)*cols:])
		}
	}}
}

func (firstToken) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(firstTokenBackward{x: c.in[0].typ}, dy[0], c.in[1]), nil}
}

// firstTokenBackward writes dy to the first rows and zeros to the others.
type firstTokenBackward struct{ x Type }

func (firstTokenBackward) Name() string { return "first-token-backward" }

func (o firstTokenBackward) Infer([]Type) ([]Type, error) { return []Type{o.x}, nil }

func (firstTokenBackward) Cost(in, out []Type) Cost { return cost(0, in, out) }

func (o firstTokenBackward) host(*Host, []Type, []Type) Kernel {
	cols := o.x.Shape[1]
	return Kernel{Run: func(a *Args) {
		clear(a.Out[0].F)
		starts := a.In[1].I
		for n, start := range starts[:len(starts)-1] {
			copy(a.Out[0].F[int(start)*cols:], a.In[0].F[n*cols:(n+1)*cols])
		}
	}}
}
