package graph

import (
	"fmt"

	"lockstep/compute"
)

// Custom is an op of another package: its shape rule, its kernel on the host and its gradient. It is a
// value that holds the op's settings. docs/howto/own-op.md builds one.
//
// It keeps the promises of this package if its kernel writes every element of every result, allocates
// nothing when it runs, and adds up in an order that the shapes decide, whatever the number of threads.
type Custom interface {
	// Name is what errors, costs and traces call the op.
	Name() string
	// Infer is the shape rule: the types of the results for given inputs, or why they do not fit.
	Infer(in []Type) ([]Type, error)
	// FLOPs counts the additions and multiplications of one application.
	FLOPs(in, out []Type) int64
	// Kernel plans an application on the threads of cpu. In and out are as Infer has them.
	Kernel(cpu *compute.CPU, in, out []Type) Kernel
	// Gradient adds ops that compute the gradients of the inputs from those of the results, dy, and
	// returns one for each input; nil stands for no gradient, in dy and in what is returned.
	Gradient(in, out, dy []*Node) []*Node
}

// Apply adds one application of an op of another package and returns its results. The ones of an op that
// does not fit are one broken node, which other ops pass on; Compile returns the error.
func (g *Graph) Apply(op Custom, in ...*Node) []*Node { return g.apply(CustomOp{op}, in...) }

// Type returns what is known about the node's value; of the result of an op that could not be built,
// nothing.
func (n *Node) Type() Type { return n.typ }

// CustomOp is an op of another package, which executors of other devices do not know.
type CustomOp struct{ Of Custom }

func (o CustomOp) name() string { return o.Of.Name() }

func (o CustomOp) infer(in []Type) ([]Type, error) { return o.Of.Infer(in) }

func (o CustomOp) cost(in, out []Type) Cost { return cost(o.Of.FLOPs(in, out), in, out) }

func (o CustomOp) host(h *Host, in, out []Type) Kernel { return o.Of.Kernel(h.cpu, in, out) }

func (o CustomOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	d := o.Of.Gradient(c.in, c.out, dy)
	if len(d) != len(c.in) {
		b.fail(fmt.Errorf("graph: differentiate: %s has %d inputs and gradients for %d", o.name(), len(c.in),
			len(d)))
		return nil
	}
	for i, n := range d {
		if n != nil && n.origin != broken && !n.typ.Shape.Equal(c.in[i].typ.Shape) {
			b.fail(fmt.Errorf("graph: differentiate: %s: input %d is %v, its gradient %v", o.name(), i,
				c.in[i].typ, n.typ))
		}
	}
	return d
}
