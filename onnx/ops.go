package onnx

import (
	"math"
	"slices"

	"lockstep/graph"
	"lockstep/op"
	"lockstep/tensor"
)

// add adds the present node, number i.
func (b *builder) add(i int) {
	n := b.node
	if n.Domain != "" {
		b.fail("operators of this domain are not supported")
		return
	}
	if n.Name == "" {
		copied := *n
		copied.Name = n.nameOf(i)
		b.node = &copied
	}
	if len(n.Out) == 0 || b.fold() {
		return
	}
	for _, kind := range []func() bool{b.elementwise, b.products, b.windows, b.norms, b.moves, b.sums} {
		if kind() {
			b.checkResult()
			return
		}
	}
	b.fail("this operator is not supported")
}

// checkResult turns an error of the graph into one that names the node.
func (b *builder) checkResult() {
	if err := b.g.Err(); err != nil {
		b.fail("%v", err)
	}
}

// elementwise adds what treats each element on its own, or pairs of elements.
func (b *builder) elementwise() bool {
	n := b.node
	switch n.Op {
	case "Pow":
		b.power(b.must(0))
		return true
	case "Where":
		b.where(b.must(0), b.must(1), b.must(2))
		return true
	case "Identity":
		b.identity(b.must(0))
		return true
	case "Cast":
		b.cast(b.must(0))
		return true
	case "Dropout":
		b.dropout()
		return true
	}
	if pairOf(n.Op) != nil && len(n.In) == 2 {
		b.binary()
		return true
	}
	of := b.functionOf(n)
	if of == nil {
		return false
	}
	v := b.must(0)
	b.like(v, of(b.elements(v)))
	return true
}

// identity names a value anew. PyTorch writes parameters of equal values once, and Identity for the others:
// they are parameters of their own.
func (b *builder) identity(v *value) {
	if v.constant != nil {
		c, named := *v.constant, *v
		c.Name = b.node.Out[0]
		named.constant, v = &c, &named
	}
	b.set(0, v)
}

// cast converts a value, which the graph has as floats whatever its type is. Truth values are 1 and 0.
func (b *builder) cast(v *value) {
	switch to := b.node.integer("to", typeFloat); {
	case to == typeBool:
		b.like(v, not(not(b.elements(v))))
	case isFloat(to) || b.model.isWhole(b.node.In[0]):
		b.identity(v)
	default:
		b.fail("only whole numbers can become integers")
	}
}

// isWhole reports whether a value has integers or truth values: what most operators compute is of the type of
// their first input.
func (m *Model) isWhole(name string) bool {
	for {
		i := m.maker(name)
		if i < 0 {
			break
		}
		n, first := &m.Nodes[i], 0
		switch n.Op {
		case "Where":
			first = 1
		case "Cast":
			return !isFloat(n.integer("to", typeFloat))
		case "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "IsNaN", "Shape":
			return true
		case "Constant":
			t := n.constant()
			return t != nil && !t.isFloat()
		}
		if first >= len(n.In) {
			return false
		}
		name = n.In[first]
	}
	if t := m.Tensor(name); t != nil {
		return !t.isFloat()
	}
	return slices.ContainsFunc(m.Inputs, func(v Value) bool { return v.Name == name && !v.IsFloat })
}

// functionOf returns the function of an operator on each element, nil if it is none.
func (b *builder) functionOf(n *Node) func(*graph.Node) *graph.Node {
	alpha := func(otherwise float32) float64 { return float64(n.float("alpha", otherwise)) }
	switch n.Op {
	case "Relu":
		return graph.ReLU
	case "Tanh":
		return graph.Tanh
	case "Sigmoid":
		return op.Sigmoid
	case "Swish":
		if alpha(1) == 1 {
			return op.SiLU
		}
	case "Exp":
		return op.Exp
	case "Log":
		return op.Log
	case "Sqrt":
		return op.Sqrt
	case "Erf":
		return op.Erf
	case "Abs":
		return op.Abs
	case "Neg":
		return op.Neg
	case "Reciprocal":
		return op.Reciprocal
	case "Softplus":
		return op.Softplus
	case "HardSwish":
		return op.HardSwish
	case "LeakyRelu":
		return func(x *graph.Node) *graph.Node { return op.LeakyReLU(x, alpha(0.01)) }
	case "Elu":
		return func(x *graph.Node) *graph.Node { return op.ELU(x, alpha(1)) }
	case "HardSigmoid":
		return func(x *graph.Node) *graph.Node {
			return op.HardSigmoid(x, alpha(0.2), float64(n.float("beta", 0.5)))
		}
	case "Not":
		return not
	case "IsNaN":
		return func(x *graph.Node) *graph.Node { return not(op.Equal(x, x)) }
	case "Gelu":
		if n.text("approximate", "none") == "none" {
			return graph.GELU
		}
	case "Clip":
		return b.clip(n)
	}
	return nil
}

