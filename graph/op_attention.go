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
	return attention(q, k, v, heads, share, false)
}

// CausalAttention is Attention in which a token attends to itself and to the tokens of its text before it
// only, as a network that predicts the next token needs. It takes half the products.
func CausalAttention(q, k, v *Node, heads int, share float64) *Node {
	return attention(q, k, v, heads, share, true)
}

func attention(q, k, v *Node, heads int, share float64, causal bool) *Node {
	g := q.graph
	o := AttentionOp{Heads: heads, Most: g.texts.most, Causal: causal, Drop: newDrop(g, share)}
	return g.apply(o, q, k, v, g.texts.starts)[0]
}

// AttentionOp is Attention or, if it is Causal, CausalAttention: from q, k, v and where the texts start it
// computes the result and, for its gradient alone, the maximum and the inverse sum of each row of
// probabilities, [tokens, 2*Heads].
type AttentionOp struct {
	Heads, Most int
	Causal      bool
	Drop
}

func (o AttentionOp) name() string {
	if o.Causal {
		return "causal-attention"
	}
	return "attention"
}

func (AttentionOp) isRowwise() {}

func (o AttentionOp) infer(in []Type) ([]Type, error) {
	q := in[0]
	if !q.Ragged || len(q.Shape) != 2 || !q.Shape.Equal(in[1].Shape) || !q.Shape.Equal(in[2].Shape) {
		return nil, fmt.Errorf("want queries, keys and values of the tokens of texts, [tokens, C]")
	}
	if o.Heads < 1 || q.Shape[1]%(16*o.Heads) != 0 {
		return nil, fmt.Errorf("%d features for %d heads, want a multiple of 16 for each",
			q.Shape[1], o.Heads)
	}
	moments := Type{Shape: tensor.Shape{q.Shape[0], 2 * o.Heads}, Ragged: true}
	return []Type{q, moments}, o.check()
}

// products returns the multiply-adds of one of the products with scores, for texts of full length: each
// feature of a query meets so many keys, in the mean.
func (o AttentionOp) products(q Type) int64 {
	if o.Causal {
		return int64(o.Most+1) * int64(q.Shape.Elems()) / 2
	}
	return int64(o.Most) * int64(q.Shape.Elems())
}

// Cost counts the products of texts of full length.
func (o AttentionOp) cost(in, out []Type) Cost { return cost(2*2*o.products(in[0]), in, out) }

func (o AttentionOp) lower(l *lowering, in []*Node) []*Node {
	if !l.train {
		o.Drop = Drop{}
	}
	return l.to.apply(o, in...)
}

// plan returns the kernel for queries of type q.
func (o AttentionOp) plan(h *Host, q Type) *attend.Plan {
	return attend.New(h.cpu, attend.Shape{Heads: o.Heads, Size: q.Shape[1] / o.Heads, Most: o.Most,
		Causal: o.Causal})
}

func (o AttentionOp) host(h *Host, in, _ []Type) Kernel {
	p, dropper, rows := o.plan(h, in[0]), o.dropper(), rowsOf(in[0])
	return Kernel{Scratch: p.ScratchFloats(), OfParts: p.OfParts(), Run: func(a *Args) {
		p.Forward(a.Out[0].F, a.Out[1].F, a.In[0].F, a.In[1].F, a.In[2].F, rows.of(a.In[3]),
			dropper.of(a.Draws), a.Scratch.F)
	}}
}

func (o AttentionOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	in := append([]*Node{dy[0], c.out[0], c.out[1]}, c.in...)
	d := b.apply(AttentionBackwardOp{Of: o}, in...)
	return append(d, nil)
}

// AttentionBackwardOp computes the gradients of q, k and v from dy, both results of the attention, q, k, v
// and where the texts start.
type AttentionBackwardOp struct{ Of AttentionOp }

func (o AttentionBackwardOp) name() string { return o.Of.name() + "-backward" }

func (AttentionBackwardOp) isRowwise() {}

func (AttentionBackwardOp) infer(in []Type) ([]Type, error) { return []Type{in[3], in[3], in[3]}, nil }

func (o AttentionBackwardOp) cost(in, out []Type) Cost {
	return cost(5*2*o.Of.products(in[3]), in, out)
}

func (o AttentionBackwardOp) host(h *Host, in, _ []Type) Kernel {
	p, dropper, rows := o.Of.plan(h, in[3]), o.Of.dropper(), rowsOf(in[3])
	return Kernel{Scratch: p.ScratchFloats(), OfParts: p.OfParts(), Run: func(a *Args) {
		p.Backward(a.Out[0].F, a.Out[1].F, a.Out[2].F, a.In[0].F, a.In[1].F, a.In[2].F, a.In[3].F,
			a.In[4].F, a.In[5].F, rows.of(a.In[6]), dropper.of(a.Draws), a.Scratch.F)
	}}
}
