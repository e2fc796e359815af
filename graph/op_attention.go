package graph

import (
	"fmt"

	"lockstep/internal/kernel/attend"
	"lockstep/tensor"
)

// Attention returns, for each text and each of heads, softmax(q k^T / sqrt(D)) v over the text's own tokens,
// with dropout of a share of the probabilities in training. q, k and v are ragged [tokens, heads*D]; so is
// the result.
func Attention(q, k, v *Node, heads int, share float64) *Node {
	g := q.graph
	o := attention{heads: heads, most: g.texts.most, drop: newDrop(g, share)}
	return g.apply(o, q, k, v, g.texts.starts)[0]
}

// attention has a second result that only its gradient reads: the maximum and the inverse sum of each row
// of probabilities.
type attention struct {
	heads, most int
	drop
}

func (attention) Name() string { return "attention" }

func (attention) isRowwise() {}

func (o attention) Infer(in []Type) ([]Type, error) {
	q := in[0]
	if !q.Ragged || len(q.Shape) != 2 || !q.Shape.Equal(in[1].Shape) || !q.Shape.Equal(in[2].Shape) {
		return nil, fmt.Errorf("want queries, keys and values of the tokens of texts, [tokens, C]")
	}
	if o.heads < 1 || q.Shape[1]%(16*o.heads) != 0 {
		return nil, fmt.Errorf("%d features for %d heads, want a multiple of 16 for each",
			q.Shape[1], o.heads)
	}
	moments := Type{Shape: tensor.Shape{q.Shape[0], 2 * o.heads}, Ragged: true}
	return []Type{q, moments}, o.check()
}

// Cost counts the products of texts of full length.
func (o attention) Cost(in, out []Type) Cost {
	return cost(4*int64(o.most)*int64(in[0].Shape.Elems()), in, out)
}

func (o attention) lower(l *lowering, in []*Node) []*Node {
	if !l.train {
		o.drop = drop{}
	}
	return l.to.apply(o, in...)
}

// plan returns the kernel for queries of type q.
func (o attention) plan(h *Host, q Type) *attend.Plan {
	return attend.New(h.cpu, o.heads, q.Shape[1]/o.heads, o.most)
}

func (o attention) host(h *Host, in, _ []Type) Kernel {
	p, dropper, rows := o.plan(h, in[0]), o.dropper(), rowsOf(in[0])
	return Kernel{Scratch: p.ScratchFloats(), Run: func(a *Args) {
		p.Forward(a.Out[0].F, a.Out[1].F, a.In[0].F, a.In[1].F, a.In[2].F, rows.of(a.In[3]),
			dropper.of(a.Draws), a.Scratch.F)
	}}
}

func (o attention) gradient(b *Graph, c *call, dy []*Node) []*Node {
	d := b.apply(attentionBackward{of: o}, dy[0], c.out[1], c.in[0], c.in[1], c.in[2], c.in[3])
	return append(d, nil)
}

// attentionBackward computes the gradients of q, k and v.
type attentionBackward struct{ of attention }

func (attentionBackward) Name() string { return "attention-backward" }

func (attentionBackward) isRowwise() {}

func (attentionBackward) Infer(in []Type) ([]Type, error) { return []Type{in[2], in[2], in[2]}, nil }

func (o attentionBackward) Cost(in, out []Type) Cost {
	return cost(10*int64(o.of.most)*int64(in[2].Shape.Elems()), in, out)
}

func (o attentionBackward) host(h *Host, in, _ []Type) Kernel {
	p, dropper, rows := o.of.plan(h, in[2]), o.of.dropper(), rowsOf(in[2])
	return Kernel{Scratch: p.ScratchFloats(), Run: func(a *Args) {
		p.Backward(a.Out[0].F, a.Out[1].F, a.Out[2].F, a.In[0].F, a.In[1].F, a.In[2].F, a.In[3].F, a.In[4].F,
			rows.of(a.In[5]), dropper.of(a.Draws), a.Scratch.F)
	}}
}
