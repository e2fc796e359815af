package graph_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/tensor"
)

// projected returns two residual blocks of the given width on maps of side*side pixels, the first with a
// projection on its shortcut, each normalised.
func projected(n, side, width int) (g *graph.Graph, loss, logits *graph.Node) {
	g = graph.New()
	layer := func(x *graph.Node, name string, size, c, k int) *graph.Node {
		param := func(name string, axes ...int) *graph.Node {
			bound := 1 / math.Sqrt(float64(c*size*size))
			return g.Parameter(graph.Param{Name: name, Shape: axes, Init: graph.Uniform{Bound: bound}})
		}
		state := func(suffix string) *graph.Node {
			return g.State(graph.State{Name: name + suffix, Shape: tensor.Shape{k}, Momentum: 0.1})
		}
		x = graph.Conv(x, param(name+".conv.weight", size, size, c, k), nil, 1, size/2)
		one := graph.Param{Name: name + ".weight", Shape: tensor.Shape{k}, Init: graph.Constant{Value: 1}}
		return graph.BatchNorm(x, g.Parameter(one), param(name+".bias", k),
			state(".mean"), state(".variance"), eps)
	}
	x := graph.ReLU(layer(g.Input("images", tensor.Shape{n, side, side, 3}), "stem", 3, 3, 8))
	y := layer(graph.ReLU(layer(x, "a1", 1, 8, width)), "a2", 1, width, 16)
	x = graph.ReLU(graph.Add(y, layer(x, "a3", 1, 8, 16)))
	y = layer(graph.ReLU(layer(x, "b1", 1, 16, width)), "b2", 3, width, 16)
	x = graph.GlobalAvgPool(graph.ReLU(graph.Add(x, y)))
	w := g.Parameter(graph.Param{Name: "fc.weight", Shape: tensor.Shape{16, classes},
		Init: graph.Uniform{Bound: 0.3}})
	logits = graph.Linear(x, w, nil)
	return g, graph.SoftmaxCrossEntropy(logits, g.Labels("labels", n)), logits
}

// Convolutions compute the statistics of their results and add to the gradient of the shortcut. A sum of
// one chunk keeps every bit; with several, rounding may differ.
func TestFoldsOfAResidualNetwork(t *testing.T) {
	for _, isa := range compute.Supported() {
		for _, width := range []int{24, 600} {
			for threads := 1; threads <= 2; threads++ {
				h := host(t, isa, threads)
				step := func(compile compiler) (*graph.Program, []float32) {
					g, loss, logits := projected(6, 9, width)
					return foldStep(t, h, true, compile, g, loss, logits)
				}
				_, want := step(graph.CompileUnfused)
				p, got := step(graph.Compile)
				what := fmt.Sprintf("%v, width %d, %d threads", isa, width, threads)
				checkFolds(t, p)
				if width == 24 && !slices.Equal(got, want) {
					t.Errorf("%s: fused code differs from unfused code", what)
				}
				for i := range want {
					if d := math.Abs(float64(got[i] - want[i])); !(d <= 2e-5) {
						t.Errorf("%s: value %d is %v, unfused %v", what, i, got[i], want[i])
						break
					}
				}
			}
		}
	}
}

// Sums of batch norm taken by the op in front, block by block, have the bits of a pass over the whole map:
// with blocks of one size, of which the threads share some, and where blocks differ.
func TestSumsOfBatchNormInBlocks(t *testing.T) {
	for _, isa := range compute.Supported() {
		for _, n := range []int{16, 13} {
			for threads := 1; threads <= 3; threads++ {
				h := host(t, isa, threads)
				g, loss, logits := projected(n, 16, 64)
				_, want := foldStep(t, h, true, graph.CompileUnfused, g, loss, logits)
				g, loss, logits = projected(n, 16, 64)
				p, got := foldStep(t, h, true, graph.Compile, g, loss, logits)
				checkFolds(t, p)
				if !slices.Equal(got, want) {
					t.Errorf("%v, batch %d, %d threads: fused code differs from unfused code",
						isa, n, threads)
				}
			}
		}
	}
}

// checkFolds checks that a program has no op left that could be folded into a convolution.
func checkFolds(t *testing.T, p *graph.Program) {
	t.Helper()
	count := map[string]int{}
	for _, c := range p.Cost() {
		count[strings.TrimPrefix(c.Op, "linear")]++
	}
	want := map[string]int{"batch-statistics": 0, "conv+statistics": 6, "add": 0,
		"conv-backward-data+add": 0, "conv-backward-data+add+sums": 2, "conv-backward-data": 1,
		"conv-backward-data+sums": 2, "batch-norm+add+relu-backward": 1}
	for op, n := range want {
		if count[op] != n {
			t.Errorf("%d times %s, want %d", count[op], op, n)
		}
	}
}
