package model

import (
	"fmt"

	"lockstep/graph"
	"lockstep/nn"
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
	x := b.embeddings("bert.embeddings", tokens)
	for i := range b.size.layers {
		x = b.layer(fmt.Sprintf("bert.encoder.layer.%d.", i), x)
	}
	x = graph.Tanh(b.dense(b.size.features).Apply(bertPooler, graph.FirstToken(x)))
	head := b.dense(classes)
	head.IsHead = true
	return head.Apply("classifier", graph.Dropout(x, b.dropout))
}

func (b bert) embeddings(name string, tokens *graph.Node) *graph.Node {
	x := nn.Embedding{Words: b.words, Positions: bertPositions, Kinds: bertKinds, Out: b.size.features,
		Init: b.weights()}.Apply(name, tokens)
	return graph.Dropout(b.norm().Apply(name+".LayerNorm", x), b.dropout)
}

// layer is attention and a feed-forward network, each added to its input and normalised.
func (b bert) layer(name string, x *graph.Node) *graph.Node {
	a := nn.Attention{Heads: b.size.heads, Dropout: b.dropout, Init: b.weights(),
		InitBias: graph.Constant{}}.Apply(name+"attention.self", x)
	x = b.addNorm(name+"attention.output.", x, a)
	up := graph.GELU(b.dense(4*b.size.features).Apply(name+"intermediate.dense", x))
	return b.addNorm(name+"output.", x, up)
}

// addNorm returns the normalised sum of x and a dense layer of a.
func (b bert) addNorm(name string, x, a *graph.Node) *graph.Node {
	a = b.dense(b.size.features).Apply(name+"dense", a)
	return b.norm().OfSum(name+"LayerNorm", x, a, b.dropout)
}

// dense is a linear layer with BERT's initial weights.
func (b bert) dense(out int) nn.Linear {
	return nn.Linear{Out: out, Init: b.weights(), InitBias: graph.Constant{}}
}

// weights is the initial distribution of matrices.
func (bert) weights() graph.Init { return graph.Normal{Deviation: bertDeviation} }

func (bert) norm() nn.LayerNorm { return nn.LayerNorm{Eps: bertEps} }
