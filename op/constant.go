package op

import (
	"errors"
	"fmt"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/tensor"
)

// constant has the same values in every run.
type constant struct {
	shape  tensor.Shape
	values []float32
}

// Name implements graph.Custom.
func (o constant) Name() string { return "constant" }

// Infer implements graph.Custom.
func (o constant) Infer([]graph.Type) ([]graph.Type, error) {
	if len(o.values) != o.shape.Elems() {
		return nil, fmt.Errorf("%d values for %v", len(o.values), o.shape)
	}
	return []graph.Type{float(o.shape)}, nil
}

// FLOPs implements graph.Custom.
func (o constant) FLOPs(_, _ []graph.Type) int64 { return 0 }

// Kernel implements graph.Custom.
func (o constant) Kernel(*compute.CPU, []graph.Type, []graph.Type) graph.Kernel {
	return graph.Kernel{Run: func(a *graph.Args) { copy(a.Out[0].F, o.values) }}
}

// Gradient implements graph.Custom.
func (o constant) Gradient(_, _, _ []*graph.Node) []*graph.Node { return nil }

// misfit is an op that cannot be built.
type misfit struct{ name, why string }

// Name implements graph.Custom.
func (o misfit) Name() string { return o.name }

// Infer implements graph.Custom.
func (o misfit) Infer([]graph.Type) ([]graph.Type, error) { return nil, errors.New(o.why) }

// FLOPs implements graph.Custom.
func (o misfit) FLOPs(_, _ []graph.Type) int64 { return 0 }

// Kernel implements graph.Custom.
func (o misfit) Kernel(*compute.CPU, []graph.Type, []graph.Type) graph.Kernel { return graph.Kernel{} }

// Gradient implements graph.Custom.
func (o misfit) Gradient(in, _, _ []*graph.Node) []*graph.Node { return make([]*graph.Node, len(in)) }
