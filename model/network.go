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
	Name    string
	Input   tensor.Shape // of one sample, [H, W, C]
	Classes int
	// Build adds the network to x's graph, x being [N, H, W, C], and returns logits [N, Classes].
	Build func(x *graph.Node) *graph.Node
}

// architecture builds logits for so many classes from maps of any size.
type architecture struct {
	name  string
	build func(x *graph.Node, classes int) *graph.Node
}

// architectures lists what Named knows.
var architectures = []architecture{
	{"lenet", lenet},
	{"vgg11", vgg11},
	{"resnet20", resnet20},
	{"resnet56", resnet56},
	{"resnet50", resnet50},
}

// Names lists the known architectures.
func Names() []string {
	names := make([]string, len(architectures))
	for i, a := range architectures {
		names[i] = a.name
	}
	return names
}

// Named returns the network called name for samples of shape input, [H, W, C]. It fails, with the
// nearest name, if there is none, or if the architecture does not fit the input.
func Named(name string, classes int, input tensor.Shape) (Network, error) {
	at := slices.IndexFunc(architectures, func(a architecture) bool { return a.name == name })
	if at < 0 {
		return Network{}, fmt.Errorf("model: no model %q%s (known: %s)", name,
			spelling.Hint(name, Names()), strings.Join(Names(), ", "))
	}
	if classes < 1 || len(input) != 3 || input.Elems() < 1 {
		return Network{}, fmt.Errorf("model: %s: %d classes from input %v, want [H, W, C]",
			name, classes, input)
	}
	n := Network{Name: name, Input: input.Clone(), Classes: classes}
	n.Build = func(x *graph.Node) *graph.Node { return architectures[at].build(x, classes) }
	trial := graph.New()
	n.Build(trial.Input("images", append(tensor.Shape{1}, input...)))
	if err := trial.Err(); err != nil {
		return Network{}, fmt.Errorf("model: %s does not fit input %v: %w", name, input, err)
	}
	return n, nil
}
