package graph

import (
	"fmt"

	"lockstep/tensor"
)

// Embedding returns a row for each token of the texts: that of its word, plus that of its place in its
// text, plus that of its kind: the first row of kinds, or the second in the second part of a text, see
// Input.SetPairs. tokens is what Graph.Texts returned; words, positions and kinds are [number, C]; the
// result is ragged [tokens, C].
func Embedding(tokens, words, positions, kinds *Node) *Node {
	g := tokens.graph
	return g.emit(EmbeddingOp{Most: g.texts.most}, tokens, g.texts.starts, g.texts.splits, words,
		positions, kinds)
}

// EmbeddingOp is Embedding of tokens, where their texts start, where these split, words, positions and
// kinds. A text has at most Most tokens.
type EmbeddingOp struct{ Most int }

func (EmbeddingOp) name() string { return "embedding" }

func (EmbeddingOp) isRowwise() {}

func (o EmbeddingOp) infer(in []Type) ([]Type, error) {
	if !in[0].Ragged || in[0].DType != tensor.Int32 {
		return nil, fmt.Errorf("want the tokens of texts")
	}
	for _, t := range in[3:] {
		if len(t.Shape) != 2 || t.Shape[1] != in[3].Shape[1] {
			return nil, fmt.Errorf("want three tables [number, C]")
		}
	}
	if positions := in[4].Shape[0]; o.Most > positions {
		return nil, fmt.Errorf("texts of %d tokens, but only %d positions", o.Most, positions)
	}
	return []Type{{Shape: tensor.Shape{in[0].Shape[0], in[3].Shape[1]}, Ragged: true}}, nil
}

// Cost counts the rows that are read, not the tables.
func (EmbeddingOp) cost(_, out []Type) Cost {
	return Cost{FLOPs: 2 * int64(out[0].Shape.Elems()), Bytes: 3 * out[0].Bytes()}
}

func (EmbeddingOp) host(h *Host, _, out []Type) Kernel {
	rows := rowsOf(out[0])
	e := h.rows.NewEmbedding(rows.cols, out[0].Shape[0])
	return Kernel{Run: func(a *Args) {
		e.Forward(a.Out[0].F, a.In[3].F, a.In[4].F, a.In[5].F, a.In[0].I, a.In[2].I, rows.of(a.In[1]))
	}}
}

func (o EmbeddingOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	d := b.apply(EmbeddingBackwardOp{words: c.in[3].typ, positions: c.in[4].typ, kinds: c.in[5].typ},
		dy[0], c.in[0], c.in[1], c.in[2])
	return append([]*Node{nil, nil, nil}, d...)
}

// EmbeddingBackwardOp computes the gradients of words, positions and kinds from dy, tokens, where
// their texts start and where these split: sums of dy by word, by position and by kind.
type EmbeddingBackwardOp struct{ words, positions, kinds Type }

func (EmbeddingBackwardOp) name() string { return "embedding-backward" }

func (EmbeddingBackwardOp) isRowwise() {}

func (o EmbeddingBackwardOp) infer([]Type) ([]Type, error) {
	return []Type{o.words, o.positions, o.kinds}, nil
}

func (EmbeddingBackwardOp) cost(in, out []Type) Cost {
	return cost(3*int64(in[0].Shape.Elems()), in, out)
}

func (EmbeddingBackwardOp) host(h *Host, in, _ []Type) Kernel {
	rows := rowsOf(in[0])
	e := h.rows.NewEmbedding(rows.cols, in[0].Shape[0])
	return Kernel{Run: func(a *Args) {
		e.Backward(a.Out[0].F, a.Out[1].F, a.Out[2].F, a.In[0].F, a.In[1].I, a.In[3].I, rows.of(a.In[2]))
	}}
}
