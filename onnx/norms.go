package onnx

import (
	"math"
	"slices"

	"lockstep/graph"
	"lockstep/op"
	"lockstep/tensor"
)

// norms adds normalisations and softmax.
func (b *builder) norms() bool {
	switch b.node.Op {
	case "BatchNormalization":
		b.batchNorm()
	case "LayerNormalization":
		b.layerNorm()
	case "InstanceNormalization", "GroupNormalization":
		b.groupNorm()
	case "Softmax", "LogSoftmax":
		b.softmax()
	default:
		return false
	}
	return true
}

func (b *builder) batchNorm() {
	n, v := b.node, b.must(0)
	x := v.node
	if len(v.axes) == 4 {
		x = b.image(v)
	} else if v.isFlat || len(v.axes) != 2 || x == nil {
		x = b.rows(v)
	}
	var in [4]*value
	for i := range in {
		in[i] = b.must(i + 1)
		if in[i].constant == nil || len(in[i].axes) != 1 || !in[i].constant.isFloat() {
			b.fail("input %d is no constant of one number for each channel", i+1)
			return
		}
	}
	if b.err != nil || len(v.axes) != 4 && len(v.axes) != 2 {
		b.fail("normalises a value of shape %v; want [N, C] or [N, C, H, W]", v.axes)
		return
	}
	momentum := math.Round((1-float64(n.float("momentum", 0.9)))*1e6) / 1e6 // 0.1, not 0.10000002
	if momentum <= 0 || momentum > 1 {
		momentum = 0.1 // as exported for evaluation
	}
	state := func(v *value) *graph.Node {
		t := v.constant
		name := b.free(t.Name)
		b.rename(t.Name, name)
		return b.g.State(graph.State{Name: name, Shape: t.Shape, Momentum: momentum,
			Values: t.Floats})
	}
	gamma, beta := b.must1(in[0]), b.must1(in[1])
	y := graph.BatchNorm(x, gamma, beta, state(in[2]), state(in[3]), n.float("epsilon", 1e-5))
	if len(v.axes) == 4 {
		b.mapped(y)
	} else {
		b.plain(y)
	}
}

// free returns a name that no parameter has: a tensor may be both.
func (b *builder) free(name string) string {
	for b.params[name] != nil {
		name += ".running"
	}
	return name
}

// must1 returns a constant of one axis as a parameter, even if it has one element.
func (b *builder) must1(v *value) *graph.Node {
	trained := *v
	trained.trained = true
	return b.stored(&trained, tensor.Layout{})
}

func (b *builder) layerNorm() {
	n, v := b.node, b.must(0)
	if axis := n.integer("axis", -1); axis != -1 && axis != len(v.axes)-1 {
		b.fail("normalises from axis %d of %v; only the last is supported", axis, v.axes)
		return
	}
	x, gamma := b.rows(v), b.rows(b.must(1))
	beta := op.Constant(b.g, gamma.Shape(), 0)
	if c := b.in(2); c != nil {
		beta = b.rows(c)
	}
	b.plain(graph.LayerNorm(x, gamma, beta, n.float("epsilon", 1e-5)))
}

func (b *builder) groupNorm() {
	v := b.must(0)
	if b.node.Op == "InstanceNormalization" && len(v.axes) == 3 {
		b.instanceNorm(v)
		return
	}
	x := b.image(v)
	if b.err != nil {
		return
	}
	groups := b.node.integer("num_groups", x.Shape()[3])
	b.mapped(op.GroupNorm(x, b.rows(b.must(1)), b.rows(b.must(2)), groups, b.node.float("epsilon", 1e-5)))
}

// instanceNorm normalises the last axis of [N, C, L], as which PyTorch writes group norm, with gains of 1 and
// biases of 0 that nothing trains.
func (b *builder) instanceNorm(v *value) {
	s := v.axes
	var in [2]*graph.Node
	for i := range in {
		given := *b.must(i + 1)
		isThere := func(f float32) bool { return f != float32(1-i) }
		given.trained = given.trained && given.constant != nil && slices.ContainsFunc(given.constant.Floats,
			isThere)
		in[i] = b.rows(&given)
	}
	x := graph.Reshape(b.rows(v), tensor.Shape{s[0], s[1], s[2], 1})
	x = op.Transpose(x, 0, 2, 3, 1)
	y := op.GroupNorm(x, in[0], in[1], s[1], b.node.float("epsilon", 1e-5))
	b.plain(graph.Reshape(op.Transpose(y, 0, 3, 1, 2), s))
}

// softmax adds Softmax along one axis. Before version 13 it is one over all axes from one on.
func (b *builder) softmax() {
	v, of, usual := b.must(0), op.Softmax, -1
	if b.node.Op == "LogSoftmax" {
		of = op.LogSoftmax
	}
	if b.model.Opset < 13 {
		usual = 1
	}
	axis := b.node.integer("axis", usual)
	if axis < 0 {
		axis += len(v.axes)
	}
	if b.model.Opset < 13 && axis >= 0 && axis < len(v.axes) && v.axes[axis+1:].Elems() != 1 {
		b.fail("over all axes from %d of %v, as before version 13; only one axis is supported", axis, v.axes)
		return
	}
	switch {
	case axis == 1 && v.isMap && !v.isFlat:
		b.mapped(of(v.node))
	case axis == len(v.axes)-1:
		b.plain(of(b.rows(v)))
	default:
		b.fail("axis %d of %v; only the last is supported", axis, v.axes)
	}
}
