package graph

import (
	"fmt"

	"lockstep/tensor"
)

// PadTexts returns the texts of a graph in rows of equal length, for ops that know no others: the number of
// each token, 0 behind the last one; 1 for a token and 0 for what is behind; and 1 for the tokens of a second
// part. All are float32 [N, most], most being that of Graph.Texts, whose result tokens is. Work done for what
// is behind the last token is lost: ops on the tokens themselves have no such rows.
func PadTexts(tokens *Node) (numbers, mask, kinds *Node) {
	g := tokens.graph
	out := g.apply(PadTextsOp{Most: g.texts.most}, tokens, g.texts.starts, g.texts.splits)
	if len(out) < 3 {
		return out[0], out[0], out[0]
	}
	return out[0], out[1], out[2]
}

// PadTextsOp is PadTexts of tokens, where their texts start and where these split. A text has at most Most
// tokens. It has no gradient.
type PadTextsOp struct{ Most int }

func (PadTextsOp) name() string { return "pad-texts" }

func (PadTextsOp) isRowwise() {}

func (o PadTextsOp) infer(in []Type) ([]Type, error) {
	if !in[0].Ragged || in[0].DType != tensor.Int32 {
		return nil, fmt.Errorf("want the tokens of texts")
	}
	padded := float(in[2].Shape[0], o.Most)
	return []Type{padded, padded, padded}, nil
}

func (PadTextsOp) cost(_, out []Type) Cost { return cost(0, out, out) }

func (o PadTextsOp) host(*Host, []Type, []Type) Kernel {
	return Kernel{Run: func(a *Args) {
		tokens, starts, splits := a.In[0].I, a.In[1].I, a.In[2].I
		for _, out := range a.Out {
			clear(out.F)
		}
		for n, split := range splits {
			at := n * o.Most
			for i, token := range tokens[starts[n]:starts[n+1]] {
				a.Out[0].F[at+i], a.Out[1].F[at+i] = float32(token), 1
				if split > 0 && i >= int(split) {
					a.Out[2].F[at+i] = 1
				}
			}
		}
	}}
}

func (PadTextsOp) gradient(*Graph, *call, []*Node) []*Node { return make([]*Node, 3) }
