package graph_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/internal/alloctest"
	"lockstep/tensor"
)

// chain is a residual network: an op with two results, then blocks of convolution, batch norm and
// ReLU around shortcuts, with a reshaped map at the end.
func chain(n, blocks int) (g *graph.Graph, loss, logits *graph.Node) {
	g = graph.New()
	param := func(name string, axes ...int) *graph.Node {
		return g.Parameter(graph.Param{Name: name, Shape: axes, Init: graph.Uniform{Bound: 0.5}})
	}
	norm := func(name string, x *graph.Node) *graph.Node {
		c := tensor.Shape{channels}
		return graph.BatchNorm(x, param(name+".weight", channels), param(name+".bias", channels),
			g.State(graph.State{Name: name + ".mean", Shape: c, Momentum: 0.1}),
			g.State(graph.State{Name: name + ".var", Shape: c, Momentum: 0.1, Initial: 1}), eps)
	}
	x := g.Input("images", tensor.Shape{n, side, side, 3})
	x = graph.ReLU(norm("n", graph.Conv(x, param("c.weight", 3, 3, 3, channels), nil, 1, 1)))
	sum, same := graph.TwoResults(x)
	x = graph.Add(graph.Conv(sum, param("sum.weight", 1, 1, channels, channels), nil, 1, 0), same)
	for i := range blocks {
		name := fmt.Sprint("block", i)
		y := graph.Conv(x, param(name+".weight", 3, 3, channels, channels), nil, 1, 1)
		x = graph.ReLU(graph.Add(norm(name+".norm", y), x))
	}
	features := graph.Flatten(graph.MaxPool(x, 2, 2, 0))
	logits = graph.Linear(features, param("fc.weight", 9*channels, classes), nil)
	return g, graph.SoftmaxCrossEntropy(logits, g.Labels("labels", n)), logits
}

// within compiles with a limit of memory in bytes.
func within(limit int64, compile compiler) compiler {
	return func(g *graph.Graph, ex graph.Executor, o graph.Options) (*graph.Program, error) {
		o.MemoryLimit = limit
		return compile(g, ex, o)
	}
}

func chainOn(t *testing.T, h *graph.Host, n, blocks int, compile compiler) network {
	t.Helper()
	g, loss, logits := chain(n, blocks)
	p, err := compile(g, h, graph.Options{Loss: loss, Logits: logits, Train: true})
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
	return network{p, v}
}

// ops counts a program's ops by name.
func ops(p *graph.Program) map[string]int {
	count := map[string]int{}
	for _, c := range p.Cost() {
		count[c.Op]++
	}
	return count
}

// kinds adds up the ops that differ only in the statistics, which a repeated op leaves out.
func kinds(count map[string]int) map[string]int {
	sum := map[string]int{}
	for name, n := range count {
		sum[strings.TrimSuffix(name, "+statistics")] += n
	}
	return sum
}

// A program that recomputes values gives the bits of one that keeps them, in less memory, under any limit,
// and reads no memory that another value has taken since.
func TestRecomputeKeepsEveryBit(t *testing.T) {
	for _, isa := range compute.Supported() {
		for threads := 1; threads <= 2; threads++ {
			h := host(t, isa, threads)
			all := chainOn(t, h, 16, 5, graph.Compile)
			want, most := all.step(), all.p.ArenaBytes()
			for _, limit := range []int64{most, most - 1, most * 9 / 10, most * 8 / 10, 1} {
				n := chainOn(t, h, 16, 5, within(limit, graph.Compile))
				n.p.Poison(float32(math.NaN()))
				if got := n.step(); !slices.Equal(got, want) {
					t.Errorf("%v: a limit of %d bytes changes the result", isa, limit)
				}
				checkPlan(t, n.p.Blocks(), int(n.p.ArenaBytes()/4))
				if got := n.p.ArenaBytes(); limit > most*7/10 && got > limit {
					t.Errorf("%v: arena of %d bytes, limit %d", isa, got, limit)
				}
				if !slices.Equal(n.p.Order(), all.p.Order()) {
					t.Errorf("%v: a limit of %d bytes changes the order of gradients", isa, limit)
				}
			}
		}
	}
}

// A program that fits repeats nothing. Otherwise an op is repeated at most once, for its first result alone
// if it can, and an expensive op never.
func TestRecomputeRepeatsOnlyWhatHelps(t *testing.T) {
	h := host(t, compute.Best(), 1)
	all := chainOn(t, h, 16, 5, graph.Compile)
	if n := chainOn(t, h, 16, 5, within(all.p.ArenaBytes(), graph.Compile)); len(n.p.Cost()) !=
		len(all.p.Cost()) {
		t.Errorf("%d ops within a limit that fits, want %d", len(n.p.Cost()), len(all.p.Cost()))
	}
	least := chainOn(t, h, 16, 5, within(1, graph.Compile))
	before, after := ops(all.p), ops(least.p)
	if after["two-results, first alone"] != 1 ||
		after["normalize+relu"] != 2*before["normalize+relu"] {
		t.Errorf("ops %v, without a limit %v", after, before)
	}
	once := kinds(before)
	for kind, count := range kinds(after) {
		if count > 2*max(once[kind], 1) {
			t.Errorf("%d times %s, without a limit %d", count, kind, once[kind])
		}
	}
	if after["batch-statistics"] != before["batch-statistics"] {
		t.Error("statistics are computed again")
	}
}

func TestRecomputingStepDoesNotAllocate(t *testing.T) {
	n := chainOn(t, host(t, compute.Best(), 2), 16, 3, within(1, graph.Compile))
	n.p.SetGradients(n.v.NewGradient())
	if allocs := alloctest.Least(10, func() { n.p.Forward(); n.p.Backward(nil) }); allocs != 0 {
		t.Errorf("%v allocations per step, want 0", allocs)
	}
}

// The arena is hardly larger than the peak of live values, with and without recomputing.
func TestPlanIsTight(t *testing.T) {
	for _, limit := range []int64{0, 1} {
		n := chainOn(t, host(t, compute.Best(), 1), 16, 12, within(limit, graph.Compile))
		if size, least := int(n.p.ArenaBytes()/4), n.p.Peak(); size > least*21/20 {
			t.Errorf("limit %d: arena of %d floats for %d at once", limit, size, least)
		}
	}
}
