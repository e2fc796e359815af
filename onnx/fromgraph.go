package onnx

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"lockstep/graph"
	"lockstep/op"
	"lockstep/tensor"
)

// Names of the inputs and the output of a model that FromGraph makes: those of transformers for texts.
const (
	imagesName = "images"
	tokensName = "input_ids"
	maskName   = "attention_mask"
	kindsName  = "token_type_ids"
	logitsName = "logits"
)

// FromGraph returns the network between x and logits, nodes of one graph, as it computes outside of training,
// with the weights and running statistics of v; nil: with tensors that have shapes and no values. x is the
// graph's only input, of float32 [N, ...] or the texts of Graph.Texts, and N at least 2.
//
// Images [N, H, W, C] become an input images [batch, C, H, W], rows of numbers [N, 1, 1, F] one of [batch,
// F], texts the inputs input_ids, attention_mask and token_type_ids, [batch, sequence]. The output is logits.
// Any batch and length of texts can be computed. Parameters keep their names. Errors are *UnsupportedError
// with the layer and the op.
func FromGraph(x, logits *graph.Node, v *graph.Variables) (*Model, error) {
	g := x.Graph()
	if err := g.Err(); err != nil {
		return nil, err
	}
	w := &writer{model: &Model{Opset: writtenOpset, Producer: "lockstep"}, x: x,
		names: map[*graph.Node]string{}, stored: map[string]form{}, used: map[string]int{},
		values: map[string][]float32{}, kept: map[string]tensor.Shape{}}
	w.samples = x.Shape()[0]
	for i, p := range g.Params() {
		w.kept[p.Name] = p.Stored()
		if v != nil {
			s := v.Segments[i]
			w.values[p.Name] = v.Weights[s.Offset:][:s.Len]
		}
	}
	for i, s := range g.States() {
		w.kept[s.Name] = s.Shape
		if v != nil {
			w.values[s.Name] = v.StateOf(i)
		}
	}
	all := logits.Calls()
	w.inputs(all)
	for i := range all {
		if w.at = &all[i]; w.err == nil {
			w.add()
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	w.emit("Identity", []string{logitsName}, w.name(logits))
	w.model.Outputs = []Value{{Name: logitsName, IsFloat: true,
		Axes: append([]int{0}, logits.Shape()[1:]...)}}
	return w.model, w.err
}

// writer makes a model of a graph. In the file maps are [N, C, H, W] and tokens [batch, sequence, C].
type writer struct {
	model   *Model
	x       *graph.Node
	samples int                     // of the graph
	names   map[*graph.Node]string  // of values in the file
	stored  map[string]form         // of tensors that are parameters, by their names in the file
	used    map[string]int          // how often a name of a value was asked for
	values  map[string][]float32    // of parameters and states as the graph stores them
	kept    map[string]tensor.Shape // their shapes
	at      *graph.Call
	err     error
}

// form is how a parameter stands in the file.
type form struct {
	of   string
	perm string
}

// fail keeps the first error, about the present op.
func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		e := &UnsupportedError{Reason: fmt.Sprintf(format, args...)}
		if w.at != nil {
			e.Node, e.Op = w.at.Layer, w.at.Name
			if e.Node == "" {
				e.Node = "without a name"
			}
		}
		w.err = e
	}
}

// inputs adds the inputs of the model.
func (w *writer) inputs(all []graph.Call) {
	in := func(name string, isFloat bool, axes ...int) {
		w.model.Inputs = append(w.model.Inputs, Value{Name: name, IsFloat: isFloat, Axes: axes})
	}
	s := w.x.Shape()
	if w.x.Type().Ragged {
		for _, name := range []string{tokensName, maskName, kindsName} {
			in(name, false, 0, 0)
		}
		return
	}
	w.names[w.x] = imagesName
	switch {
	case len(s) == 4 && s[1]*s[2] == 1 && !slices.ContainsFunc(all, w.needsMap):
		in(imagesName, true, 0, s[3])
	case len(s) == 4:
		in(imagesName, true, 0, s[3], s[1], s[2])
	default:
		in(imagesName, true, append([]int{0}, s[1:]...)...)
	}
}

