package onnx

import (
	"math"
	"slices"

	"lockstep/internal/elementary"
	"lockstep/tensor"
)

// mostFolded bounds what is computed while a graph is built: shapes, places, masks.
const mostFolded = 1 << 20

// fold computes the present node, all of whose inputs are constants that nothing trains, and reports whether
// it could.
func (b *builder) fold() bool {
	n, in := b.node, []*Tensor{}
	for i := range n.In {
		v := b.in(i)
		if v == nil {
			in = append(in, nil)
			continue
		}
		if v.constant == nil || v.trained {
			return false
		}
		in = append(in, v.constant)
	}
	if n.Op == "Constant" {
		b.set(0, &value{constant: n.constant()})
	} else if len(in) == 0 || in[0] == nil {
		return false
	} else {
		t := b.folded(in)
		if t == nil {
			return false
		}
		b.set(0, &value{constant: t})
	}
	v := b.values[n.Out[0]]
	if v.constant == nil {
		b.fail("a constant of another kind than a tensor or numbers")
		return true
	}
	v.axes = v.constant.Shape
	return true
}

// constant returns the value of a Constant node, nil if it is of a kind that is not known.
func (n *Node) constant() *Tensor {
	for _, a := range n.Attributes {
		switch a.Name {
		case "value":
			return a.Tensor
		case "value_float":
			return &Tensor{Shape: tensor.Shape{}, Floats: []float32{a.Float}}
		case "value_int":
			return &Tensor{Shape: tensor.Shape{}, Ints: []int64{a.Int}}
		case "value_floats":
			return &Tensor{Shape: tensor.Shape{len(a.Floats)}, Floats: append([]float32{}, a.Floats...)}
		case "value_ints":
			return &Tensor{Shape: tensor.Shape{len(a.Ints)}, Ints: a.Ints}
		}
	}
	return nil
}

// folded returns the result of the present node, nil if it is not known how.
func (b *builder) folded(in []*Tensor) *Tensor {
	switch b.node.Op {
	case "Cast":
		return cast(in[0], b.node.integer("to", typeFloat))
	case "Shape":
		return b.shapeOf(in[0].Shape)
	case "Unsqueeze", "Squeeze", "Reshape", "Flatten":
		return b.reshaped(in[0])
	case "Concat":
		return b.joined(in)
	case "Gather":
		return b.taken(in)
	case "Slice":
		return b.cut(in[0])
	case "Transpose":
		return b.transposed(in[0])
	case "ConstantOfShape", "Expand", "Range":
		return b.filled(in)
	case "Where":
		return b.chosen(in)
	case "ReduceProd":
		return b.product(in[0])
	case "Sqrt", "Neg", "Not", "Exp", "Abs", "Floor", "Ceil":
		return b.function(in[0])
	}
	if len(in) == 2 && in[1] != nil {
		return b.arithmetic(in[0], in[1])
	}
	return nil
}

// numbersOf returns a tensor of values.
func numbersOf(isFloat bool, shape tensor.Shape, values []float64) *Tensor {
	t := &Tensor{Shape: shape}
	if isFloat {
		t.Floats = make([]float32, len(values))
		for i, v := range values {
			t.Floats[i] = float32(v)
		}
		return t
	}
	t.Ints = make([]int64, len(values))
	for i, v := range values {
		t.Ints[i] = integer(v)
	}
	return t
}

// integer converts what fits.
func integer(v float64) int64 {
	switch {
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	case v != v:
		return 0
	}
	return int64(v)
}

func (t *Tensor) values() []float64 {
	values := make([]float64, t.Shape.Elems())
	for i := range values {
		values[i] = t.at(i)
	}
	return values
}

func cast(t *Tensor, to int) *Tensor {
	values := t.values()
	for i, v := range values {
		if to == typeBool {
			values[i] = truth(v != 0)
		}
	}
	return numbersOf(isFloat(to), t.Shape, values)
}

// shapeOf returns a shape as a tensor, from start to end.
func (b *builder) shapeOf(s tensor.Shape) *Tensor {
	lo, hi := bound(b.node.integer("start", 0), len(s)), bound(b.node.integer("end", len(s)), len(s))
	t := &Tensor{Shape: tensor.Shape{max(hi-lo, 0)}, Ints: []int64{}}
	for i := lo; i < hi; i++ {
		t.Ints = append(t.Ints, int64(s[i]))
	}
	return t
}

// bound returns a place within n, negative ones being counted from the end.
func bound(at, n int) int {
	if at < 0 {
		at += n
	}
	return min(max(at, 0), n)
}

func (b *builder) reshaped(t *Tensor) *Tensor {
	s, ok := b.newShape(t.Shape)
	if !ok {
		return nil
	}
	c := *t
	c.Shape = s
	return &c
}

