package graph

import (
	"slices"

	"lockstep/tensor"
)

// Note: bfloat16
//
// An executor with memory of its own may keep maps as bfloat16: values with four axes, and the rows of
// tokens, that are no weights. That halves what ops read and write. Everything else stays float32:
// parameters, their gradients, statistics, losses, values of samples such as logits. All maps that an op
// reads have the same type; where an operand has another, a ConvertOp stands in front of the op. The factors
// of matrix products are bfloat16 whatever their shape, except for weights, which their kernels convert.

// narrowing is an Executor that may keep maps as bfloat16.
type narrowing interface {
	Executor
	// KeepsBF16 reports whether it does.
	KeepsBF16() bool
}

// narrower rewrites code for an executor that keeps maps as bfloat16.
type narrower struct {
	*code
	calls     []*call
	weights   map[*Node]bool  // gradients of parameters, and what is computed from parameters alone
	converted map[*Node]*Node // values by what they were converted from
}

// narrow chooses the type of every value.
func narrow(c *code) {
	n := &narrower{code: c, weights: map[*Node]bool{}, converted: map[*Node]*Node{}}
	for _, x := range c.calls {
		for i, in := range x.in {
			if want := n.operand(x, i); want != in.typ.DType {
				x.in[i] = n.convert(in, want, x)
			}
		}
		_, isView := x.op.(view)
		isWeight := n.areWeights(x)
		for i, out := range x.out {
			switch {
			case isWeight:
				n.weights[out] = true
			case isView:
				out.typ.DType = x.in[0].typ.DType
			case isMap(out.typ) && !isStatistic(x, i) && !n.isRoot(out):
				out.typ.DType = tensor.BFloat16
			}
		}
		n.calls = append(n.calls, x)
	}
	for _, root := range c.roots() {
		if *root != nil && (*root).typ.DType == tensor.BFloat16 {
			*root = n.last(*root)
		}
	}
	c.calls = n.calls
}

// last converts a root that a view left narrow, behind the call that computes it.
func (n *narrower) last(root *Node) *Node {
	at := slices.Index(n.calls, root.call)
	tail := slices.Clone(n.calls[at+1:])
	n.calls = n.calls[:at+1]
	delete(n.converted, root)
	wide := n.convert(root, tensor.Float32, root.call)
	n.calls = append(n.calls, tail...)
	return wide
}

// convert returns v as another type, for reader, computed where it is first needed.
func (n *narrower) convert(v *Node, to tensor.DType, reader *call) *Node {
	if done := n.converted[v]; done != nil {
		return done
	}
	x := &call{op: ConvertOp{to}, in: []*Node{v}, label: reader.label, backward: reader.backward}
	t := v.typ
	t.DType = to
	x.out = []*Node{{graph: v.graph, typ: t, call: x}}
	n.calls = append(n.calls, x)
	n.converted[v] = x.out[0]
	return x.out[0]
}

// isRoot reports whether v is read from outside.
func (n *narrower) isRoot(v *Node) bool {
	return slices.ContainsFunc(n.roots(), func(root **Node) bool { return *root == v })
}

// areWeights reports whether the results of x are weights: of a parameter's gradient, or computed from
// weights alone.
func (n *narrower) areWeights(x *call) bool {
	if _, ok := x.op.(ConvBackwardWeightsOp); ok {
		return true
	}
	return n.readsWeights(x)
}

// readsWeights reports whether x reads weights alone.
func (n *narrower) readsWeights(x *call) bool {
	return len(x.in) > 0 && !slices.ContainsFunc(x.in, func(in *Node) bool { return !n.isWeight(in) })
}

func (n *narrower) isWeight(v *Node) bool {
	return v.origin == parameter || v.origin == state || n.weights[v]
}

// operand returns the type that operand i of x has to have. The second operand of a product by weights is
// those, whatever they were computed from.
func (n *narrower) operand(x *call, i int) tensor.DType {
	in := x.in[i]
	_, isView := x.op.(view)
	switch {
	case in.typ.DType == tensor.Int32 || isView:
		return in.typ.DType
	case factors(x.op) == 1 && i == 1 || n.readsWeights(x):
		return tensor.Float32
	case i < factors(x.op) || isMap(in.typ) && !n.isStatisticValue(in):
		return tensor.BFloat16
	}
	return tensor.Float32
}

// factors returns how many of the first operands of a matrix product are its factors.
func factors(o Op) int {
	switch o.(type) {
	case ConvOp, ConvStatisticsOp, LinearOp, ConvBackwardDataOp, ConvBackwardDataAddOp,
		ConvBackwardDataSumsOp, ConvBackwardDataAddSumsOp:
		return 1
	case ConvBackwardWeightsOp:
		return 2
	}
	return 0
}

// isMap reports whether a float value is a map or has rows of tokens.
func isMap(t Type) bool {
	return t.DType != tensor.Int32 && (len(t.Shape) == 4 || t.Ragged && len(t.Shape) == 2)
}

// isStatistic reports whether result i of x is a statistic of rows, which stays float32.
func isStatistic(x *call, i int) bool {
	switch x.op.(type) {
	case AttentionOp:
		return i == 1
	case LayerNormOp:
		return i == len(x.out)-1
	}
	return false
}

func (n *narrower) isStatisticValue(v *Node) bool {
	return v.call != nil && isStatistic(v.call, v.number)
}
