package graph_test

import (
	"strconv"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/tensor"
)

// shapes parses shapes like "2 5 5 3".
func shapes(texts ...string) []tensor.Shape {
	list := make([]tensor.Shape, len(texts))
	for i, text := range texts {
		for _, word := range strings.Fields(text) {
			n, err := strconv.Atoi(word)
			if err != nil {
				panic(err)
			}
			list[i] = append(list[i], n)
		}
	}
	return list
}

func dims(text string) dims4 {
	s := shapes(text)[0]
	return dims4{s[0], s[1], s[2], s[3]}
}

// third returns the third input, or nothing.
func third[T any](in []T) (none T) {
	if len(in) < 3 {
		return none
	}
	return in[2]
}

func host(t testing.TB, isa compute.ISA, threads int) *graph.Host {
	t.Helper()
	cpu, err := compute.Open(compute.Config{ISA: isa, Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	return graph.NewHost(cpu)
}

// start compiles g for one thread and attaches new variables.
func start(t testing.TB, g *graph.Graph, isa compute.ISA, o graph.Options) (*graph.Program,
	*graph.Variables) {
	t.Helper()
	p, err := graph.Compile(g, host(t, isa, 1), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v := graph.NewVariables(p)
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	return p, v
}

// The first error is kept, with the op's name and the shapes, and later ops add none.
func TestFirstErrorIsKept(t *testing.T) {
	image := func(g *graph.Graph) *graph.Node { return g.Input("images", tensor.Shape{2, 8, 8, 3}) }
	weight := func(g *graph.Graph, axes ...int) *graph.Node {
		return g.Parameter(graph.Param{Name: "w", Shape: axes})
	}
	for _, c := range []struct {
		build func(g *graph.Graph) *graph.Node
		want  string
	}{
		{func(g *graph.Graph) *graph.Node { return graph.Conv(image(g), weight(g, 3, 3, 4, 8), nil, 1, 1) },
			"graph: conv (images [2, 8, 8, 3], w [3, 3, 4, 8]): input has 3 channels, weights 4"},
		{func(g *graph.Graph) *graph.Node { return graph.Conv(image(g), weight(g, 9, 9, 3, 8), nil, 1, 0) },
			"filter 9x9 is larger"},
		{func(g *graph.Graph) *graph.Node { return graph.Conv(image(g), weight(g, 3, 3, 3, 8), nil, 0, 0) },
			"stride 0"},
		{func(g *graph.Graph) *graph.Node { return graph.Linear(image(g), weight(g, 7, 5), nil) },
			"linear (images [2, 8, 8, 3], w [7, 5]): the input does not end in the weights' [7]"},
		{func(g *graph.Graph) *graph.Node { return graph.MaxPool(image(g), 9, 1, 0) }, "window 9"},
		{func(g *graph.Graph) *graph.Node { return graph.MaxPool(image(g), 3, 2, 2) }, "padding 2"},
		{func(g *graph.Graph) *graph.Node { return graph.Add(image(g), weight(g, 3)) }, "shapes differ"},
		{func(g *graph.Graph) *graph.Node { return graph.Reshape(image(g), tensor.Shape{5}) },
			"cannot become [5]"},
		{func(g *graph.Graph) *graph.Node { return graph.ReLU(graph.Add(image(g), weight(g))) },
			"parameter w: shape [] needs at least one axis"},
		{func(g *graph.Graph) *graph.Node { weight(g, 2); return weight(g, 2) },
			"parameter w: the name is taken"},
		{func(g *graph.Graph) *graph.Node { return graph.SoftmaxCrossEntropy(image(g), g.Labels("y", 2)) },
			"softmax-cross-entropy (images [2, 8, 8, 3], y int32[2]): want logits"},
		{func(g *graph.Graph) *graph.Node {
			return graph.SmoothedCrossEntropy(graph.Flatten(image(g)), g.Labels("y", 2), 1.5)
		}, "label smoothing of 1.5, want 0 to 1"},
	} {
		g := graph.New()
		y := graph.Flatten(graph.ReLU(c.build(g)))
		_, err := graph.Compile(g, host(t, compute.Plain, 1), graph.Options{Logits: y})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q in it", err, c.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	g := graph.New()
	x := g.Input("x", tensor.Shape{2, 3})
	w := g.Parameter(graph.Param{Name: "w", Shape: tensor.Shape{3, 4}})
	g.State(graph.State{Name: "idle", Shape: tensor.Shape{1}})
	logits := graph.Linear(x, w, nil)
	loss := graph.SoftmaxCrossEntropy(logits, g.Labels("y", 2))
	for _, c := range []struct {
		o    graph.Options
		want string
	}{
		{graph.Options{}, "neither loss nor logits"},
		{graph.Options{Logits: logits, Train: true}, "training needs a loss"},
		{graph.Options{Loss: logits}, "loss has shape [2, 4]"},
		{graph.Options{Logits: loss}, "logits have shape [2]"},
		{graph.Options{Loss: graph.New().Input("x", tensor.Shape{2})}, "another graph"},
		{graph.Options{Loss: loss, Train: true}, "does not depend on state idle"},
	} {
		_, err := graph.Compile(g, host(t, compute.Plain, 1), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q in it", c.o, err, c.want)
		}
	}
}

func TestEveryParameterNeedsAGradient(t *testing.T) {
	g, loss, _ := build(2)
	g.Parameter(graph.Param{Name: "unused", Shape: tensor.Shape{1}})
	_, err := graph.Compile(g, host(t, compute.Plain, 1), graph.Options{Loss: loss, Train: true})
	if err == nil || !strings.Contains(err.Error(), "the loss does not depend on unused") {
		t.Errorf("got %v", err)
	}
}