// clip returns Clip with constant bounds.
func (b *builder) clip(n *Node) func(*graph.Node) *graph.Node {
	lo, hi := float64(n.float("min", -math.MaxFloat32)), float64(n.float("max", math.MaxFloat32))
	for i, at := range []*float64{&lo, &hi} {
		if b.in(i+1) == nil {
			continue
		}
		if t := b.constantOf(i + 1); t != nil && t.Shape.Elems() == 1 {
			*at = t.at(0)
		} else {
			b.fail("bound %d is no constant number", i+1)
		}
	}
	return func(x *graph.Node) *graph.Node { return op.Clip(x, lo, hi) }
}

// dropout adds Dropout in training, whatever the file was exported for.
func (b *builder) dropout() {
	v, share := b.must(0), b.node.float("ratio", 0.5)
	if b.in(1) != nil {
		if t := b.constantOf(1); t != nil && t.Shape.Elems() == 1 {
			share = float32(t.at(0))
		}
	}
	b.like(v, graph.Dropout(b.elements(v), float64(share)))
}

// binary adds arithmetic on two values, with broadcasting.
func (b *builder) binary() {
	x, y := b.must(0), b.must(1)
	if b.node.Op == "Mul" && (b.scale(x, y) || b.scale(y, x)) {
		return
	}
	of := pairOf(b.node.Op)
	isImage := func(v *value) bool { return v.isMap && !v.isFlat }
	switch {
	case x.isFlat && y.isFlat && x.node.Shape().Equal(y.node.Shape()):
		b.like(x, of(x.node, y.node))
	case isImage(x) && (isImage(y) || y.constant != nil && len(y.axes) <= 4),
		isImage(y) && x.constant != nil && len(x.axes) <= 4:
		b.mapped(of(b.beside(x), b.beside(y)))
	default:
		b.plain(of(b.rows(x), b.rows(y)))
	}
}

// scale adds a product with a constant number, and reports whether it is one.
func (b *builder) scale(x, by *value) bool {
	if by.constant == nil || by.constant.Shape.Elems() != 1 || by.trained || x.node == nil {
		return false
	}
	b.like(x, graph.Scale(x.node, float32(by.constant.at(0))))
	return true
}

// power adds a power with a constant exponent.
func (b *builder) power(v *value) {
	t := b.constantOf(1)
	if t == nil || t.Shape.Elems() != 1 {
		b.fail("only a constant number as exponent is supported")
		return
	}
	x := b.elements(v)
	switch p := t.at(0); p {
	case 2:
		b.like(v, op.Mul(x, x))
	case 0.5:
		b.like(v, op.Sqrt(x))
	default:
		b.like(v, op.Pow(x, p))
	}
}

// pairOf returns the function of an operator on two values, nil if it is none. Truth values are 1 and 0.
func pairOf(name string) func(a, b *graph.Node) *graph.Node {
	switch name {
	case "Add":
		return op.Add
	case "Sub":
		return op.Sub
	case "Mul", "And":
		return op.Mul
	case "Div":
		return op.Div
	case "Max":
		return func(a, b *graph.Node) *graph.Node { return op.Where(op.Greater(a, b), a, b) }
	case "Min":
		return func(a, b *graph.Node) *graph.Node { return op.Where(op.Less(a, b), a, b) }
	case "Greater":
		return op.Greater
	case "Less":
		return op.Less
	case "Equal":
		return op.Equal
	case "GreaterOrEqual":
		return func(a, b *graph.Node) *graph.Node { return not(op.Less(a, b)) }
	case "LessOrEqual":
		return func(a, b *graph.Node) *graph.Node { return not(op.Greater(a, b)) }
	case "Or":
		return func(a, b *graph.Node) *graph.Node {
			return op.Greater(op.Add(a, b), op.Constant(a.Graph(), tensor.Shape{1}, 0))
		}
	}
	return nil
}

// not returns 1 where x is 0, else 0.
func not(x *graph.Node) *graph.Node {
	return op.Equal(x, op.Constant(x.Graph(), tensor.Shape{1}, 0))
}

// where adds a choice between two values, element by element.
func (b *builder) where(condition, x, y *value) {
	values := []*value{condition, x, y}
	areMaps, isOne := true, false
	for _, v := range values {
		isImage := v.isMap && !v.isFlat
		areMaps = areMaps && (isImage || v.constant != nil && len(v.axes) <= 4)
		isOne = isOne || isImage
	}
	if areMaps && isOne {
		b.mapped(op.Where(b.beside(condition), b.beside(x), b.beside(y)))
		return
	}
	b.plain(op.Where(b.rows(condition), b.rows(x), b.rows(y)))
}

