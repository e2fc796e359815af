package nn

import (
	"strconv"

	"lockstep/graph"
)

// Layer is a part of a network with one input and one output.
type Layer interface {
	// Apply adds the layer to x's graph and returns its output. The names of its parameters and
	// states start with name and a dot.
	Apply(name string, x *graph.Node) *graph.Node
}

// Sequential applies its layers one after the other. Layer i is named name.i, as in PyTorch.
type Sequential []Layer

// Apply implements Layer.
func (s Sequential) Apply(name string, x *graph.Node) *graph.Node {
	for i, l := range s {
		x = l.Apply(name+"."+strconv.Itoa(i), x)
	}
	return x
}

// MaxPool computes the maximum over windows of Size x Size pixels, Stride apart, of a map padded
// with Pad pixels of -infinity; Stride 0 means Size. It has no parameters.
type MaxPool struct{ Size, Stride, Pad int }

// Apply implements Layer.
func (l MaxPool) Apply(_ string, x *graph.Node) *graph.Node {
	stride := l.Stride
	if stride == 0 {
		stride = l.Size
	}
	return graph.MaxPool(x, l.Size, stride, l.Pad)
}

// GlobalAvgPool computes each channel's mean over the map: [N, H, W, C] becomes [N, C]. It has no
// parameters.
type GlobalAvgPool struct{}

// Apply implements Layer.
func (GlobalAvgPool) Apply(_ string, x *graph.Node) *graph.Node { return graph.GlobalAvgPool(x) }
