package model

import (
	"fmt"

	"lockstep/graph"
	"lockstep/tensor"
)

// bertSize is the size of a BERT encoder (Devlin et al. 2018, arXiv 1810.04805; the small ones after Turc et
// al. 2019, arXiv 1908.08962): layers, features, heads of 64 features each.
type bertSize struct{ layers, features, heads int }

// Constants of all BERT models.
const (
	bertWords     = 30522
	bertPositions = 512
	bertKinds     = 2
	bertEps       = 1e-12
	bertDeviation = 0.02 // of initial weights
	bertDropout   = 0.1
	bertPooler    = "bert.pooler.dense" // which weights of a masked language model lack
)

// bert is a post-LayerNorm encoder over texts with a classifier on the pooled first token. It has
// the structure and the names of Hugging Face's BertForSequenceClassification.
type bert struct {
	size    bertSize
	words   int
	dropout float64
	g       *graph.Graph
}

// WithWords returns a network that reads texts, with embeddings for that many words. One that an ONNX file
// describes has those of the file.
func (n Network) WithWords(words int) Network {
	if n.bert == nil || n.file != nil {
		return n
	}
	b := *n.bert
	b.words = words
	return n.withBERT(b)
}

// Dropout returns the share of activations that a network for texts leaves out; 0 for images.
func (n Network) Dropout() float64 {
	if n.bert == nil {
		return 0
	}
	return n.bert.dropout
}

// withBERT returns n with b in place of its network.
func (n Network) withBERT(b bert) Network {
	n.bert, n.Words = &b, b.words
	n.Build = func(x *graph.Node) *graph.Node { return b.build(x, n.Classes) }
	return n
}

// build returns logits for texts, ragged token ids.
func (b bert) build(tokens *graph.Node, classes int) *graph.Node {
	b.g = tokens.Graph()
	x := b.embeddings("bert.embeddings.", tokens)
	for i := range b.size.layers {
		x = b.layer(fmt.Sprintf("bert.encoder.layer.%d.", i), x)
	}
	x = graph.Tanh(b.dense(bertPooler, graph.FirstToken(x), b.size.features))
	return b.linear("classifier", graph.Dropout(x, b.dropout), classes, graph.RoleHead)
}

func (b bert) embeddings(name string, tokens *graph.Node) *graph.Node {
	table := func(part string, rows int) *graph.Node {
		return b.weight(graph.Param{Name: name + part + "_embeddings.weight",
			Shape: tensor.Shape{rows, b.size.features}, Role: graph.RoleTable})
	}
	words, positions := table("word", b.words), table("position", bertPositions)
	x := graph.Embedding(tokens, words, positions, table("token_type", bertKinds))
	gamma, beta := b.norm(name + "LayerNorm")
	return graph.Dropout(graph.LayerNorm(x, gamma, beta, bertEps), b.dropout)
}

// layer is attention and a feed-forward network, each added to its input and normalised.
func (b bert) layer(name string, x *graph.Node) *graph.Node {
	c := b.size.features
	q := b.dense(name+"attention.self.query", x, c)
	k := b.dense(name+"attention.self.key", x, c)
	v := b.dense(name+"attention.self.value", x, c)
	a := graph.Attention(q, k, v, b.size.heads, b.dropout)
	x = b.addNorm(name+"attention.output.", x, a)
	up := graph.GELU(b.dense(name+"intermediate.dense", x, 4*c))
	return b.addNorm(name+"output.", x, up)
}

// addNorm returns the normalised sum of x and a dense layer of a.
func (b bert) addNorm(name string, x, a *graph.Node) *graph.Node {
	a = b.dense(name+"dense", a, b.size.features)
	gamma, beta := b.norm(name + "LayerNorm")
	return graph.AddLayerNorm(x, a, gamma, beta, bertEps, b.dropout)
}

// dense is a linear layer within the network.
func (b bert) dense(name string, x *graph.Node, out int) *graph.Node {
	return b.linear(name, x, out, graph.RoleMatrix)
}

// linear is a linear layer; its weight is [out, in] in PyTorch's order, stored [in, out].
func (b bert) linear(name string, x *graph.Node, out int, role graph.Role) *graph.Node {
	in := b.size.features
	if s := x.Shape(); len(s) > 0 {
		in = s[len(s)-1]
	}
	layout := tensor.Layout{View: tensor.Shape{out, in}, Perm: []int{1, 0}}
	w := b.weight(graph.Param{Name: name + ".weight", Shape: tensor.Shape{out, in}, Layout: layout,
		Role: role})
	bias := graph.Param{Name: name + ".bias", Shape: tensor.Shape{out}, Role: graph.RoleBias}
	return graph.Linear(x, w, b.g.Parameter(bias))
}

// weight adds a parameter with BERT's initial distribution of matrices.
func (b bert) weight(p graph.Param) *graph.Node {
	p.Init = graph.Normal{Deviation: bertDeviation}
	return b.g.Parameter(p)
}

// norm returns the parameters of a layer normalisation.
func (b bert) norm(name string) (gamma, beta *graph.Node) {
	param := func(part string, start float32) *graph.Node {
		return b.g.Parameter(graph.Param{Name: name + part, Shape: tensor.Shape{b.size.features},
			Init: graph.Constant{Value: start}, Role: graph.RoleBias})
	}
	return param(".weight", 1), param(".bias", 0)
}
