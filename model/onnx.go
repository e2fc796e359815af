package model

import (
	"cmp"
	"fmt"
	"path/filepath"

	"lockstep/graph"
	"lockstep/onnx"
	"lockstep/tensor"
)

// IsFile reports whether Named takes name as the path of an ONNX file.
func IsFile(name string) bool { return filepath.Ext(name) == ".onnx" }

// WithFreshHeads returns a catalog of the same names, of which those of files get a new last layer where the
// number of classes is another one.
func (c Catalog) WithFreshHeads() Catalog {
	c.fresh = true
	return c
}

// fromFile returns the network of an ONNX file, whose parameters and running statistics start from the
// file's. A nil input, and 0 classes, are those of the file.
func (c Catalog) fromFile(path string, classes int, input tensor.Shape) (Network, error) {
	m, err := onnx.Open(path)
	if err != nil {
		return Network{}, fmt.Errorf("model: %w", err)
	}
	n := Network{Name: path, Input: input.Clone(), Classes: classes}
	if input == nil {
		n.Input = m.Input()
	}
	if m.ReadsTexts() != n.ReadsTexts() || n.Input.Elems() < 1 {
		return Network{}, fmt.Errorf("model: %s reads samples of shape %v, given is %v", path,
			m.Input(), n.Input)
	}
	var o onnx.Options
	if c.fresh {
		o.FreshClasses = classes
	}
	n.Build = func(x *graph.Node) *graph.Node {
		logits, _ := m.Build(x, o) // the graph has the error
		return logits
	}
	for _, samples := range []int{1, 2} {
		g := graph.New()
		logits, err := m.Build(n.Samples(g, samples), o)
		if err != nil {
			return Network{}, fmt.Errorf("model: %w", err)
		}
		n.Classes = cmp.Or(n.Classes, logits.Shape()[1])
		if got := logits.Shape()[1]; got != n.Classes {
			return Network{}, fmt.Errorf("model: %s ends in %d values, the data has %d classes; "+
				"train a new last layer with --fresh-head", path, got, n.Classes)
		}
	}
	return n, nil
}
