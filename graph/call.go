package graph

import (
	"lockstep/random"
	"lockstep/tensor"
)

// Call is one use of an op in a graph, as it was built: what passes and lowering make of it comes
// later. Programs that write networks in another format read them.
type Call struct {
	Op      Op
	Name    string // of the op
	Layer   string // that it belongs to, as far as names of parameters tell; "" if they do not
	In, Out []*Node
}

// Calls returns the uses of ops that n depends on, each after those whose results it reads.
func (n *Node) Calls() []Call {
	var all []Call
	needed := reach(n)
	for _, c := range n.graph.calls {
		if needed[c] {
			all = append(all, Call{c.op, c.op.name(), c.label, c.in, c.out})
		}
	}
	return all
}

// Name returns the name of an input, a parameter or a state, "" of a result of an op.
func (n *Node) Name() string { return n.name }

// States returns the states that have been added, by number.
func (g *Graph) States() []State { return g.states }

// Begin lets the parameters and states that have been added start from given values, whatever the seed: from
// those that values returns, in canonical order, for a name and a shape. Where it returns nil, nothing
// changes. It panics if there are fewer or more values than elements.
func (g *Graph) Begin(values func(name string, shape tensor.Shape) []float32) {
	check := func(name string, got []float32, shape tensor.Shape) bool {
		if got != nil && len(got) != shape.Elems() {
			panic("graph: begin: " + name + " has another number of elements")
		}
		return got != nil
	}
	for i, p := range g.params {
		if v := values(p.Name, p.Shape); check(p.Name, v, p.Shape) {
			g.params[i].Init = Given(v)
		}
	}
	for i, s := range g.states {
		if v := values(s.Name, s.Shape); check(s.Name, v, s.Shape) {
			g.states[i].Values = v
		}
	}
}

// Given are starting values, in canonical order.
type Given []float32

// Draw implements Init.
func (d Given) Draw(_ random.Stream, i uint64) float32 { return d[i] }