// beside returns v for an op with a map: as a map, a constant of up to four axes with its channels last.
func (b *builder) beside(v *value) *graph.Node {
	if v.constant == nil {
		return v.node
	}
	view := slices.Concat(tensor.Shape{1, 1, 1, 1}, v.constant.Shape)
	return b.stored(v, tensor.Layout{View: view[len(v.constant.Shape):], Perm: []int{0, 2, 3, 1}})
}

// products adds linear layers and products of matrices.
func (b *builder) products() bool {
	switch b.node.Op {
	case "Gemm":
		b.gemm()
	case "MatMul":
		b.matMul()
	default:
		return false
	}
	return true
}

// gemm adds alpha A B + beta C; a bias is one for each column.
func (b *builder) gemm() {
	n, x, w := b.node, b.must(0), b.must(1)
	if n.float("alpha", 1) != 1 || n.float("beta", 1) != 1 || n.integer("transA", 0) != 0 {
		b.fail("only alpha=1, beta=1 and transA=0 are supported")
		return
	}
	if w.node != nil || len(w.axes) != 2 {
		b.fail("only a constant matrix is supported")
		return
	}
	isTurned := n.integer("transB", 0) != 0
	y := b.linear(x, w, isTurned)
	if c := b.in(2); c != nil {
		if bias := b.rows(c); c.constant != nil && len(c.axes) == 1 && y.bias(bias) {
			b.plain(graph.Linear(y.x, y.w, bias))
			return
		} else if y.x != nil {
			b.plain(op.Add(graph.Linear(y.x, y.w, nil), bias))
		}
		return
	}
	if y.x != nil {
		b.plain(graph.Linear(y.x, y.w, nil))
	}
}

// linearInputs are the inputs of a linear layer.
type linearInputs struct{ x, w *graph.Node }

// bias reports whether a node can be the layer's bias.
func (l linearInputs) bias(n *graph.Node) bool {
	if l.x == nil {
		return false
	}
	s := l.w.Shape()
	return len(s) > 0 && n.Shape().Equal(tensor.Shape{s[len(s)-1]})
}

// linear returns the inputs of a linear layer of x with a constant matrix, [in, out] or, if isTurned, [out,
// in]. A map that the file flattens is read as it lies, through the layout of the weights.
func (b *builder) linear(x, w *value, isTurned bool) linearInputs {
	s := w.axes
	in, out := s[0], s[1]
	if isTurned {
		in, out = out, in
	}
	node := b.elements(x)
	features := tensor.Shape{in}
	if x.isFlat {
		if m := node.Shape()[1:]; len(m) == 3 && m.Elems() == in {
			features = tensor.Shape{m[2], m[0], m[1]}
		} else {
			node = b.rows(x)
		}
	} else {
		node = b.rows(x)
	}
	if len(node.Shape()) < 2 || node.Shape()[len(node.Shape())-1] != in && len(features) == 1 {
		b.fail("multiplies %v by a matrix of %d rows", x.axes, in)
		return linearInputs{}
	}
	var l tensor.Layout
	switch {
	case isTurned && len(features) == 1:
		l = tensor.Layout{View: tensor.Shape{out, in}, Perm: []int{1, 0}}
	case isTurned:
		l = tensor.Layout{View: slices.Concat(tensor.Shape{out}, features), Perm: []int{2, 3, 1, 0}}
	case len(features) > 1:
		l = tensor.Layout{View: slices.Concat(features, tensor.Shape{out}), Perm: []int{1, 2, 0, 3}}
	}
	return linearInputs{node, b.stored(w, l)}
}

// matMul adds a product, with a constant matrix as a linear layer.
func (b *builder) matMul() {
	x, w := b.must(0), b.must(1)
	if w.constant != nil && len(w.axes) == 2 && (x.node != nil || x.trained) && len(x.axes) > 1 {
		if l := b.linear(x, w, false); l.x != nil {
			b.plain(graph.Linear(l.x, l.w, nil))
		}
		return
	}
	if min(len(x.axes), len(w.axes)) < 2 {
		b.fail("products of vectors are not supported")
		return
	}
	b.plain(op.MatMul(b.rows(x), b.rows(w)))
}

