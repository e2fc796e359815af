package graph

import (
	"fmt"
	"slices"
)

// differentiate appends to c the ops that compute the gradient of the sum of the losses with
// respect to every parameter (reverse mode: calls are visited last to first, and the gradients a
// value receives from its readers are added in that order).
func differentiate(c *code) error {
	forward := c.calls
	gradient := map[*Node]*Node{}
	gradient[c.loss] = c.emit(FillOp{Value: 1, typ: c.loss.typ})
	for i := len(forward) - 1; i >= 0; i-- {
		f := forward[i]
		dy, flows := gradientsOf(gradient, f.out)
		if !flows {
			continue
		}
		rule, ok := f.op.(differentiable)
		if !ok {
			return fmt.Errorf("graph: differentiate: %s has no gradient rule", f.op.name())
		}
		from := len(c.calls)
		for j, d := range rule.gradient(c.Graph, f, dy) {
			if d == nil {
				continue
			}
			if sum := gradient[f.in[j]]; sum != nil {
				d = c.emit(AddOp{}, sum, d)
			}
			gradient[f.in[j]] = d
		}
		for _, b := range c.calls[from:] {
			b.label = f.label
		}
	}
	for _, b := range c.calls[len(forward):] {
		b.backward = true
	}
	c.gradients = make([]*Node, len(c.paramNodes))
	for p, n := range c.paramNodes {
		if gradient[n] == nil {
			return fmt.Errorf("graph: differentiate: the loss does not depend on %s", n.name)
		}
		c.gradients[p] = c.own(gradient[n])
	}
	return c.err
}

// gradientsOf looks nodes up and reports whether any has a gradient.
func gradientsOf(gradient map[*Node]*Node, nodes []*Node) (dy []*Node, flows bool) {
	for _, n := range nodes {
		dy = append(dy, gradient[n])
		flows = flows || gradient[n] != nil
	}
	return dy, flows
}

// own returns a value equal to d that can live in a parameter's part of the gradient vector: d
// itself, or a copy if d is a forward result, shares memory, or is a gradient already.
func (c *code) own(d *Node) *Node {
	_, isView := d.call.op.(view)
	if d.call.backward && !isView && !slices.Contains(c.gradients, d) {
		return d
	}
	d = c.emit(DuplicateOp{}, d)
	d.call.backward = true
	return d
}

// emit applies an op with a single result.
func (g *Graph) emit(op Op, in ...*Node) *Node { return g.apply(op, in...)[0] }
