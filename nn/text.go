package nn

import (
	"lockstep/graph"
	"lockstep/tensor"
)

// LayerNorm normalises the last axis, of C elements, after PyTorch's LayerNorm: parameters weight (1) and
// bias (0), both [C].
type LayerNorm struct {
	Eps float32 // 0 means 1e-5
}

// Apply implements Layer.
func (l LayerNorm) Apply(name string, x *graph.Node) *graph.Node {
	gamma, beta, eps := l.parameters(name, x)
	return graph.LayerNorm(x, gamma, beta, eps)
}

// OfSum is Apply to x + Dropout(a, share) in one pass: the end of a residual block.
func (l LayerNorm) OfSum(name string, x, a *graph.Node, share float64) *graph.Node {
	gamma, beta, eps := l.parameters(name, x)
	return graph.AddLayerNorm(x, a, gamma, beta, eps, share)
}

// parameters adds those of the layer for x.
func (l LayerNorm) parameters(name string, x *graph.Node) (gamma, beta *graph.Node, eps float32) {
	if l.Eps == 0 {
		l.Eps = 1e-5
	}
	gamma, beta = gains(name, x)
	return gamma, beta, l.Eps
}

// gains adds the parameters weight (1) and bias (0) of a norm, one for each element of x's last axis.
func gains(name string, x *graph.Node) (gamma, beta *graph.Node) {
	c := tensor.Shape{features(x.Shape(), len(x.Shape())-1)}
	param := func(part string, start float32) *graph.Node {
		return x.Graph().Parameter(graph.Param{Name: name + part, Shape: c,
			Init: graph.Constant{Value: start}, Role: graph.RoleBias})
	}
	return param(".weight", 1), param(".bias", 0)
}

// Embedding returns Out features for each token of texts, which are the input of a network that
// [graph.Graph.Texts] adds: the sum of those of the word, of its place and of the part of the text. It is
// the sum in Hugging Face's BertEmbeddings, under its names: parameters word_embeddings.weight [Words, Out],
// position_embeddings.weight [Positions, Out] and token_type_embeddings.weight [Kinds, Out].
type Embedding struct {
	Words, Positions, Kinds, Out int
	Init                         graph.Init // nil means PyTorch's default, the normal distribution
}

// Apply implements Layer.
func (l Embedding) Apply(name string, tokens *graph.Node) *graph.Node {
	init := l.Init
	if init == nil {
		init = graph.Normal{Deviation: 1}
	}
	table := func(part string, rows int) *graph.Node {
		return tokens.Graph().Parameter(graph.Param{Name: name + "." + part + "_embeddings.weight",
			Shape: tensor.Shape{rows, l.Out}, Init: init, Role: graph.RoleTable})
	}
	words, positions := table("word", l.Words), table("position", l.Positions)
	return graph.Embedding(tokens, words, positions, table("token_type", l.Kinds))
}

// Attention is self-attention of Heads heads over the tokens of each text, [tokens, C], with dropout of a
// share of the probabilities (Vaswani et al. 2017, arXiv 1706.03762): softmax(q k^T / sqrt(C/Heads)) v of
// the linear layers query, key and value, each with C outputs. What follows it, such as the linear layer of
// BERT's output, is a layer of its own. If it is Causal, a token attends to itself and those before it only.
type Attention struct {
	Heads          int
	Causal         bool
	Dropout        float64
	Init, InitBias graph.Init // of its linear layers, see Linear
}

// Apply implements Layer.
func (l Attention) Apply(name string, x *graph.Node) *graph.Node {
	of := Linear{Out: features(x.Shape(), len(x.Shape())-1), Init: l.Init, InitBias: l.InitBias}
	q := of.Apply(name+".query", x)
	k := of.Apply(name+".key", x)
	v := of.Apply(name+".value", x)
	attention := graph.Attention
	if l.Causal {
		attention = graph.CausalAttention
	}
	return attention(q, k, v, l.Heads, l.Dropout)
}

// FirstToken keeps the features of the first token of each text: [tokens, C] becomes [N, C]. It has no
// parameters.
type FirstToken struct{}

// Apply implements Layer.
func (FirstToken) Apply(_ string, x *graph.Node) *graph.Node { return graph.FirstToken(x) }

// Dropout sets a Share of the elements to zero in training, at random, and multiplies the others so that
// the mean stays; see [graph.Dropout]. It has no parameters.
type Dropout struct{ Share float64 }

// Apply implements Layer.
func (l Dropout) Apply(_ string, x *graph.Node) *graph.Node { return graph.Dropout(x, l.Share) }
