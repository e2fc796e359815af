package op

import (
	"fmt"

	"lockstep/compute"
	"lockstep/graph"
)

// Greater returns 1 where a > b, else 0, with broadcasting. It has no gradient.
func Greater(a, b *graph.Node) *graph.Node { return one(comparison{"greater"}, a, b) }

// Less returns 1 where a < b, else 0; see Greater.
func Less(a, b *graph.Node) *graph.Node { return one(comparison{"less"}, a, b) }

// Equal returns 1 where a = b, else 0; see Greater.
func Equal(a, b *graph.Node) *graph.Node { return one(comparison{"equal"}, a, b) }

type comparison struct{ of string }

// Name implements graph.Custom.
func (o comparison) Name() string { return o.of }

// Infer implements graph.Custom.
func (o comparison) Infer(in []graph.Type) ([]graph.Type, error) { return binary{}.Infer(in) }

// FLOPs implements graph.Custom.
func (o comparison) FLOPs(_, out []graph.Type) int64 { return elems(out) }

// Kernel implements graph.Custom.
func (o comparison) Kernel(cpu *compute.CPU, in, out []graph.Type) graph.Kernel {
	return binary{arithmetic(o.of)}.Kernel(cpu, in, out)
}

// Gradient implements graph.Custom.
func (o comparison) Gradient(_, _, _ []*graph.Node) []*graph.Node { return make([]*graph.Node, 2) }

// Where returns a where condition is not 0, else b, with broadcasting. What is not taken has no gradient, not
// even if it is not finite.
func Where(condition, a, b *graph.Node) *graph.Node {
	to, err := broadcast(condition.Shape(), a.Shape())
	if err == nil {
		to, err = broadcast(to, b.Shape())
	}
	if err != nil {
		return one(misfit{"where", err.Error()}, condition, a, b)
	}
	return one(where{}, Expand(condition, to), Expand(a, to), Expand(b, to))
}

type where struct{}

// Name implements graph.Custom.
func (o where) Name() string { return "where" }

// Infer implements graph.Custom.
func (o where) Infer(in []graph.Type) ([]graph.Type, error) {
	if !in[1].Shape.Equal(in[0].Shape) || !in[2].Shape.Equal(in[0].Shape) {
		return nil, fmt.Errorf("the shapes differ")
	}
	return in[1:2], floats(in)
}

// FLOPs implements graph.Custom.
func (o where) FLOPs(_, _ []graph.Type) int64 { return 0 }

// Kernel implements graph.Custom.
func (o where) Kernel(cpu *compute.CPU, _, _ []graph.Type) graph.Kernel {
	t := &whereTask{}
	return graph.Kernel{Run: func(a *graph.Args) {
		t.condition, t.a, t.b, t.y = a.In[0].F, a.In[1].F, a.In[2].F, a.Out[0].F
		cpu.Share(t, len(t.y))
	}}
}

// Gradient implements graph.Custom.
func (o where) Gradient(in, _, dy []*graph.Node) []*graph.Node {
	zero := Constant(dy[0].Graph(), dy[0].Shape(), 0)
	return []*graph.Node{nil, one(o, in[0], dy[0], zero), one(o, in[0], zero, dy[0])}
}

type whereTask struct{ condition, a, b, y []float32 }

// Do implements compute.Task.
func (t *whereTask) Do(_, part, parts int) {
	lo, hi := compute.Span(len(t.y), part, parts)
	for i := lo; i < hi; i++ {
		if t.condition[i] != 0 {
			t.y[i] = t.a[i]
		} else {
			t.y[i] = t.b[i]
		}
	}
}
