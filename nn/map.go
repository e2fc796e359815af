package nn

import (
	"lockstep/graph"
	"lockstep/op"
	"lockstep/tensor"
)

// GroupNorm normalises the channels of each of Groups groups of a map [N, H, W, C], sample by sample, after
// PyTorch's GroupNorm: parameters weight (1) and bias (0), both [C]. With C groups it is instance
// normalisation.
type GroupNorm struct {
	Groups int
	Eps    float32 // 0 means 1e-5
}

// Apply implements Layer.
func (l GroupNorm) Apply(name string, x *graph.Node) *graph.Node {
	if l.Eps == 0 {
		l.Eps = 1e-5
	}
	gamma, beta := gains(name, x)
	return op.GroupNorm(x, gamma, beta, l.Groups, l.Eps)
}

// ConvTranspose is the adjoint of a convolution, also called deconvolution, with Out channels, after
// PyTorch's ConvTranspose2d: parameters weight [C, Out, Size, Size] and bias [Out]. A side of n pixels
// becomes (n-1)*Stride - 2*Pad + Size + Extra.
type ConvTranspose struct {
	Out, Size  int
	Stride     int // 0 means 1
	Pad, Extra int
	NoBias     bool
	Init       graph.Init // of the weights; nil means PyTorch's default
}

// Apply implements Layer.
func (l ConvTranspose) Apply(name string, x *graph.Node) *graph.Node {
	c := features(x.Shape(), 3)
	g, init := x.Graph(), byFanIn(l.Out*l.Size*l.Size)
	view, weights := tensor.Shape{c, l.Out, l.Size, l.Size}, l.Init
	if weights == nil {
		weights = init
	}
	w := g.Parameter(graph.Param{Name: name + ".weight", Shape: view, Layout: filters(view),
		Init: weights, Role: graph.RoleMatrix})
	return op.ConvTranspose(x, w, bias(g, name, l.Out, l.NoBias, init), max(l.Stride, 1), l.Pad, l.Extra)
}

// AvgPool computes the mean over windows of Size x Size pixels, Stride apart, of a map padded with Pad
// pixels of 0, which count, as in PyTorch's AvgPool2d; Stride 0 means Size. It has no parameters.
type AvgPool struct{ Size, Stride, Pad int }

// Apply implements Layer.
func (l AvgPool) Apply(_ string, x *graph.Node) *graph.Node {
	stride := l.Stride
	if stride == 0 {
		stride = l.Size
	}
	return op.AvgPool(x, [2]int{l.Size, l.Size}, op.Window{Stride: [2]int{stride, stride},
		Pad: [4]int{l.Pad, l.Pad, l.Pad, l.Pad}}, true)
}

// Scale multiplies a map [N, H, W, C] by what Of makes of it, channel by channel, [N, C]: with
// Of = Sequential{GlobalAvgPool{}, Linear{Out: C/16}, ReLU{}, Linear{Out: C}, Sigmoid{}} it is a
// squeeze-and-excitation block (Hu et al. 2017, arXiv 1709.01507). The parameters are those of Of.
type Scale struct{ Of Layer }

// Apply implements Layer.
func (l Scale) Apply(name string, x *graph.Node) *graph.Node {
	by, s := l.Of.Apply(name, x), x.Shape()
	if len(s) == 4 && len(by.Shape()) == 2 {
		by = graph.Reshape(by, tensor.Shape{s[0], 1, 1, features(by.Shape(), 1)})
	}
	return op.Mul(x, by)
}

// Residual adds its input to what Of makes of it. The parameters are those of Of.
type Residual struct{ Of Layer }

// Apply implements Layer.
func (l Residual) Apply(name string, x *graph.Node) *graph.Node {
	return graph.Add(x, l.Of.Apply(name, x))
}
