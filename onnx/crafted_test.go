package onnx_test

import (
	"errors"
	"strings"
	"testing"

	"lockstep/graph"
	"lockstep/onnx"
	"lockstep/tensor"
)

// node is a node of an operator, whose results stand before a colon.
func node(kind, values string, attributes ...onnx.Attribute) onnx.Node {
	list := func(text string) (names []string) {
		for _, name := range strings.Fields(text) {
			names = append(names, strings.Trim(name, `"`))
		}
		return names
	}
	out, in, _ := strings.Cut(values, ":")
	return onnx.Node{Op: kind, In: list(in), Out: list(out), Attributes: attributes}
}

// floats is a tensor of so many elements, 1, 2, ....
func floats(name string, shape ...int) onnx.Tensor {
	t := onnx.Tensor{Name: name, Shape: shape, Floats: make([]float32, tensor.Shape(shape).Elems())}
	for i := range t.Floats {
		t.Floats[i] = float32(i + 1)
	}
	return t
}

func whole(name string, values ...int64) onnx.Tensor {
	return onnx.Tensor{Name: name, Shape: tensor.Shape{len(values)}, Ints: values}
}

func intsOf(name string, values ...int64) onnx.Attribute {
	return onnx.Attribute{Name: name, Kind: onnx.KindInts, Ints: values}
}

// modelOf is a file of nodes from x, [batch, 2, 4, 4], to y, with some constants.
func modelOf(nodes ...onnx.Node) *onnx.Model {
	return &onnx.Model{Opset: 18, Nodes: nodes,
		Inputs:  []onnx.Value{{Name: "x", IsFloat: true, Axes: []int{0, 2, 4, 4}}},
		Outputs: []onnx.Value{{Name: "y", IsFloat: true, Axes: []int{0, 0}}},
		Tensors: []onnx.Tensor{floats("w", 32, 2), floats("bias", 1, 2), floats("gain", 2),
			floats("spread", 2), whole("none"), whole("zero", 0), whole("one", 1),
			whole("two", 2, 3), whole("batch", 2), whole("wide", 1<<40, 1<<40),
			{Name: "grid", Shape: tensor.Shape{2, 2}, Ints: []int64{1, 2, 3, 4}}}}
}

// No graph that somebody makes up ends the program, or takes it for ever.
func TestMadeUpGraphsAreRefused(t *testing.T) {
	isZero := onnx.Attribute{Name: "axis", Kind: onnx.KindInt}
	sum := node("ReduceMean", "s: x", intsOf("axes", 0, 1, 2, 3),
		onnx.Attribute{Name: "keepdims", Kind: onnx.KindInt})
	for _, c := range []struct {
		want  string
		nodes []onnx.Node
	}{
		{"input 0 is missing", []onnx.Node{node("Softmax", "y:")}},
		{"input 0 is missing", []onnx.Node{node("Identity", `"" y: ""`)}},
		{"does not depend on the samples", []onnx.Node{node("Relu", "a: x"), node("Add", "b y: a a")}},
		{"input 1 is missing", []onnx.Node{node("Gather", "y: zero")}},
		{"has shape [32, 2]", []onnx.Node{node("BatchNormalization", "y: w gain gain gain spread")}},
		{"whole numbers", []onnx.Node{node("Add", "a: x x"), node("Cast", "y: a",
			onnx.Attribute{Name: "to", Kind: onnx.KindInt, Int: 7})}},
		{"bound 1 is no", []onnx.Node{node("Clip", "y: x two")}},
		{"not supported", []onnx.Node{node("Range", "y: none one one")}},
		{"not supported", []onnx.Node{node("Range", "y: one none one")}},
		{"axis 0 of 0", []onnx.Node{sum, node("Gather", "y: s zero", isZero)}},
		{"axis 0 of 0", []onnx.Node{sum, node("Pad", `y: s two "" zero`)}},
		{"shape [1099511627776", []onnx.Node{node("Reshape", "a: none wide"), node("Slice", "b: a zero one"),
			node("Add", "y: x b")}},
		{"perm [] of 4 axes", []onnx.Node{node("Transpose", "y: x", intsOf("perm"))}},
		{"along axes [0] of [2, 2]", []onnx.Node{node("ReduceProd", "p: grid zero"), node("Add", "y: x p")}},
	} {
		g := graph.New()
		_, err := modelOf(c.nodes...).Build(g.Input("x", tensor.Shape{2, 4, 4, 2}), onnx.Options{})
		if bad := (*onnx.UnsupportedError)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(),
			c.want) {
			t.Errorf("%+v: got %v, want %q in it", c.nodes, err, c.want)
		}
	}
}

