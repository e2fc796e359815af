package onnx

import (
	"strings"

	"lockstep/graph"
	"lockstep/tensor"
)

// Input returns the shape of one sample that the first input reads, as graphs have it: [H, W, C] of images,
// [T] of texts, [1, 1, F] of numbers. An axis without a size is 0.
func (m *Model) Input() tensor.Shape {
	v := m.Inputs[0]
	if !v.IsFloat {
		return append(tensor.Shape{}, v.Axes[min(1, len(v.Axes)):]...)
	}
	if len(v.Axes) == 2 {
		return tensor.Shape{1, 1, v.Axes[1]}
	}
	if len(v.Axes) != 4 {
		return append(tensor.Shape{}, v.Axes[min(1, len(v.Axes)):]...)
	}
	if m.isLast() {
		return append(tensor.Shape{}, v.Axes[1:]...)
	}
	return tensor.Shape{v.Axes[2], v.Axes[3], v.Axes[1]}
}

// isLast reports whether the images of the file have their channels last.
func (m *Model) isLast() bool {
	a := m.Inputs[0].Axes
	isColour := func(n int) bool { return n == 1 || n == 3 }
	areRows := len(a) == 4 && a[2] == 1 && a[3] == 1 // of numbers, as maps of one pixel
	return len(a) == 4 && !areRows && isColour(a[3]) && !isColour(a[1])
}

// ReadsTexts reports whether the first input reads tokens.
func (m *Model) ReadsTexts() bool { return !m.Inputs[0].IsFloat }

// NumOutputs returns the number of values for a sample, 0 if the file does not say it.
func (m *Model) NumOutputs() int {
	a := m.Outputs[0].Axes
	if len(a) == 0 {
		return 0
	}
	return a[len(a)-1]
}

// inputs makes x the inputs of the file.
func (b *builder) inputs(x *graph.Node) {
	m := b.model
	in := m.Inputs[0]
	if len(in.Axes) > 0 {
		b.fixed = in.Axes[0]
	}
	if x.Type().Ragged || m.ReadsTexts() {
		b.texts(x)
		return
	}
	if len(m.Inputs) > 1 {
		b.fail("%d inputs, of which %s cannot be given; want one", len(m.Inputs), m.Inputs[1].Name)
		return
	}
	s := x.Shape()
	b.batch = s[0]
	v := mapOf(x)
	switch {
	case len(s) != 4:
		v = &value{node: x, axes: s}
	case len(in.Axes) == 2: // numbers
		v.isFlat, v.axes = true, tensor.Shape{s[0], s[1:].Elems()}
	case m.isLast():
		v = &value{node: x, axes: s}
	}
	for i, n := range in.Axes {
		if i > 0 && (i >= len(v.axes) || n != 0 && n != v.axes[i]) || len(in.Axes) != len(v.axes) {
			b.fail("input %s reads samples %v, given are %v, [H, W, C]; --size sets H and W", in.Name,
				m.Input(), s[1:])
			return
		}
	}
	b.values[in.Name] = v
}

// texts makes the padded tokens of texts the inputs of the file. The first input has their numbers; what the
// others are, their names tell, which are those of transformers.
func (b *builder) texts(x *graph.Node) {
	first := b.model.Inputs[0]
	if !x.Type().Ragged || !b.model.ReadsTexts() || len(first.Axes) != 2 {
		b.fail("input %s reads %v of shape %v, given are samples %v", first.Name, kindOf(first), first.Axes,
			x.Shape()[1:])
		return
	}
	numbers, mask, kinds := graph.PadTexts(x)
	b.kinds = kinds
	s := numbers.Shape()
	if len(s) != 2 {
		b.fail("%v", b.g.Err())
		return
	}
	b.batch = s[0]
	if n := first.Axes[1]; n != 0 && n != s[1] {
		b.fail("input %s reads texts of %d tokens, given are texts of up to %d; say --sequence %[2]d",
			first.Name, n, s[1])
		return
	}
	for i, in := range b.model.Inputs {
		of := numbers
		name := strings.ToLower(in.Name)
		switch {
		case i == 0:
		case strings.Contains(name, "mask"):
			of = mask
		case strings.Contains(name, "type") || strings.Contains(name, "segment"):
			of = kinds
		case strings.Contains(name, "position"):
			places := make([]int64, s[1])
			for k := range places {
				places[k] = int64(k)
			}
			t := &Tensor{Shape: tensor.Shape{1, s[1]}, Ints: places}
			b.values[in.Name] = &value{constant: t, axes: t.Shape}
			continue
		default:
			b.fail("input %s cannot be given; want the numbers of tokens first, then mask, token types and "+
				"positions", in.Name)
			return
		}
		b.values[in.Name] = &value{node: of, axes: s}
	}
}

// kindOf names what an input reads.
func kindOf(v Value) string {
	if v.IsFloat {
		return "numbers"
	}
	return "integers"
}

// NumWords returns the size of the vocabulary: the rows of the table that the first input takes rows of, of
// the smallest if there are several; 0 if there is none.
func (m *Model) NumWords() (words int) {
	isInput := map[string]bool{m.Inputs[0].Name: true}
	for _, n := range m.Nodes {
		if (n.Op == "Cast" || n.Op == "Identity") && len(n.In) == 1 && len(n.Out) == 1 && isInput[n.In[0]] {
			isInput[n.Out[0]] = true // the same numbers
		}
		if n.Op != "Gather" || len(n.In) != 2 || !isInput[n.In[1]] {
			continue
		}
		if t := m.Tensor(n.In[0]); t != nil && len(t.Shape) == 2 && (words == 0 || t.Shape[0] < words) {
			words = t.Shape[0]
		}
	}
	return words
}