// needsMap reports whether an op reads the input as a map: a linear layer does not.
func (w *writer) needsMap(a graph.Call) bool {
	_, isLinear := a.Op.(graph.LinearOp)
	return !isLinear && slices.Contains(a.In, w.x)
}

// fresh returns a name for a value that nothing else has.
func (w *writer) fresh(kind string) string {
	name := "/" + kind // which no parameter is called
	if w.at != nil {
		name = w.at.Layer + name
	}
	w.used[name]++
	if n := w.used[name]; n > 1 {
		name = fmt.Sprintf("%s_%d", name, n)
	}
	return name
}

// emit adds a node of a kind; out are the names of its results, nil for one with a name of its own, which it
// returns.
func (w *writer) emit(kind string, out []string, in ...string) string {
	name := w.fresh(kind)
	if out == nil {
		out = []string{name + ":0"}
	}
	w.model.Nodes = append(w.model.Nodes, Node{Name: name, Op: kind, In: in, Out: out})
	return out[0]
}

// with adds attributes to the last node.
func (w *writer) with(attributes ...Attribute) {
	n := &w.model.Nodes[len(w.model.Nodes)-1]
	n.Attributes = append(n.Attributes, attributes...)
}

func ints(name string, values ...int) Attribute {
	a := Attribute{Name: name, Kind: KindInts}
	for _, v := range values {
		a.Ints = append(a.Ints, int64(v))
	}
	return a
}

func number(name string, value int) Attribute {
	return Attribute{Name: name, Kind: KindInt, Int: int64(value)}
}

func real(name string, value float32) Attribute {
	return Attribute{Name: name, Kind: KindFloat, Float: value}
}

// whole adds a constant of integers and returns its name.
func (w *writer) whole(values ...int64) string {
	name := w.fresh("shape")
	t := Tensor{Name: name, Shape: tensor.Shape{len(values)}, Ints: values}
	w.model.Tensors = append(w.model.Tensors, t)
	return name
}

// scalar adds a constant number and returns its name.
func (w *writer) scalar(value float32) string {
	name := w.fresh("number")
	w.model.Tensors = append(w.model.Tensors, Tensor{Name: name, Shape: tensor.Shape{},
		Floats: []float32{value}})
	return name
}

// name returns the name of the value of a node: a parameter stands in the file as it is stored.
func (w *writer) name(n *graph.Node) string {
	if name, ok := w.names[n]; ok {
		return name
	}
	if w.kept[n.Name()] != nil {
		return w.tensor(n, nil)
	}
	w.fail("it reads a value that is no result of an op")
	return ""
}

// tensor returns the name of the tensor of a parameter or a state whose axes are permuted by perm and, if
// shape is given, are seen as that.
func (w *writer) tensor(n *graph.Node, perm []int, shape ...int) string {
	s, ok := w.kept[n.Name()]
	if !ok {
		w.fail("its weights are computed; only parameters can be written")
		return ""
	}
	key := form{n.Name(), fmt.Sprint(perm, shape)}
	name := key.of
	for i := 2; ; i++ {
		if have, isTaken := w.stored[name]; !isTaken {
			break
		} else if have == key {
			return name
		}
		name = fmt.Sprintf("%s.%d", key.of, i)
	}
	w.stored[name] = key
	t := Tensor{Name: name, Shape: s.Clone()}
	for i, a := range perm {
		t.Shape[i] = s[a]
	}
	if values := w.values[key.of]; values != nil {
		t.Floats = slices.Clone(values)
		if perm != nil {
			tensor.Layout{View: s, Perm: perm}.FromCanonical(t.Floats, values)
		}
	}
	if shape != nil {
		t.Shape = shape
	}
	w.model.Tensors = append(w.model.Tensors, t)
	return name
}

// set names result i of the present op.
func (w *writer) set(i int, name string) { w.names[w.at.Out[i]] = name }

