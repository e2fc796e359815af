package graph

import (
	"fmt"

	"lockstep/tensor"
)

// Embedding returns a row for each token of the texts: that of its word, plus that of its place in its
// text, plus the first of kinds. tokens is what Graph.Texts returned; words, positions and kinds are
// [number, C]; the result is ragged [tokens, C].
func Embedding(tokens, words, positions, kinds *Node) *Node {
	g := tokens.graph
	return g.emit(embedding{most: g.texts.most}, tokens, g.texts.starts, words, positions, kinds)
}

type embedding struct{ most int }

func (embedding) Name() string { return "embedding" }

func (embedding) isRowwise() {}

func (o embedding) Infer(in []Type) ([]Type, error) {
	if !in[0].Ragged || in[0].DType != tensor.Int32 {
		return nil, fmt.Errorf("want the tokens of texts")
	}
	for _, t := range in[2:] {
		if len(t.Shape) != 2 || t.Shape[1] != in[2].Shape[1] {
			return nil, fmt.Errorf("want three tables [number, C]")
		}
	}
	if positions := in[3].Shape[0]; o.most > positions {
		return nil, fmt.Errorf("texts of %d tokens, but only %d positions", o.most, positions)
	}
	return []Type{{Shape: tensor.Shape{in[0].Shape[0], in[2].Shape[1]}, Ragged: true}}, nil
}

// Cost counts the rows that are read, not the tables.
func (embedding) Cost(_, out []Type) Cost {
	return Cost{FLOPs: 2 * int64(out[0].Shape.Elems()), Bytes: 3 * out[0].Bytes()}
}

func (embedding) host(h *Host, _, out []Type) Kernel {
	rows := rowsOf(out[0])
	e := h.rows.NewEmbedding(rows.cols, out[0].Shape[0])
	return Kernel{Run: func(a *Args) {
		e.Forward(a.Out[0].F, a.In[2].F, a.In[3].F, a.In[4].F, a.In[0].I, rows.of(a.In[1]))
	}}
}

func (o embedding) gradient(b *Graph, c *call, dy []*Node) []*Node {
	d := b.apply(embeddingBackward{words: c.in[2].typ, positions: c.in[3].typ, kinds: c.in[4].typ},
		dy[0], c.in[0], c.in[1])
	return append([]*Node{nil, nil}, d...)
}

// embeddingBackward adds dy up by word, by position and as a whole.
type embeddingBackward struct{ words, positions, kinds Type }

func (embeddingBackward) Name() string { return "embedding-backward" }

func (embeddingBackward) isRowwise() {}

func (o embeddingBackward) Infer([]Type) ([]Type, error) {
	return []Type{o.words, o.positions, o.kinds}, nil
}

func (embeddingBackward) Cost(in, out []Type) Cost {
	return cost(3*int64(in[0].Shape.Elems()), in, out)
}

func (embeddingBackward) host(h *Host, in, _ []Type) Kernel {
	rows := rowsOf(in[0])
	e := h.rows.NewEmbedding(rows.cols, in[0].Shape[0])
	return Kernel{Run: func(a *Args) {
		e.Backward(a.Out[0].F, a.Out[1].F, a.Out[2].F, a.In[0].F, a.In[1].I, rows.of(a.In[2]))
	}}
}
