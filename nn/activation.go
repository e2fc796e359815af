package nn

import (
	"lockstep/graph"
	"lockstep/op"
)

// Func is a function of a node as a layer without parameters, such as Func(op.SiLU) or Func(graph.Flatten).
type Func func(x *graph.Node) *graph.Node

// Apply implements Layer.
func (f Func) Apply(_ string, x *graph.Node) *graph.Node { return f(x) }

// ReLU is max(x, 0). It has no parameters.
type ReLU struct{}

// Apply implements Layer.
func (ReLU) Apply(_ string, x *graph.Node) *graph.Node { return graph.ReLU(x) }

// GELU is x Phi(x), Phi being the normal distribution function. It has no parameters.
type GELU struct{}

// Apply implements Layer.
func (GELU) Apply(_ string, x *graph.Node) *graph.Node { return graph.GELU(x) }

// Tanh is the hyperbolic tangent. It has no parameters.
type Tanh struct{}

// Apply implements Layer.
func (Tanh) Apply(_ string, x *graph.Node) *graph.Node { return graph.Tanh(x) }

// Sigmoid is 1/(1+e^-x). It has no parameters.
type Sigmoid struct{}

// Apply implements Layer.
func (Sigmoid) Apply(_ string, x *graph.Node) *graph.Node { return op.Sigmoid(x) }

// SiLU is x/(1+e^-x), also called Swish. It has no parameters.
type SiLU struct{}

// Apply implements Layer.
func (SiLU) Apply(_ string, x *graph.Node) *graph.Node { return op.SiLU(x) }

// Flatten joins all axes but the first, in PyTorch's order for maps [N, H, W, C] too. It has no parameters.
type Flatten struct{}

// Apply implements Layer.
func (Flatten) Apply(_ string, x *graph.Node) *graph.Node {
	if len(x.Shape()) == 4 {
		x = op.Transpose(x, 0, 3, 1, 2)
	}
	return graph.Flatten(x)
}