// add writes the present op.
func (w *writer) add() {
	a := w.at
	in := func(i int) string { return w.name(a.In[i]) }
	switch o := a.Op.(type) {
	case graph.ConvOp:
		p := o.Pad
		w.conv(op.Window{Stride: [2]int{o.Stride, o.Stride}, Pad: [4]int{p, p, p, p}})
	case graph.LinearOp:
		w.linear()
	case graph.BatchNormOp:
		y := w.emit("BatchNormalization", nil, in(0), in(1), in(2), in(3), in(4))
		momentum := 0.1
		for _, s := range w.x.Graph().States() {
			if s.Name == a.In[3].Name() {
				momentum = s.Momentum
			}
		}
		w.with(real("epsilon", o.Eps), real("momentum", float32(1-momentum)))
		w.set(0, y)
	case graph.ReLUOp:
		w.set(0, w.emit("Relu", nil, in(0)))
	case graph.TanhOp:
		w.set(0, w.emit("Tanh", nil, in(0)))
	case graph.GELUOp:
		w.model.Opset = opsetOfGELU
		w.set(0, w.emit("Gelu", nil, in(0)))
	case graph.AddOp:
		w.set(0, w.emit("Add", nil, in(0), in(1)))
	case graph.ScaleOp:
		w.set(0, w.emit("Mul", nil, in(0), w.scalar(o.Factor)))
	case graph.DropoutOp:
		w.set(0, in(0))
	case graph.MaxPoolOp:
		w.set(0, w.emit("MaxPool", nil, in(0)))
		w.with(ints("kernel_shape", o.Size, o.Size), ints("strides", o.Stride, o.Stride),
			ints("pads", o.Pad, o.Pad, o.Pad, o.Pad))
	case graph.GlobalAvgPoolOp:
		w.set(0, w.emit("Flatten", nil, w.emit("GlobalAveragePool", nil, in(0))))
	case graph.SubsampleOp:
		w.subsample(o)
	case graph.ReshapeOp:
		w.reshape()
	case graph.LayerNormOp:
		w.layerNorm(o)
	case graph.EmbeddingOp:
		w.embedding()
	case graph.FirstTokenOp:
		first := w.whole(0)
		w.model.Tensors[len(w.model.Tensors)-1].Shape = tensor.Shape{}
		w.set(0, w.emit("Gather", nil, in(0), first))
		w.with(number("axis", 1))
	case graph.AttentionOp:
		w.attention(o)
	default:
		w.custom()
	}
}

// custom writes an op of package op that is a function of each element, or of pairs of elements of one shape.
func (w *writer) custom() {
	a := w.at
	unary := map[string]string{"exp": "Exp", "log": "Log", "sqrt": "Sqrt", "erf": "Erf", "abs": "Abs",
		"reciprocal": "Reciprocal", "sigmoid": "Sigmoid", "softplus": "Softplus", "hard-swish": "HardSwish"}
	binary := map[string]string{"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div"}
	c, isCustom := a.Op.(graph.CustomOp)
	window, isConv := op.WindowOf(c.Of)
	switch {
	case isConv:
		w.conv(window)
	case isCustom && a.Name == "silu":
		x := w.name(a.In[0])
		w.set(0, w.emit("Mul", nil, x, w.emit("Sigmoid", nil, x)))
	case isCustom && unary[a.Name] != "":
		w.set(0, w.emit(unary[a.Name], nil, w.name(a.In[0])))
	case isCustom && binary[a.Name] != "":
		rank := len(a.Out[0].Shape())
		w.set(0, w.emit(binary[a.Name], nil, w.operand(a.In[0], rank), w.operand(a.In[1], rank)))
	default:
		w.fail("this op cannot be written; known are %s and the ops of Lockstep's own networks",
			slices.Sorted(maps.Values(unary)))
	}
}