// windows adds convolutions and pools.
func (b *builder) windows() bool {
	switch b.node.Op {
	case "Conv":
		b.conv()
	case "ConvTranspose":
		b.convTranspose()
	case "MaxPool":
		b.maxPool()
	case "AveragePool":
		if w, ok := b.window(2); ok {
			size := b.node.integers("kernel_shape")
			if b.node.integer("ceil_mode", 0) != 0 || len(size) != 2 {
				b.fail("ceil_mode=%d and windows of %v are not supported", b.node.integer("ceil_mode", 0),
					size)
				return true
			}
			b.mapped(op.AvgPool(b.image(b.must(0)), [2]int{size[0], size[1]}, w,
				b.node.integer("count_include_pad", 0) != 0))
		}
	case "GlobalAveragePool":
		x := b.image(b.must(0))
		if b.err == nil {
			y := graph.GlobalAvgPool(x)
			b.mapped(graph.Reshape(y, tensor.Shape{x.Shape()[0], 1, 1, x.Shape()[3]}))
		}
	case "GlobalMaxPool":
		b.mapped(op.Max(b.image(b.must(0)), true, 1, 2))
	default:
		return false
	}
	return true
}

// window returns the window of a convolution or a pool on maps; taps is how many axes its filters have.
func (b *builder) window(taps int) (w op.Window, ok bool) {
	n := b.node
	list := func(name string, size, otherwise int) []int {
		v := n.integers(name)
		if v == nil {
			return slices.Repeat([]int{otherwise}, size)
		}
		return v
	}
	strides, pads, gaps := list("strides", taps, 1), list("pads", 2*taps, 0), list("dilations", taps, 1)
	if p := n.text("auto_pad", "NOTSET"); p != "NOTSET" && p != "VALID" {
		b.fail("auto_pad=%s is not supported", p)
		return w, false
	}
	if len(strides) != 2 || len(pads) != 4 || len(gaps) != 2 || len(list("kernel_shape", 2, 1)) != 2 {
		b.fail("only maps of two dimensions are supported")
		return w, false
	}
	for _, v := range slices.Concat(strides, pads, gaps) {
		if v < 0 || v > 1<<20 {
			b.fail("strides %v, pads %v, dilations %v", strides, pads, gaps)
			return w, false
		}
	}
	return op.Window{Stride: [2]int(strides), Pad: [4]int(pads), Dilation: [2]int(gaps),
		Groups: n.integer("group", 1)}, true
}

// filters returns the filters of a convolution, [K, C, R, S] in the file, and the bias, if there is one.
func (b *builder) filters() (w, bias *graph.Node) {
	v := b.must(1)
	if len(v.axes) != 4 {
		b.fail("filters of shape %v; only maps of two dimensions are supported", v.axes)
		return nil, nil
	}
	if v.constant != nil {
		w = b.stored(v, tensor.Layout{View: v.axes, Perm: []int{2, 3, 1, 0}})
	} else {
		w = op.Transpose(b.rows(v), 2, 3, 1, 0)
	}
	if c := b.in(2); c != nil {
		bias = b.rows(c)
	}
	return w, bias
}

func (b *builder) conv() {
	w, ok := b.window(2)
	x := b.image(b.must(0))
	filters, bias := b.filters()
	if ok && filters != nil && b.err == nil {
		b.mapped(op.Conv(x, filters, bias, w))
	}
}

func (b *builder) convTranspose() {
	w, ok := b.window(2)
	x := b.image(b.must(0))
	extra := b.node.integers("output_padding")
	if extra == nil {
		extra = []int{0, 0}
	}
	p := w.Pad
	if ok && (w.Groups != 1 || w.Dilation != [2]int{1, 1} || w.Stride[0] != w.Stride[1] || len(extra) != 2 ||
		extra[0] != extra[1] || p != [4]int{p[0], p[0], p[0],
		p[0]} || b.node.attribute("output_shape") != nil) {
		b.fail("only one group, no gaps and the same stride and padding in both directions are supported")
	}
	filters, bias := b.filters() // [C in, C out, R, S] in the file, so that its inputs are the last axis here
	if ok && filters != nil && b.err == nil {
		b.mapped(op.ConvTranspose(x, filters, bias, w.Stride[0], p[0], extra[0]))
	}
}

func (b *builder) maxPool() {
	w, ok := b.window(2)
	x := b.image(b.must(0))
	size := b.node.integers("kernel_shape")
	p := w.Pad
	if ok && (len(size) != 2 || size[0] != size[1] || w.Stride[0] != w.Stride[1] ||
		p != [4]int{p[0], p[0], p[0], p[0]} || w.Dilation != [2]int{1, 1} || b.node.integer("ceil_mode",
		0) != 0) {
		b.fail("only square windows with the same stride and padding in both directions are supported")
	}
	if ok && b.err == nil {
		b.mapped(graph.MaxPool(x, size[0], w.Stride[0], p[0]))
	}
}
