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
	return x.graph.apply(LayerNormOp{Eps: eps}, in...)[0]
}

// AddLayerNorm is LayerNorm(Add(x, Dropout(a, share)), gamma, beta, eps) in one pass.
func AddLayerNorm(x, a, gamma, beta *Node, eps float32, share float64) *Node {
	in := withStarts(x, a, gamma, beta, x)
	out := x.graph.apply(LayerNormOp{Eps: eps, Residual: true, Drop: newDrop(x.graph, share)}, in...)
	if out[0].origin == broken {
		return out[0]
	}
	return out[1]
}

// LayerNormOp is LayerNorm of x, gamma and beta: its results are y and, for its gradient alone, two
// statistics of each row. With Residual it is AddLayerNorm of a, gamma, beta and x, in this order, and the
// sum comes before the two results. For the tokens of texts the last input says where the texts start.
type LayerNormOp struct {
	Eps      float32
	Residual bool
	Drop
}

func (o LayerNormOp) name() string {
	if o.Residual {
		return "add+layer-norm"
	}
	return "layer-norm"
}

func (LayerNormOp) isRowwise() {}

func (LayerNormOp) overwrites() int { return 0 }

func (o LayerNormOp) infer(in []Type) ([]Type, error) {
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
	if !o.Residual {
		return []Type{x, moments}, nil
	}
	if !in[3].Shape.Equal(x.Shape) || in[3].Ragged != x.Ragged {
		return nil, fmt.Errorf("the shapes differ")
	}
	return []Type{x, x, moments}, nil
}

// Cost counts two passes for the statistics and one for the result.
func (LayerNormOp) cost(in, out []Type) Cost { return cost(8*int64(in[0].Shape.Elems()), in, out) }

func (o LayerNormOp) lower(l *lowering, in []*Node) []*Node {
	if !l.train {
		o.Drop = Drop{}
	}
	return l.to.apply(o, in...)
}

func (o LayerNormOp) host(h *Host, in, _ []Type) Kernel {
	rows, dropper := rowsOf(in[0]), o.dropper()
	p := h.rows.NewLayerNorm(rows.cols, o.Eps)
	return Kernel{Run: func(a *Args) {
		gamma, beta, r := a.In[1].F, a.In[2].F, rows.of(a.In[len(a.In)-1])
		if o.Residual {
			p.Forward(a.Out[1].F, a.Out[0].F, a.Out[2].F, a.In[3].F, a.In[0].F, gamma, beta, r,
				dropper.of(a.Draws))
			return
		}
		x := a.In[0].F
		p.Forward(a.Out[0].F, x, a.Out[1].F, x, nil, gamma, beta, r, row.Dropout{})
	}}
}

// The gradient reads the normalised sum, which takes the place of a.
func (o LayerNormOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	x, y, rest := c.in[0], 0, 3
	if o.Residual {
		x, y, rest = c.out[0], 1, 4
	}
	in := append([]*Node{dy[y], x, c.out[y+1], c.in[1]}, c.in[rest:]...)
	d := b.apply(LayerNormBackwardOp{Of: o}, in...)
	answer := append([]*Node{d[0], d[1], d[2]}, make([]*Node, len(c.in)-3)...)
	if o.Residual {
		answer[0], answer[3] = d[len(d)-1], d[0]
		if o.Share == 0 {
			answer[0] = d[0]
		}
	}
	return answer
}

// LayerNormBackwardOp computes dx, dgamma and dbeta from dy, what was normalised, its statistics, gamma
// and, for the tokens of texts, where the texts start. With dropout the gradient of a follows.
type LayerNormBackwardOp struct{ Of LayerNormOp }

func (o LayerNormBackwardOp) name() string { return o.Of.name() + "-backward" }

func (LayerNormBackwardOp) isRowwise() {}

func (LayerNormBackwardOp) overwrites() int { return 0 }

func (o LayerNormBackwardOp) infer(in []Type) ([]Type, error) {
	out := []Type{in[0], in[3], in[3]}
	if o.Of.Share > 0 {
		out = append(out, in[0])
	}
	return out, nil
}

func (LayerNormBackwardOp) cost(in, out []Type) Cost {
	return cost(14*int64(in[0].Shape.Elems()), in, out)
}

func (o LayerNormBackwardOp) host(h *Host, in, _ []Type) Kernel {
	rows, dropper := rowsOf(in[0]), o.Of.dropper()
	p := h.rows.NewLayerNorm(rows.cols, o.Of.Eps)
	return Kernel{Run: func(a *Args) {
		var da []float32
		if len(a.Out) > 3 {
			da = a.Out[3].F
		}
		p.Backward(a.Out[0].F, da, a.Out[1].F, a.Out[2].F, a.In[0].F, a.In[1].F, a.In[2].F, a.In[3].F,
			rows.of(a.In[len(a.In)-1]), dropper.of(a.Draws))
	}}
}
