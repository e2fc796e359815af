package onnx_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/onnx"
	"lockstep/op"
	"lockstep/random"
	"lockstep/tensor"
)

// drawn are starting values of either sign.
type drawn struct{}

func (drawn) Draw(s random.Stream, i uint64) float32 { return s.Symmetric(i, 0.5) }

// gated is a network that somebody has written with the ops there are: a convolution, a gate for each
// channel, a residual sum, and a head.
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
	return graph.Linear(graph.Flatten(x), weights("head", 4*4*8, 5), nil)
}

// What FromGraph writes has the logits of the graph, in any batch.
func TestAGraphIsWritten(t *testing.T) {
	build := func(n int, of func(x *graph.Node) *graph.Node) (p *graph.Program, v *graph.Variables, x,
		logits *graph.Node) {
		g := graph.New()
		x = g.Input("x", tensor.Shape{n, 8, 8, 2})
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
		images := make([]float32, n*8*8*2)
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
	p, v, x, logits := build(3, gated)
	m, err := onnx.FromGraph(x, logits, v)
	if err != nil {
		t.Fatal(err)
	}
	back, err := onnx.Decode(m.Encode())
	if err != nil {
		t.Fatal(err)
	}
	q, _, _, _ := build(3, func(x *graph.Node) *graph.Node {
		y, err := back.Build(x, onnx.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return y
	})
	if d := distance(q.Logits(), p.Logits()); !(d <= 1e-6) {
		t.Errorf("got %v, want %v", q.Logits(), p.Logits())
	}
	for _, name := range []string{"stem", "stem.bias", "down", "up", "up.bias", "wide", "depth", "head"} {
		if back.Tensor(name) == nil {
			t.Errorf("no tensor is called %s", name)
		}
	}
	if in := back.Inputs[0]; in.Name != "images" || !slices.Equal(in.Axes, []int{0, 2, 8, 8}) {
		t.Errorf("input %+v", in)
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
}