// joined is Concat.
func (b *builder) joined(in []*Tensor) *Tensor {
	to := in[0].Shape.Clone()
	axis := b.node.integer("axis", 0)
	if axis < 0 {
		axis += len(to)
	}
	if axis < 0 || axis >= len(to) {
		return nil
	}
	to[axis] = 0
	for _, t := range in {
		if t == nil || len(t.Shape) != len(to) {
			return nil
		}
		for i, n := range t.Shape {
			if i != axis && n != to[i] {
				return nil
			}
		}
		to[axis] += t.Shape[axis]
	}
	if !isBounded(to) {
		return nil
	}
	values := make([]float64, 0, to.Elems())
	for outer := range to[:axis].Elems() {
		for _, t := range in {
			n := t.Shape[axis:].Elems()
			for i := range n {
				values = append(values, t.at(outer*n+i))
			}
		}
	}
	return numbersOf(in[0].isFloat(), to, values)
}

// taken is Gather along the first axis.
func (b *builder) taken(in []*Tensor) *Tensor {
	if len(in) != 2 || in[1] == nil {
		return nil
	}
	t, at := in[0], in[1]
	if len(t.Shape) == 0 || b.node.integer("axis", 0) != 0 && b.node.integer("axis",
		0) != -len(t.Shape) {
		return nil
	}
	inner := t.Shape[1:].Elems()
	if at.Shape.Elems()*inner > mostFolded {
		return nil
	}
	var values []float64
	for i := range at.Shape.Elems() {
		k := int(at.at(i))
		if k < 0 {
			k += t.Shape[0]
		}
		if k < 0 || k >= t.Shape[0] {
			b.fail("takes element %d of %v", k, t.Shape)
			return nil
		}
		for j := range inner {
			values = append(values, t.at(k*inner+j))
		}
	}
	return numbersOf(t.isFloat(), slices.Concat(at.Shape, t.Shape[1:]), values)
}

// cut is Slice.
func (b *builder) cut(t *Tensor) *Tensor {
	ranges, ok := b.ranges(t.Shape)
	if !ok {
		return nil
	}
	to := t.Shape.Clone()
	for i, r := range ranges {
		if r.Step != 0 {
			to[i] = r.Len
		}
	}
	values := make([]float64, to.Elems())
	for i := range values {
		at, stride, rest := 0, 1, i
		for a := len(to) - 1; a >= 0; a-- {
			k := rest % to[a]
			rest /= to[a]
			if r := ranges[a]; r.Step != 0 {
				k = r.Start + k*r.Step
			}
			at += k * stride
			stride *= t.Shape[a]
		}
		values[i] = t.at(at)
	}
	return numbersOf(t.isFloat(), to, values)
}

func (b *builder) transposed(t *Tensor) *Tensor {
	perm := b.permutation(len(t.Shape))
	if perm == nil {
		return nil
	}
	s := make(tensor.Shape, len(perm))
	for i, a := range perm {
		s[i] = t.Shape[a]
	}
	values := make([]float64, t.Shape.Elems())
	layout := tensor.Layout{View: t.Shape, Perm: perm}
	for i := range values {
		values[layout.Index(i)] = t.at(i)
	}
	return numbersOf(t.isFloat(), s, values)
}

// filled is ConstantOfShape, Expand or Range.
func (b *builder) filled(in []*Tensor) *Tensor {
	if b.node.Op == "Range" {
		isScalar := func(t *Tensor) bool { return t != nil && t.Shape.Elems() == 1 }
		if len(in) != 3 || !isScalar(in[0]) || !isScalar(in[1]) || !isScalar(in[2]) {
			return nil
		}
		var values []float64
		by := in[2].at(0)
		for v := in[0].at(0); by != 0 && (v-in[1].at(0))*by < 0 && len(values) < mostFolded; v += by {
			values = append(values, v)
		}
		return numbersOf(in[0].isFloat(), tensor.Shape{len(values)}, values)
	}
	of, shape := &Tensor{Shape: tensor.Shape{1}, Floats: []float32{0}}, in[0]
	if a := b.node.attribute("value"); a != nil && a.Tensor != nil {
		of = a.Tensor
	}
	if b.node.Op == "Expand" {
		if of = in[0]; len(in) < 2 || in[1] == nil {
			return nil
		}
		shape = in[1]
	}
	to := tensor.Shape{}
	for _, v := range shape.values() {
		to = append(to, int(v))
	}
	return b.spread(of, to)
}

// spread repeats a tensor to a shape by the rules of broadcasting, nil if that cannot be.
func (b *builder) spread(t *Tensor, to tensor.Shape) *Tensor {
	to, ok := together(t.Shape, to)
	if !ok || !isBounded(to) {
		return nil
	}
	values := make([]float64, to.Elems())
	for i := range values {
		values[i] = t.at(repeatedIndex(i, t.Shape, to))
	}
	return numbersOf(t.isFloat(), to, values)
}

// isBounded reports whether a shape is one that may be computed while a graph is built.
func isBounded(s tensor.Shape) bool {
	n := 1
	for _, d := range s {
		if d < 0 || d > mostFolded {
			return false
		}
		if n *= d; n > mostFolded {
			return false
		}
	}
	return true
}

