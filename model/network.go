package model

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/graph"
	"lockstep/internal/spelling"
	"lockstep/tensor"
)

// Network is an architecture for a given input and number of classes.
type Network struct {
	Name string
	// Input is the shape of one sample: [H, W, C] of an image, or [T] of a text of at most T tokens.
	Input   tensor.Shape
	Classes int
	// Words is how many different tokens the model knows, from 0 on; 0 if it reads images.
	Words int
	// Build adds the network to x's graph, x being what Sample returned, and returns logits [N, Classes].
	Build func(x *graph.Node) *graph.Node
	// Prepare, if not nil, sets parameters of fresh variables by the first PrepareSamples training
	// images [N, H, W, C], normalised and not augmented.
	Prepare        func(v *graph.Variables, images []float32)
	PrepareSamples int
}

// ReadsTexts reports whether samples are texts, not images.
func (n Network) ReadsTexts() bool { return len(n.Input) == 1 }

// Samples adds the input of so many samples to g: images [count, H, W, C], or texts.
func (n Network) Samples(g *graph.Graph, count int) *graph.Node {
	if n.ReadsTexts() {
		return g.Texts("texts", count, n.Input[0])
	}
	return g.Input("images", append(tensor.Shape{count}, n.Input...))
}

// Parameters returns the names of the network's parameters in the order in which Build adds them.
func (n Network) Parameters() []string {
	g := graph.New()
	n.Build(n.Samples(g, 1))
	var names []string
	for _, p := range g.Params() {
		names = append(names, p.Name)
	}
	return names
}

// architecture builds logits for so many classes from maps of any size, or from texts.
type architecture struct {
	name  string
	build func(x *graph.Node, classes int) *graph.Node
	bert  *bertSize // of an architecture that reads texts; nil if it reads images
	// whitens says that the filters of the first layer come from the training images.
	whitens bool
}

// architectures lists what Named knows.
var architectures = []architecture{
	{name: "lenet", build: lenet},
	{name: "vgg11", build: vgg11},
	{name: "resnet20", build: resnet20},
	{name: "resnet56", build: resnet56},
	{name: "resnet50", build: resnet50},
	{name: "airbench", build: airbench, whitens: true},
	{name: "bert-tiny", bert: &bertSize{2, 128, 2}},
	{name: "bert-mini", bert: &bertSize{4, 256, 4}},
	{name: "bert-small", bert: &bertSize{4, 512, 8}},
	{name: "bert-medium", bert: &bertSize{8, 512, 8}},
	{name: "bert-base", bert: &bertSize{12, 768, 12}},
}

// Names lists the known architectures.
func Names() []string {
	names := make([]string, len(architectures))
	for i, a := range architectures {
		names[i] = a.name
	}
	return names
}

// ReadsTexts reports whether the model called name reads texts; false if there is none.
func ReadsTexts(name string) bool {
	at := find(name)
	return at >= 0 && architectures[at].bert != nil
}

// find returns the place of the architecture called name, or -1.
func find(name string) int {
	return slices.IndexFunc(architectures, func(a architecture) bool { return a.name == name })
}

// Named returns the network called name for samples of shape input: [H, W, C] for images, [T] for texts of
// at most T tokens. It fails, with the nearest name, if there is none, or if the architecture does not fit
// the input.
func Named(name string, classes int, input tensor.Shape) (Network, error) {
	return named(name, classes, input, bertDropout)
}

// named is Named with another share of dropout.
func named(name string, classes int, input tensor.Shape, dropout float64) (Network, error) {
	at := find(name)
	if at < 0 {
		return Network{}, fmt.Errorf("model: no model %q%s (known: %s)", name,
			spelling.Hint(name, Names()), strings.Join(Names(), ", "))
	}
	build, axes, shape := architectures[at].build, 3, "[H, W, C]"
	if size := architectures[at].bert; size != nil {
		build, axes, shape = bert{size: *size, dropout: dropout}.build, 1, "[T] of a text"
	}
	if classes < 1 || len(input) != axes || input.Elems() < 1 {
		return Network{}, fmt.Errorf("model: %s: %d classes from input %v, want %s",
			name, classes, input, shape)
	}
	n := Network{Name: name, Input: input.Clone(), Classes: classes}
	if axes == 1 {
		n.Words = bertWords
	}
	n.Build = func(x *graph.Node) *graph.Node { return build(x, classes) }
	if architectures[at].whitens {
		n.PrepareSamples = whitenSamples
		n.Prepare = func(v *graph.Variables, images []float32) {
			whiten(v, whitenFilters+".weight", n.Input, images)
		}
	}
	trial := graph.New()
	n.Build(n.Samples(trial, 1))
	if err := trial.Err(); err != nil {
		return Network{}, fmt.Errorf("model: %s does not fit input %v: %w", name, input, err)
	}
	return n, nil
}
