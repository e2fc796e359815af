package graph

import (
	"fmt"

	"lockstep/tensor"
)

// Reshape returns x's elements, in stored order, under another shape of the same size. It costs
// nothing: the result is x's memory.
func Reshape(x *Node, shape tensor.Shape) *Node {
	return x.graph.emit(ReshapeOp{to: shape.Clone()}, x)
}

// Flatten returns x as [N, the product of its other axes], in stored order.
func Flatten(x *Node) *Node {
	if len(x.typ.Shape) == 0 {
		return x.graph.emit(ReshapeOp{}, x)
	}
	return Reshape(x, tensor.Shape{x.typ.Shape[0], x.typ.Shape[1:].Elems()})
}

// ReshapeOp is Reshape of x, or Flatten.
type ReshapeOp struct{ to tensor.Shape }

func (ReshapeOp) name() string { return "reshape" }

func (ReshapeOp) isView() {}

func (o ReshapeOp) infer(in []Type) ([]Type, error) {
	if in[0].Shape.Elems() != o.to.Elems() {
		return nil, fmt.Errorf("cannot become %v", o.to)
	}
	return []Type{{Shape: o.to, DType: in[0].DType}}, nil
}

func (ReshapeOp) cost(_, _ []Type) Cost { return Cost{} }

func (ReshapeOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(ReshapeOp{to: c.in[0].typ.Shape}, dy[0])}
}