// together returns the shape that both are repeated to.
func together(a, b tensor.Shape) (tensor.Shape, bool) {
	s := make(tensor.Shape, max(len(a), len(b)))
	for i := range s {
		x, y := 1, 1
		if j := i - len(s) + len(a); j >= 0 {
			x = a[j]
		}
		if j := i - len(s) + len(b); j >= 0 {
			y = b[j]
		}
		if x != y && x != 1 && y != 1 {
			return nil, false
		}
		s[i] = max(x, y)
		if min(x, y) == 0 {
			s[i] = 0
		}
	}
	return s, true
}

// repeatedIndex returns where element i of shape to stands in a value of shape from that is repeated to it.
func repeatedIndex(i int, from, to tensor.Shape) int {
	at, stride := 0, 1
	for a := len(to) - 1; a >= 0; a-- {
		k := i % to[a]
		i /= to[a]
		if j := a - len(to) + len(from); j >= 0 {
			if from[j] != 1 {
				at += k * stride
			}
			stride *= from[j]
		}
	}
	return at
}

func (b *builder) chosen(in []*Tensor) *Tensor {
	if len(in) != 3 || in[1] == nil || in[2] == nil {
		return nil
	}
	s, ok := together(in[0].Shape, in[1].Shape)
	if ok {
		s, ok = together(s, in[2].Shape)
	}
	if !ok || !isBounded(s) {
		return nil
	}
	values := make([]float64, s.Elems())
	for i := range values {
		of := in[2]
		if in[0].at(repeatedIndex(i, in[0].Shape, s)) != 0 {
			of = in[1]
		}
		values[i] = of.at(repeatedIndex(i, of.Shape, s))
	}
	return numbersOf(in[1].isFloat(), s, values)
}

// product is ReduceProd of all elements.
func (b *builder) product(t *Tensor) *Tensor {
	axes, isOfSome := b.listOf(1, "axes")
	if isOfSome && (len(axes) != 1 || len(t.Shape) != 1) {
		b.fail("along axes %v of %v; only the product of all elements is supported", axes, t.Shape)
		return nil
	}
	to := tensor.Shape{}
	if b.node.integer("keepdims", 1) != 0 {
		for range t.Shape {
			to = append(to, 1)
		}
	}
	product := 1.0
	for i := range t.Shape.Elems() {
		product *= t.at(i)
	}
	return numbersOf(t.isFloat(), to, []float64{product})
}

func (b *builder) function(t *Tensor) *Tensor {
	values := t.values()
	for i, v := range values {
		switch b.node.Op {
		case "Sqrt":
			v = math.Sqrt(v)
		case "Neg":
			v = -v
		case "Exp":
			v = elementary.Exp(v)
		case "Abs":
			v = math.Abs(v)
		case "Floor":
			v = math.Floor(v)
		case "Ceil":
			v = math.Ceil(v)
		case "Not":
			v = truth(v == 0)
		}
		values[i] = v
	}
	return numbersOf(t.isFloat(), t.Shape, values)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func (b *builder) arithmetic(x, y *Tensor) *Tensor {
	s, ok := together(x.Shape, y.Shape)
	if !ok || !isBounded(s) {
		return nil
	}
	values, toFloat := make([]float64, s.Elems()), x.isFloat()
	for i := range values {
		p, q := x.at(repeatedIndex(i, x.Shape, s)), y.at(repeatedIndex(i, y.Shape, s))
		v, isTruth, known := calculate(b.node.Op, p, q, toFloat)
		if !known {
			return nil
		}
		values[i] = v
		toFloat = toFloat && !isTruth
	}
	return numbersOf(toFloat, s, values)
}

// calculate computes one element; known is false for another op, or a division of integers by 0.
func calculate(op string, p, q float64, isFloat bool) (v float64, isTruth, known bool) {
	switch op {
	case "Add":
		return p + q, false, true
	case "Sub":
		return p - q, false, true
	case "Mul":
		return p * q, false, true
	case "Div":
		if isFloat {
			return p / q, false, true
		}
		return math.Trunc(p / q), false, q != 0
	case "Mod":
		m := math.Mod(p, q)
		if m != 0 && (m < 0) != (q < 0) {
			m += q
		}
		return m, false, q != 0
	case "Pow":
		return elementary.Pow(p, q), false, true
	case "Max":
		return max(p, q), false, true
	case "Min":
		return min(p, q), false, true
	case "GreaterOrEqual":
		return truth(p >= q), true, true
	case "LessOrEqual":
		return truth(p <= q), true, true
	case "Equal":
		return truth(p == q), true, true
	case "Less":
		return truth(p < q), true, true
	case "Greater":
		return truth(p > q), true, true
	case "And":
		return truth(p != 0 && q != 0), true, true
	case "Or":
		return truth(p != 0 || q != 0), true, true
	}
	return 0, false, false
}