// operand is name for one of two values that are repeated to a shape of so many axes. A parameter beside a
// map is [1, H, W, C] or has a number for each channel.
func (w *writer) operand(n *graph.Node, rank int) string {
	s := n.Shape()
	switch isParameter := w.names[n] == ""; {
	case isParameter && rank == 4 && len(s) == 4:
		return w.tensor(n, []int{0, 3, 1, 2})
	case isParameter && rank == 4 && len(s) == 1:
		return w.tensor(n, nil, s[0], 1, 1)
	case rank == 4 && len(s) != 4:
		w.fail("a map and a value of shape %v: such a pair cannot be written", s)
	}
	return w.name(n)
}

func (w *writer) conv(o op.Window) {
	a := w.at
	s := a.In[1].Shape()
	in := []string{w.name(a.In[0]), w.tensor(a.In[1], []int{3, 2, 0, 1})}
	if len(a.In) > 2 {
		in = append(in, w.name(a.In[2]))
	}
	w.set(0, w.emit("Conv", nil, in...))
	w.with(ints("kernel_shape", s[0], s[1]), ints("strides", o.Stride[:]...), ints("pads", o.Pad[:]...))
	if o.Groups > 1 || o.Dilation[0] > 1 || o.Dilation[1] > 1 {
		w.with(ints("dilations", o.Dilation[:]...), number("group", o.Groups))
	}
}

// linear writes a product with a matrix, [out, in] in the file, whose features may be a map.
func (w *writer) linear() {
	a := w.at
	s := a.In[1].Shape()
	out, x := s[len(s)-1], w.name(a.In[0])
	isOfPixels := len(s) == 2 && len(a.In[0].Shape()) == 4
	areRows := a.In[0] == w.x && len(w.model.Inputs[0].Axes) == 2
	var matrix string
	switch {
	case len(s) == 2:
		matrix = w.tensor(a.In[1], []int{1, 0})
	case len(s) == 4 && len(a.In[0].Shape()) == 4:
		matrix = w.tensor(a.In[1], []int{3, 2, 0, 1}, out, s[:3].Elems())
		if !areRows {
			x = w.emit("Flatten", nil, x)
		}
	default:
		w.fail("features of shape %v cannot be written", s[:len(s)-1])
		return
	}
	if isRow := len(a.Out[0].Shape()) == 2 && !a.Out[0].Type().Ragged; isRow {
		in := []string{x, matrix}
		if len(a.In) > 2 {
			in = append(in, w.name(a.In[2]))
		}
		w.set(0, w.emit("Gemm", nil, in...))
		w.with(number("transB", 1))
		return
	}
	turned := w.emit("Transpose", nil, matrix)
	w.with(ints("perm", 1, 0))
	if isOfPixels && !areRows {
		x = w.channelsLast(x)
	}
	y := w.emit("MatMul", nil, x, turned)
	if len(a.In) > 2 {
		y = w.emit("Add", nil, y, w.name(a.In[2]))
	}
	switch {
	case isOfPixels && areRows:
		y = w.emit("Reshape", nil, y, w.whole(0, int64(out), 1, 1))
	case isOfPixels:
		y = w.channelsFirst(y)
	}
	w.set(0, y)
}

// channelsLast returns a map of the file as [N, H, W, C], as the graph has it.
func (w *writer) channelsLast(name string) string {
	name = w.emit("Transpose", nil, name)
	w.with(ints("perm", 0, 2, 3, 1))
	return name
}

// channelsFirst returns a value [N, H, W, C] as a map of the file.
func (w *writer) channelsFirst(name string) string {
	name = w.emit("Transpose", nil, name)
	w.with(ints("perm", 0, 3, 1, 2))
	return name
}

func (w *writer) subsample(o graph.SubsampleOp) {
	y := w.name(w.at.In[0])
	if o.Stride > 1 {
		y = w.emit("Slice", nil, y, w.whole(0, 0), w.whole(math.MaxInt32, math.MaxInt32), w.whole(2, 3),
			w.whole(int64(o.Stride), int64(o.Stride)))
	}
	if o.Before+o.After > 0 {
		y = w.emit("Pad", nil, y, w.whole(0, int64(o.Before), 0, 0, 0, int64(o.After), 0, 0))
	}
	w.set(0, y)
}

