package model

import (
	"math"

	"lockstep/graph"
	"lockstep/tensor"
)

// Network is an architecture for a given input and number of classes.
type Network struct {
	Name string
	// Input is the shape of one sample: [H, W, C] of an image, or [T] of a text of at most T tokens.
	Input tensor.Shape
	// Classes is the number of outputs: one for each class, or one for each value that a regression predicts.
	Classes int
	// Words is the size of the vocabulary, or 0 if the network reads images.
	Words int
	// Build adds the network to x's graph, where x is the result of Samples, and returns logits [N,
	// Classes].
	Build func(x *graph.Node) *graph.Node
	// Prepare, if not nil, sets parameters of newly initialised variables from the first
	// PrepareSamples training images [N, H, W, C], normalised and not augmented.
	Prepare        func(v *graph.Variables, images []float32)
	PrepareSamples int

	bert *bert   // nil if it is none
	file *origin // that it comes from; nil: none
	// known is the name of the architecture in the catalog, "" for none, and stem the one that was asked for.
	known, stem string
}

// ReadsTexts reports whether samples are texts, not images.
func (n Network) ReadsTexts() bool { return len(n.Input) == 1 }

// Names of the inputs that Samples adds.
const (
	Images = "images"
	Texts  = "texts"
)

// Samples adds the input of so many samples to g: images [count, H, W, C], or texts.
func (n Network) Samples(g *graph.Graph, count int) *graph.Node {
	if n.ReadsTexts() {
		return g.Texts(Texts, count, n.Input[0])
	}
	return g.Input(Images, append(tensor.Shape{count}, n.Input...))
}

// trial returns the graph of the network for one sample.
func (n Network) trial() *graph.Graph {
	g := graph.New()
	n.Build(n.Samples(g, 1))
	return g
}

// Parameters returns the names of the network's parameters in the order in which Build adds them.
func (n Network) Parameters() []string {
	var names []string
	for _, p := range n.trial().Params() {
		names = append(names, p.Name)
	}
	return names
}

// Head returns the name of the matrix whose outputs are the classes, "" if no layer has declared it.
func (n Network) Head() string {
	for _, p := range n.trial().Params() {
		if p.Role == graph.RoleHead {
			return p.Name
		}
	}
	return ""
}

// IsBERT reports whether Pretrained can describe the network.
func (n Network) IsBERT() bool { return n.bert != nil }

// Optional lists the layers below the head that weights trained for another task may lack.
func (n Network) Optional() []string {
	if n.bert == nil {
		return nil
	}
	return []string{bertPooler}
}

// Samples of a shard, at least, see LeastShard.
const (
	leastSamples    = 8  // of any network: fewer take more time
	leastStatistics = 32 // of one with batch norm, which has its statistics from one shard
	// mostParameters are few enough that adding up the gradients of shards takes hardly any time
	// (docs/design/0035).
	mostParameters = 1 << 20
)

// LeastShard returns the number of samples that a shard of a batch should have at least; of a network with
// many parameters, no batch has as many.
func (n Network) LeastShard() int {
	g, elems := n.trial(), 0
	for _, p := range g.Params() {
		elems += p.Shape.Elems()
	}
	if elems > mostParameters {
		return math.MaxInt
	}
	if g.HasState() {
		return leastStatistics
	}
	return leastSamples
}