// The truth of a number is that it is not 0; a whole number stays one in another type, and in what is
// computed of it and a Constant.
func TestCasts(t *testing.T) {
	to := func(kind int64) onnx.Attribute {
		return onnx.Attribute{Name: "to", Kind: onnx.KindInt, Int: kind}
	}
	unit := node("Constant", "unit:", onnx.Attribute{Name: "value_int", Kind: onnx.KindInt, Int: 1})
	m := modelOf(node("Cast", "is: x", to(9)), node("Cast", "long: is", to(7)), unit,
		node("Sub", "other: unit long"), node("Cast", "same: other", to(7)),
		node("Sub", "back: unit same"),
		node("Unsqueeze", "u: back zero"), node("Squeeze", "s: u zero"), node("Cast", "int: s", to(6)),
		node("Cast", "f: int", to(1)), node("Flatten", "y: f"))
	m.Inputs[0].Axes = []int{0, 2, 1, 1}
	p := program(t, m, 1, false)
	start(t, p)
	p.Input("x").SetFloats([]float32{-0.5, 0})
	p.Forward()
	if got := p.Logits(); got[0] != 1 || got[1] != 0 {
		t.Errorf("-0.5 and 0 are %v", got)
	}
}

// Softmax was one over all axes from one on until version 13: it is refused where that is another thing.
func TestSoftmaxBeforeVersion13(t *testing.T) {
	axis := func(n int64) onnx.Attribute { return onnx.Attribute{Name: "axis", Kind: onnx.KindInt, Int: n} }
	for _, c := range []struct {
		opset  int
		of     onnx.Node
		isFine bool
	}{
		{11, node("Softmax", "s: x"), false}, {11, node("Softmax", "s: x", axis(2)), false},
		{11, node("Softmax", "s: x", axis(-1)), true}, {13, node("Softmax", "s: x"), true},
		{11, node("LogSoftmax", "s: x"), false},
	} {
		m := modelOf(c.of, node("Flatten", "f: s"), node("MatMul", "y: f w"))
		m.Opset = c.opset
		_, err := m.Build(graph.New().Input("x", tensor.Shape{2, 4, 4, 2}), onnx.Options{})
		if (err == nil) != c.isFine {
			t.Errorf("version %d, %+v: %v", c.opset, c.of, err)
		}
	}
}

// A product of all elements keeps its axes unless it is told otherwise.
func TestReduceProdKeepsItsAxes(t *testing.T) {
	no := onnx.Attribute{Name: "keepdims", Kind: onnx.KindInt}
	isZero := onnx.Attribute{Name: "axis", Kind: onnx.KindInt}
	for keeps, product := range map[bool]onnx.Node{true: node("ReduceProd", "p: two"),
		false: node("ReduceProd", "p: two", no)} {
		m := modelOf(product, node("Concat", "to: batch p", isZero), node("Reshape", "y: x to"))
		m.Inputs[0].Axes = []int{0, 6, 1, 1}
		y, err := m.Build(graph.New().Input("x", tensor.Shape{2, 1, 1, 6}), onnx.Options{})
		if (err == nil) != keeps || keeps && !y.Shape().Equal(tensor.Shape{2, 6}) {
			t.Errorf("keeps its axes %v: got %v, error %v", keeps, y.Shape(), err)
		}
	}
}

// A last layer that is drawn anew has other outputs and the same features, whatever their numbers are.
func TestAFreshHeadOfAsManyClassesAsChannels(t *testing.T) {
	m := modelOf(node("Flatten", "f: x"), node("MatMul", "p: f w"), node("Add", "y: p bias"))
	g := graph.New()
	y, err := m.Build(g.Input("x", tensor.Shape{2, 4, 4, 2}), onnx.Options{FreshClasses: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []tensor.Shape{{32, 3}, {1, 3}} {
		if p := g.Params()[i]; !p.Shape.Equal(want) || i == 1 && p.Init != nil {
			t.Errorf("%s is %v, drawn by %v; want %v", p.Name, p.Shape, p.Init, want)
		}
	}
	if stored := g.Params()[0].Stored(); !stored.Equal(tensor.Shape{4, 4, 2, 3}) || y.Shape()[1] != 3 {
		t.Errorf("stored as %v, output %v", stored, y.Shape())
	}
}

// The words of a network whose numbers of tokens are first given another type are those of its table.
func TestWordsBehindACast(t *testing.T) {
	m := writtenTexts(t)[0].model
	first := m.Inputs[0].Name
	for i := range m.Nodes {
		for k, in := range m.Nodes[i].In {
			if in == first {
				m.Nodes[i].In[k] = "ids"
			}
		}
	}
	m.Nodes = append([]onnx.Node{node("Identity", "same: "+first), node("Cast", "ids: same",
		onnx.Attribute{Name: "to", Kind: onnx.KindInt, Int: 6})}, m.Nodes...)
	if n := m.NumWords(); n != 21 {
		t.Errorf("%d words", n)
	}
	if _, err := m.Build(graph.New().Texts("texts", 2, longest), onnx.Options{}); err != nil {
		t.Error(err)
	}
}