// reshape writes a change of shape, in the order in which the graph has the elements.
func (w *writer) reshape() {
	from, to := w.at.In[0].Shape(), w.at.Out[0].Shape()
	y := w.name(w.at.In[0])
	isMoved := func(s tensor.Shape) bool { return len(s) == 4 && s[3] > 1 && s[1]*s[2] > 1 }
	if len(to) == 0 || len(from) == 0 || from[0] != w.samples || to[0] != w.samples {
		w.fail("%v becomes %v; only shapes with the batch as first axis can be written", from, to)
		return
	}
	if isMoved(from) {
		y = w.channelsLast(y)
	}
	shape := []int64{0}
	for _, n := range to[1:] {
		shape = append(shape, int64(n))
	}
	switch {
	case isMoved(to):
		y = w.channelsFirst(w.emit("Reshape", nil, y, w.whole(shape...)))
	case len(to) == 4:
		y = w.emit("Reshape", nil, y, w.whole(0, int64(to[3]), int64(to[1]), int64(to[2])))
	default:
		y = w.emit("Reshape", nil, y, w.whole(shape...))
	}
	w.set(0, y)
}

func (w *writer) layerNorm(o graph.LayerNormOp) {
	a := w.at
	x, out := w.name(a.In[0]), 0
	if o.Residual {
		x = w.emit("Add", nil, w.name(a.In[3]), x)
		w.set(0, x)
		out = 1
	}
	isMap := len(a.In[0].Shape()) == 4
	if isMap {
		x = w.channelsLast(x)
	}
	y := w.emit("LayerNormalization", nil, x, w.name(a.In[1]), w.name(a.In[2]))
	w.with(number("axis", -1), real("epsilon", o.Eps))
	if isMap {
		y = w.channelsFirst(y)
	}
	w.set(out, y)
}

// embedding writes the sum of the rows of words, kinds and positions.
func (w *writer) embedding() {
	a := w.at
	words := w.emit("Gather", nil, w.name(a.In[3]), tokensName)
	kinds := w.emit("Gather", nil, w.name(a.In[5]), kindsName)
	length := w.emit("Shape", nil, tokensName)
	w.with(number("start", 1), number("end", 2))
	positions := w.emit("Slice", nil, w.name(a.In[4]), w.whole(0), length, w.whole(0))
	w.set(0, w.emit("Add", nil, w.emit("Add", nil, words, kinds), positions))
}

// masked is what is added to the scores of what is behind the last token.
const masked = -1e9

// attention writes the products of softmax(q k^T / sqrt(D)) with v for each head.
func (w *writer) attention(o graph.AttentionOp) {
	a := w.at
	if o.Causal {
		w.fail("causal attention cannot be written; attention to all tokens of a text can")
		return
	}
	features := a.In[0].Shape()[1]
	size := features / o.Heads
	heads := func(n *graph.Node, perm ...int) string {
		y := w.emit("Reshape", nil, w.name(n), w.whole(0, 0, int64(o.Heads), int64(size)))
		y = w.emit("Transpose", nil, y)
		w.with(ints("perm", perm...))
		return y
	}
	q, k, v := heads(a.In[0], 0, 2, 1, 3), heads(a.In[1], 0, 2, 3, 1), heads(a.In[2], 0, 2, 1, 3)
	scores := w.emit("Mul", nil, w.emit("MatMul", nil, q, k), w.scalar(float32(1/math.Sqrt(float64(size)))))
	mask := w.emit("Cast", nil, w.emit("Unsqueeze", nil, maskName, w.whole(1, 2)))
	w.with(number("to", typeFloat))
	absent := w.emit("Mul", nil, w.emit("Sub", nil, w.scalar(1), mask), w.scalar(masked))
	shares := w.emit("Softmax", nil, w.emit("Add", nil, scores, absent))
	w.with(number("axis", -1))
	y := w.emit("Transpose", nil, w.emit("MatMul", nil, shares, v))
	w.with(ints("perm", 0, 2, 1, 3))
	w.set(0, w.emit("Reshape", nil, y, w.whole(0, 0, int64(features))))
}
