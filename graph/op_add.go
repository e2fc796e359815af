package graph

import "fmt"

// Add returns a + b, elementwise; both have the same shape.
func Add(a, b *Node) *Node { return a.graph.emit(AddOp{}, a, b) }

// AddOp computes a + b from a and b.
type AddOp struct{}

func (AddOp) name() string { return "add" }

func (AddOp) isRowwise() {}

func (AddOp) overwrites() int { return 0 }

func (AddOp) infer(in []Type) ([]Type, error) {
	if !in[0].Shape.Equal(in[1].Shape) {
		return nil, fmt.Errorf("the shapes differ")
	}
	return in[:1], nil
}

func (AddOp) cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (AddOp) host(h *Host, _, _ []Type) Kernel {
	return Kernel{Run: func(a *Args) { h.rows.Add(a.Out[0].F, a.In[0].F, a.In[1].F) }}
}

func (AddOp) gradient(_ *Graph, _ *call, dy []*Node) []*Node { return []*Node{dy[0], dy[0]} }
