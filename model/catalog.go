package model

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/graph"
	"lockstep/internal/spelling"
	"lockstep/onnx"
	"lockstep/tensor"
)

// architecture builds logits for a number of classes from maps of any size, or from texts.
type architecture struct {
	name  string
	build func(x *graph.Node, classes int) *graph.Node
	bert  *bertSize // of an architecture that reads texts; nil if it reads images
	// whitens says that the training images determine the filters of the first layer.
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
	{name: "mlp", build: mlp},
	{name: "bert-tiny", bert: &bertSize{2, 128, 2}},
	{name: "bert-mini", bert: &bertSize{4, 256, 4}},
	{name: "bert-small", bert: &bertSize{4, 512, 8}},
	{name: "bert-medium", bert: &bertSize{8, 512, 8}},
	{name: "bert-base", bert: &bertSize{12, 768, 12}},
}

// Catalog is a set of named architectures: those of this package and, added by With, those of the
// calling program. The zero value has those of this package. A Catalog is immutable.
type Catalog struct {
	own   []architecture
	dry   bool // networks of this package have no dropout
	fresh bool // see WithFreshHeads
	side  int  // see WithSide
}

// With returns a catalog that also has the architecture called name. build adds it to the graph of
// x, images [N, H, W, C], and returns logits [N, classes]. With returns an error if the name is
// taken or invalid.
func (c Catalog) With(name string, build func(x *graph.Node, classes int) *graph.Node) (Catalog, error) {
	if err := spelling.CheckName(name, c.Names()); err != nil {
		return c, fmt.Errorf("model: %w", err)
	}
	if build == nil {
		return c, fmt.Errorf("model: %s: no function that builds it", name)
	}
	c.own = append(slices.Clip(c.own), architecture{name: name, build: build})
	return c, nil
}

// WithoutDropout returns a catalog of the same names whose texts' networks have no dropout, so that their
// losses can be compared with those of other programs.
func (c Catalog) WithoutDropout() Catalog {
	c.dry = true
	return c
}

// Names lists the architectures.
func (c Catalog) Names() []string {
	var names []string
	for _, a := range c.all() {
		names = append(names, a.name)
	}
	return names
}

// ReadsTexts reports whether there is an architecture called name, or an ONNX file, that reads texts.
func (c Catalog) ReadsTexts(name string) bool {
	if IsFile(name) {
		readsTexts, _ := onnx.FileReadsTexts(name) // Named has the error
		return readsTexts
	}
	a, ok := c.find(name)
	return ok && a.bert != nil
}

// Named returns the network called name for samples of shape input: [H, W, C] for images, [T] for texts of
// at most T tokens. A name that IsFile is that of an ONNX file. It returns an error, with the nearest name,
// if there is none, and an error if the architecture does not fit the input.
func (c Catalog) Named(name string, classes int, input tensor.Shape) (Network, error) {
	if IsFile(name) {
		return c.fromFile(name, classes, input)
	}
	if c.dry {
		return c.named(name, classes, input, 0)
	}
	return c.named(name, classes, input, bertDropout)
}

func (c Catalog) all() []architecture { return slices.Concat(architectures, c.own) }

func (c Catalog) find(name string) (architecture, bool) {
	for _, a := range c.all() {
		if a.name == name {
			return a, true
		}
	}
	return architecture{}, false
}

// Names lists the architectures of this package.
func Names() []string { return Catalog{}.Names() }

// Named is Catalog.Named for the architectures of this package.
func Named(name string, classes int, input tensor.Shape) (Network, error) {
	return Catalog{}.Named(name, classes, input)
}

// named is Named with the given dropout.
func (c Catalog) named(name string, classes int, input tensor.Shape, dropout float64) (Network, error) {
	a, ok := c.find(name)
	if !ok {
		return Network{}, fmt.Errorf("model: no model %q%s (known: %s)", name,
			spelling.Hint(name, c.Names()), strings.Join(c.Names(), ", "))
	}
	axes, shape := 3, "[H, W, C]"
	if a.bert != nil {
		axes, shape = 1, "[T] of a text"
	}
	if classes < 1 || len(input) != axes || input.Elems() < 1 {
		return Network{}, fmt.Errorf("model: %s: %d classes from input %v, want %s",
			name, classes, input, shape)
	}
	n := Network{Name: name, Input: input.Clone(), Classes: classes, known: name}
	if a.bert != nil {
		n = n.withBERT(bert{size: *a.bert, words: bertWords, dropout: dropout})
	} else {
		n.Build = func(x *graph.Node) *graph.Node { return a.build(x, classes) }
	}
	if a.whitens {
		n.PrepareSamples = whitenSamples
		n.Prepare = func(v *graph.Variables, images []float32) {
			whiten(v, whitenFilters+".weight", n.Input, images)
		}
	}
	if err := n.check(); err != nil {
		return Network{}, err
	}
	return n, nil
}

// check builds the network once and returns the error, if any.
func (n Network) check() error {
	trial := graph.New()
	logits := n.Build(n.Samples(trial, 1))
	if err := trial.Err(); err != nil {
		return fmt.Errorf("model: %s does not fit input %v: %w", n.Name, n.Input, err)
	}
	if want := (tensor.Shape{1, n.Classes}); logits == nil || !logits.Shape().Equal(want) {
		return fmt.Errorf("model: %s does not end in logits %v for one sample", n.Name, want)
	}
	return nil
}
