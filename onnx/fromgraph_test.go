package onnx_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/nn"
	"lockstep/onnx"
	"lockstep/op"
	"lockstep/random"
	"lockstep/tensor"
)

// drawn are starting values of either sign.
type drawn struct{}

func (drawn) Draw(s random.Stream, i uint64) float32 { return s.Symmetric(i, 0.5) }

// gated is a network that somebody has written with the ops there are: a convolution, a gate for each
// channel, a residual sum, norms and linear layers of each pixel, and a head.
func gated(x *graph.Node) *graph.Node {
	g := x.Graph()
	weights := func(name string, shape ...int) *graph.Node {
		return g.Parameter(graph.Param{Name: name, Shape: shape, Init: drawn{}, Role: graph.RoleMatrix})
	}
	x = graph.Conv(x, weights("stem", 3, 3, 2, 6), weights("stem.bias", 6), 1, 1)
	y := op.SiLU(graph.Linear(graph.GlobalAvgPool(x), weights("down", 6, 3), nil))
	gate := op.Sigmoid(graph.Linear(y, weights("up", 3, 6), weights("up.bias", 6)))
	x = op.Mul(x, graph.Reshape(gate, tensor.Shape{x.Shape()[0], 1, 1, 6}))
	wide := graph.Conv(x, weights("wide", 1, 1, 6, 8), nil, 1, 0)
	x = graph.Add(graph.Subsample(x, 2, 1, 1), graph.MaxPool(wide, 3, 2, 1))
	depth := op.Window{Groups: 8, Dilation: [2]int{2, 1}, Pad: [4]int{2, 1, 2, 1}}
	x = op.Conv(x, weights("depth", 3, 3, 1, 8), weights("depth.bias", 8), depth)
	x = op.Mul(x, weights("gain", 8))
	x = op.Div(x, op.Exp(graph.Scale(graph.Tanh(x), 0.5)))
	y = graph.LayerNorm(x, weights("norm", 8), weights("norm.bias", 8), 1e-6)
	x = graph.Add(x, graph.Linear(y, weights("mix", 8, 8), weights("mix.bias", 8)))
	y = graph.Linear(graph.ReLU(graph.Linear(x, weights("expand", 8, 12), nil)), weights("join", 12, 8), nil)
	x = graph.AddLayerNorm(x, y, weights("last", 8), weights("last.bias", 8), 1e-6, 0)
	return graph.Linear(graph.Flatten(x), weights("head", 4*4*8, 5), nil)
}

// builtOf compiles the graph of three samples of a shape that a function makes, with weights that are drawn,
// and computes it.
func builtOf(t *testing.T, shape tensor.Shape, of func(x *graph.Node) *graph.Node) (p *graph.Program,
	v *graph.Variables, x, logits *graph.Node) {
	t.Helper()
	g := graph.New()
	x = g.Input("x", append(tensor.Shape{3}, shape...))
	logits = of(x)
	cpu, err := compute.Open(compute.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	p, err = graph.Compile(g, graph.NewHost(cpu), graph.Options{Logits: logits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v = graph.NewVariables(p)
	v.Initialize(3)
	images := make([]float32, 3*shape.Elems())
	for i := range images {
		images[i] = float32(math.Sin(float64(i * i)))
	}
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	p.Input("x").SetFloats(images)
	p.Forward()
	return p, v, x, logits
}

// pixels is a network whose rows of numbers are mixed as the pixels of a map are.
func pixels(x *graph.Node) *graph.Node {
	weights := func(name string, shape ...int) *graph.Node {
		return x.Graph().Parameter(graph.Param{Name: name, Shape: shape, Init: drawn{},
			Role: graph.RoleMatrix})
	}
	y := graph.ReLU(graph.Linear(x, weights("up", 6, 8), weights("up.bias", 8)))
	y = graph.Linear(y, weights("mix", 8, 8), nil)
	y = graph.LayerNorm(y, weights("gain", 8), weights("shift", 8), 1e-6)
	return graph.Linear(graph.GlobalAvgPool(y), weights("head", 8, 5), nil)
}

// What FromGraph writes has the logits of the graph, in any batch, and names of its inputs and parameters.
func TestAGraphIsWritten(t *testing.T) {
	for _, c := range []struct {
		of     func(x *graph.Node) *graph.Node
		shape  tensor.Shape
		params []string
		axes   []int // of the input
	}{
		{gated, tensor.Shape{8, 8, 2}, []string{"stem", "stem.bias", "down", "up", "up.bias", "wide", "depth",
			"mix", "head"}, []int{0, 2, 8, 8}},
		{pixels, tensor.Shape{1, 1, 6}, []string{"up", "mix", "head"}, []int{0, 6}},
	} {
		p, v, x, logits := builtOf(t, c.shape, c.of)
		m, err := onnx.FromGraph(x, logits, v)
		if err != nil {
			t.Fatal(err)
		}
		back, err := onnx.Decode(m.Encode())
		if err != nil {
			t.Fatal(err)
		}
		q, _, _, _ := builtOf(t, c.shape, func(x *graph.Node) *graph.Node {
			y, err := back.Build(x, onnx.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return y
		})
		if d := distance(q.Logits(), p.Logits()); !(d <= 1e-6) {
			t.Errorf("got %v, want %v", q.Logits(), p.Logits())
		}
		for _, name := range c.params {
			if back.Tensor(name) == nil {
				t.Errorf("no tensor is called %s", name)
			}
		}
		if in := back.Inputs[0]; in.Name != "images" || !slices.Equal(in.Axes, c.axes) {
			t.Errorf("input %+v", in)
		}
	}
}

// What cannot be written is named with its layer and op.
func TestAGraphThatCannotBeWritten(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.Shape{2, 8, 8, 2})
	w := g.Parameter(graph.Param{Name: "body.weight", Shape: tensor.Shape{3, 3, 4, 2},
		Role: graph.RoleMatrix})
	logits := graph.GlobalAvgPool(op.ConvTranspose(x, w, nil, 1, 1, 0))
	_, err := onnx.FromGraph(x, logits, nil)
	bad := (*onnx.UnsupportedError)(nil)
	const want = "this op cannot be written"
	if !errors.As(err, &bad) || bad.Node != "body" || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
	g = graph.New()
	texts := g.Texts("texts", 2, 6)
	logits = nn.Sequential{nn.Embedding{Words: 9, Positions: 6, Kinds: 2, Out: 32},
		nn.Attention{Heads: 2, Causal: true}, nn.FirstToken{}}.Apply("net", texts)
	_, err = onnx.FromGraph(texts, logits, nil)
	if !errors.As(err, &bad) || bad.Op != "causal-attention" {
		t.Errorf("got %v", err)
	}
}
