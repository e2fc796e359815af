package nn

import (
	"math"

	"lockstep/graph"
	"lockstep/op"
	"lockstep/tensor"
)

// Conv is a convolution with Out filters of Size x Size, after PyTorch's Conv2d: parameters weight
// [Out, C/Groups, Size, Size] and bias [Out].
type Conv struct {
	Out, Size int
	Stride    int // 0 means 1
	Pad       int
	Dilation  int // distance of the taps of a filter; 0 means 1
	Groups    int // parts of the channels with filters of their own; 0 means 1, C is depthwise
	NoBias    bool
	Init      graph.Init // of the weights; nil means PyTorch's default
}

// Apply implements Layer.
func (l Conv) Apply(name string, x *graph.Node) *graph.Node {
	c := max(1, features(x.Shape(), 3)/max(l.Groups, 1))
	g, init := x.Graph(), byFanIn(c*l.Size*l.Size)
	view, weights := tensor.Shape{l.Out, c, l.Size, l.Size}, l.Init
	if weights == nil {
		weights = init
	}
	w := g.Parameter(graph.Param{Name: name + ".weight", Shape: view, Layout: filters(view),
		Init: weights, Role: graph.RoleMatrix})
	b, stride := bias(g, name, l.Out, l.NoBias, init), max(l.Stride, 1)
	if l.Groups <= 1 && l.Dilation <= 1 {
		return graph.Conv(x, w, b, stride, l.Pad)
	}
	return op.Conv(x, w, b, op.Window{Stride: [2]int{stride, stride}, Groups: l.Groups,
		Dilation: [2]int{l.Dilation, l.Dilation}, Pad: [4]int{l.Pad, l.Pad, l.Pad, l.Pad}})
}

// Linear is a fully connected layer with Out features, after PyTorch's Linear: parameters weight
// [Out, C] and bias [Out].
//
// Applied to a map [N, H, W, C] it reads all C*H*W values of a sample in PyTorch's order, as after
// a flatten, and returns [N, Out]. Otherwise it reads the last axis and keeps the others.
type Linear struct {
	Out            int
	NoBias         bool
	IsHead         bool       // its outputs are the classes
	Init, InitBias graph.Init // of weights and bias; nil means PyTorch's default
}

// Apply implements Layer.
func (l Linear) Apply(name string, x *graph.Node) *graph.Node {
	s := x.Shape()
	in, view := features(s, len(s)-1), tensor.Shape(nil)
	if len(s) == 4 {
		in = s[1:].Elems()
		view = tensor.Shape{l.Out, s[3], s[1], s[2]}
	} else {
		view = tensor.Shape{l.Out, in}
	}
	g, role := x.Graph(), graph.RoleMatrix
	if l.IsHead {
		role = graph.RoleHead
	}
	if l.Init == nil {
		l.Init = byFanIn(in)
	}
	if l.InitBias == nil {
		l.InitBias = byFanIn(in)
	}
	w := g.Parameter(graph.Param{Name: name + ".weight", Shape: tensor.Shape{l.Out, in},
		Layout: filters(view), Init: l.Init, Role: role})
	return graph.Linear(x, w, bias(g, name, l.Out, l.NoBias, l.InitBias))
}

// features returns the length of an axis, or 1 if there is none; the op then reports the error.
func features(s tensor.Shape, axis int) int {
	if axis < 0 || axis >= len(s) {
		return 1
	}
	return s[axis]
}

// filters is the layout of weights [K, C, ...] stored as [..., C, K].
func filters(view tensor.Shape) tensor.Layout {
	perm := make([]int, 0, len(view))
	for axis := 2; axis < len(view); axis++ {
		perm = append(perm, axis)
	}
	return tensor.Layout{View: view, Perm: append(perm, 1, 0)}
}

// bias adds the bias of a layer with n outputs, or returns nil if it has none.
func bias(g *graph.Graph, name string, n int, none bool, init graph.Init) *graph.Node {
	if none {
		return nil
	}
	return g.Parameter(graph.Param{Name: name + ".bias", Shape: tensor.Shape{n}, Init: init,
		Role: graph.RoleBias})
}

// ByFanOut is the initial distribution of convolutions with filters of size x size in front of a
// ReLU: normal with standard deviation sqrt(2/n), n = out*size*size being the number of outputs
// that one input reaches in a layer with out filters (Kaiming normal, mode fan-out; He et al. 2015,
// arXiv 1502.01852).
func ByFanOut(out, size int) graph.Init {
	return graph.Normal{Deviation: math.Sqrt(2 / float64(out*size*size))}
}

// byFanIn is PyTorch's default for weights and biases: uniform in +-1/sqrt(n), n being the number
// of inputs of one output (Kaiming uniform with a = sqrt(5); He et al. 2015, arXiv 1502.01852).
func byFanIn(n int) graph.Init { return graph.Uniform{Bound: 1 / math.Sqrt(float64(n))} }
