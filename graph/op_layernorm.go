package graph

import (
	"fmt"

	"lockstep/internal/kernel/row"
	"lockstep/tensor"
)

// LayerNorm normalises the last axis of x, of C elements: with the mean and the biased variance of each row
// y = (x-mean)/sqrt(variance+eps)*gamma + beta. gamma and beta are [C].
func LayerNorm(x, gamma, beta *Node, eps float32) *Node {
	in := withStarts(x, x, gamma, beta)
	return x.graph.apply(layerNorm{eps: eps}, in...)[0]
}

// AddLayerNorm is LayerNorm(Add(x, Dropout(a, share)), gamma, beta, eps) in one pass.
func AddLayerNorm(x, a, gamma, beta *Node, eps float32, share float64) *Node {
	in := withStarts(x, a, gamma, beta, x)
	out := x.graph.apply(layerNorm{eps: eps, residual: true, drop: newDrop(x.graph, share)}, in...)
	if out[0].origin == broken {
		return out[0]
	}
	return out[1]
}

// layerNorm has the inputs x, gamma, beta, or with a residual a, gamma, beta, x; for texts also where they
// start. Its results are y and the moments of the rows; with a residual the sum comes first.
type layerNorm struct {
	eps      float32
	residual bool
	drop
}

func (o layerNorm) Name() string {
	if o.residual {
		return "add+layer-norm"
	}
	return "layer-norm"
}

func (layerNorm) isRowwise() {}

func (layerNorm) overwrites() int { return 0 }

func (o layerNorm) Infer(in []Type) ([]Type, error) {
	x := in[0]
	if len(x.Shape) < 2 {
		return nil, fmt.Errorf("want an input of at least two axes")
	}
	features := tensor.Shape{lastAxis(x)}
	if !in[1].Shape.Equal(features) || !in[2].Shape.Equal(features) {
		return nil, fmt.Errorf("want gamma and beta %v", features)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	moments := Type{Shape: append(x.Shape[:len(x.Shape)-1].Clone(), 2), Ragged: x.Ragged}
	if !o.residual {
		return []Type{x, moments}, nil
	}
	if !in[3].Shape.Equal(x.Shape) || in[3].Ragged != x.Ragged {
		return nil, fmt.Errorf("the shapes differ")
	}
	return []Type{x, x, moments}, nil
}

// Cost counts two passes for the moments and one for the result.
func (layerNorm) Cost(in, out []Type) Cost { return cost(8*int64(in[0].Shape.Elems()), in, out) }

func (o layerNorm) lower(l *lowering, in []*Node) []*Node {
	if !l.train {
		o.drop = drop{}
	}
	return l.to.apply(o, in...)
}

func (o layerNorm) host(h *Host, in, _ []Type) Kernel {
	rows, dropper := rowsOf(in[0]), o.dropper()
	p := h.rows.NewLayerNorm(rows.cols, o.eps)
	return Kernel{Run: func(a *Args) {
		gamma, beta, r := a.In[1].F, a.In[2].F, rows.of(a.In[len(a.In)-1])
		if o.residual {
			p.Forward(a.Out[1].F, a.Out[0].F, a.Out[2].F, a.In[3].F, a.In[0].F, gamma, beta, r,
				dropper.of(a.Draws))
			return
		}
		x := a.In[0].F
		p.Forward(a.Out[0].F, x, a.Out[1].F, x, nil, gamma, beta, r, row.Dropout{})
	}}
}

// The gradient reads the normalised sum, which takes the place of a.
func (o layerNorm) gradient(b *Graph, c *call, dy []*Node) []*Node {
	x, y, rest := c.in[0], 0, 3
	if o.residual {
		x, y, rest = c.out[0], 1, 4
	}
	in := append([]*Node{dy[y], x, c.out[y+1], c.in[1]}, c.in[rest:]...)
	d := b.apply(layerNormBackward{of: o}, in...)
	answer := append([]*Node{d[0], d[1], d[2]}, make([]*Node, len(c.in)-3)...)
	if o.residual {
		answer[0], answer[3] = d[len(d)-1], d[0]
		if o.share == 0 {
			answer[0] = d[0]
		}
	}
	return answer
}

// layerNormBackward computes the gradients of the normalised input, of gamma and beta, and with dropout
// that of what elements were dropped from.
type layerNormBackward struct{ of layerNorm }

func (o layerNormBackward) Name() string { return o.of.Name() + "-backward" }

func (layerNormBackward) isRowwise() {}

func (layerNormBackward) overwrites() int { return 0 }

func (o layerNormBackward) Infer(in []Type) ([]Type, error) {
	out := []Type{in[0], in[3], in[3]}
	if o.of.share > 0 {
		out = append(out, in[0])
	}
	return out, nil
}

func (layerNormBackward) Cost(in, out []Type) Cost {
	return cost(14*int64(in[0].Shape.Elems()), in, out)
}

func (o layerNormBackward) host(h *Host, in, _ []Type) Kernel {
	rows, dropper := rowsOf(in[0]), o.of.dropper()
	p := h.rows.NewLayerNorm(rows.cols, o.of.eps)
	return Kernel{Run: func(a *Args) {
		var da []float32
		if len(a.Out) > 3 {
			da = a.Out[3].F
		}
		p.Backward(a.Out[0].F, da, a.Out[1].F, a.Out[2].F, a.In[0].F, a.In[1].F, a.In[2].F, a.In[3].F,
			rows.of(a.In[len(a.In)-1]), dropper.of(a.Draws))
	}}
}
