package graph_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/tensor"
)

// residual is a network of the forms that passes look for: a normalised map that is pooled in pairs,
// one pooled by overlapping windows, a rectified map that is pooled, residual blocks whose shortcut
// is the identity, is normalised, or is not needed afterwards, and a sum that is not rectified.
func residual(n int) (g *graph.Graph, loss, logits *graph.Node) {
	g = graph.New()
	param := func(name string, bound float64, axes ...int) *graph.Node {
		return g.Parameter(graph.Param{Name: name, Shape: axes, Init: graph.Uniform{Bound: bound}})
	}
	conv := func(name string, x *graph.Node, size int) *graph.Node {
		return graph.Conv(x, param(name+".weight", 0.5, size, size, channels, channels), nil, 1, size/2)
	}
	norm := func(name string, x *graph.Node) *graph.Node {
		s := graph.State{Name: name + ".mean", Shape: tensor.Shape{channels}, Momentum: 0.1}
		mean := g.State(s)
		s.Name, s.Initial = name+".var", 1
		return graph.BatchNorm(x, param(name+".weight", 1, channels), param(name+".bias", 1, channels),
			mean, g.State(s), eps)
	}
	x := g.Input("images", tensor.Shape{n, 13, 14, 3})
	x = graph.Conv(x, param("stem.weight", 0.5, 3, 3, 3, channels), nil, 1, 1)
	x = graph.MaxPool(graph.ReLU(norm("pooled", x)), 2, 2, 0)
	y := norm("inner", conv("first", x, 3))
	x = graph.ReLU(graph.Add(y, x))
	y = norm("main", conv("second", x, 3))
	x = graph.ReLU(graph.Add(y, norm("shortcut", conv("project", x, 1))))
	x = graph.Add(conv("third", x, 1), norm("last", conv("fourth", x, 3)))
	x = graph.MaxPool(graph.ReLU(norm("overlap", x)), 3, 2, 1)
	w := param("rect.weight", 0.5, 1, 1, channels, 9)
	x = graph.ReLU(graph.Conv(x, w, param("rect.bias", 1, 9), 1, 0))
	x = graph.GlobalAvgPool(graph.MaxPool(x, 2, 1, 1))
	logits = graph.Linear(x, param("fc.weight", 1, 9, classes), param("fc.bias", 1, classes))
	return g, graph.SoftmaxCrossEntropy(logits, g.Labels("labels", n)), logits
}

// foldStep compiles g and runs one step. The gradients come in the order of the parameters, which
// lie in memory in the order in which the code finishes them.
func foldStep(t *testing.T, h *graph.Host, train bool, compile compiler, g *graph.Graph,
	loss, logits *graph.Node) (p *graph.Program, values []float32) {
	t.Helper()
	p, err := compile(g, h, graph.Options{Loss: loss, Logits: logits, Train: train})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v := graph.NewVariables(p)
	v.Initialize(1)
	if err := p.Attach(v); err != nil {
		t.Fatal(err)
	}
	fillInput(p)
	p.Poison(float32(math.NaN()))
	values = network{p, v}.step()
	if train {
		stored := slices.Clone(values[:len(v.Weights)])
		values = values[len(v.Weights):]
		for _, s := range v.Segments {
			values = append(values, stored[s.Offset:s.Offset+s.Len]...)
		}
	}
	return p, values
}

// residualStep is foldStep of residual.
func residualStep(t *testing.T, h *graph.Host, train bool, compile compiler) (*graph.Program, []float32) {
	t.Helper()
	g, loss, logits := residual(5)
	return foldStep(t, h, train, compile, g, loss, logits)
}

func TestFoldsKeepEveryBit(t *testing.T) {
	for _, isa := range compute.Supported() {
		for _, train := range []bool{true, false} {
			for threads := 1; threads <= 3; threads++ {
				h := host(t, isa, threads)
				_, want := residualStep(t, h, train, graph.CompileUnfused)
				for name, compile := range map[string]compiler{
					"fused": graph.CompileApart, "fused, planned": graph.Compile,
				} {
					if _, got := residualStep(t, h, train, compile); !slices.Equal(got, want) {
						t.Errorf("%v, training %v, %d threads: %s code differs from unfused code",
							isa, train, threads, name)
					}
				}
			}
		}
	}
}

// Every fold happens where it should, and only there.
func TestFolds(t *testing.T) {
	p, _ := residualStep(t, host(t, compute.Plain, 1), true, graph.Compile)
	var got []string
	for _, c := range p.Cost() {
		op := strings.TrimSpace(c.Op + " " + c.Layer)
		if !strings.HasPrefix(op, "conv") && !strings.Contains(op, "linear") {
			got = append(got, op)
		}
	}
	want := []string{
		"normalize+relu+max-pool pooled",
		"normalize+add+relu inner",
		"normalize shortcut",
		"normalize+add+relu main",
		"normalize+add last",
		"batch-statistics",
		"normalize+relu overlap",
		"max-pool",
		"max-pool",
		"global-avg-pool",
		"softmax-cross-entropy",
		"column-sums fc",
		"global-avg-pool-backward",
		"max-pool+relu-backward",
		"column-sums rect",
		"max-pool-backward",
		"batch-norm+relu-backward overlap",
		"batch-norm-backward last",
		"batch-norm-backward-summed main",
		"batch-norm-backward shortcut",
		"batch-norm-backward-summed inner",
		"batch-norm+relu+max-pool-backward pooled",
	}
	if !slices.Equal(got, want) {
		t.Errorf("compiled to\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// gated has two linear layers with a GELU, whose rows make several blocks of the matrix that is multiplied.
func gated(n int) (g *graph.Graph, loss, logits *graph.Node) {
	g = graph.New()
	linear := func(name string, x *graph.Node, in, out int) *graph.Node {
		w := g.Parameter(graph.Param{Name: name + ".weight", Shape: tensor.Shape{in, out},
			Init: graph.Uniform{Bound: 0.5}})
		b := g.Parameter(graph.Param{Name: name + ".bias", Shape: tensor.Shape{out},
			Init: graph.Uniform{Bound: 0.5}})
		return graph.Linear(x, w, b)
	}
	x := graph.GELU(linear("up", g.Input("images", tensor.Shape{n, 20}), 20, 300))
	x = graph.GELU(linear("down", x, 300, 40))
	logits = linear("head", x, 40, classes)
	return g, graph.SoftmaxCrossEntropy(logits, g.Labels("labels", n)), logits
}

// A product multiplies by the derivative of GELU that the layer before left, to the bits of an op of its own.
func TestFoldsOfGELU(t *testing.T) {
	for _, isa := range compute.Supported() {
		for threads := 1; threads <= 3; threads++ {
			for _, train := range []bool{true, false} {
				h := host(t, isa, threads)
				step := func(compile compiler) (*graph.Program, []float32) {
					g, loss, logits := gated(700)
					return foldStep(t, h, train, compile, g, loss, logits)
				}
				_, want := step(graph.CompileUnfused)
				p, got := step(graph.Compile)
				if !slices.Equal(got, want) {
					t.Errorf("%v, training %v, %d threads: fused code differs from unfused code", isa,
						train, threads)
				}
				num := map[string]int{}
				for _, c := range p.Cost() {
					num[c.Op]++
				}
				muls := 0
				if train {
					muls = 2
				}
				if num["linear+gelu"] != 2 || num["linear-backward-data+mul"] != muls ||
					num["gelu-backward"] != 0 {
					t.Errorf("%v, training %v: compiled to %v", isa, train, num)
				}
			}
		}
	}
}
