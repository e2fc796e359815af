package onnx

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"lockstep/graph"
	"lockstep/tensor"
)

// With returns the model with the values of v, those of the parameters and running statistics of the graph
// that Build makes with the same options. The nodes stay as they are, but for those that only lead to other
// outputs than the first, which are left out, and those that give a tensor another name. Tensors that several
// nodes share and that were trained apart are written apart. x is as for Build, and its graph, which gets the
// nodes, is then of no further use. Errors are *UnsupportedError.
func (m *Model) With(x *graph.Node, o Options, v *graph.Variables) (*Model, error) {
	_, names, err := m.build(x, o)
	if err != nil {
		return nil, err
	}
	output := m.Outputs[0]
	if o.FreshClasses > 0 && len(output.Axes) > 1 {
		output.Axes = slices.Clone(output.Axes)
		output.Axes[len(output.Axes)-1] = o.FreshClasses
	}
	w := &Model{Path: m.Path, Opset: m.Opset, Producer: m.Producer, Metadata: maps.Clone(m.Metadata),
		Tensors: slices.Clone(m.Tensors), Inputs: m.Inputs, Outputs: []Value{output}}
	trained := map[string]bool{}
	for i, p := range v.Params {
		values := make([]float32, v.Segments[i].Len)
		v.Param(i, values)
		trained[p.Name] = true
		err = w.replace(p.Name, p.Shape, values, err)
	}
	for i, s := range v.States {
		trained[s.Name] = true
		err = w.replace(s.Name, s.Shape, slices.Clone(v.StateOf(i)), err)
	}
	isNeeded := m.leadsTo(output.Name)
	for i, n := range m.Nodes {
		isName := len(n.Out) == 1 && trained[n.Out[0]] // of what is a tensor now
		if !isNeeded[i] || isName {
			continue
		}
		n.In = slices.Clone(n.In)
		for _, r := range names {
			for k, in := range n.In {
				if r.node == i && in == r.from {
					n.In[k] = r.to
				}
			}
		}
		w.Nodes = append(w.Nodes, n)
	}
	w.dropUnread()
	return w, err
}

// unscaled ends the name of what Rescale multiplies.
const unscaled = "/unscaled"

// Rescale makes y*scale + offset the first output in place of y, [N, K]; both have K numbers, which are no
// weights. The name of the output stays. Unscale undoes it.
func (m *Model) Rescale(scale, offset []float32) {
	name := m.Outputs[0].Name
	m.rename(name, name+unscaled)
	add := func(op, out string, attributes []Attribute, in ...string) {
		m.Nodes = append(m.Nodes, Node{Name: "/" + out, Op: op, In: in, Out: []string{out},
			Attributes: attributes})
	}
	constant := func(out string, values []float32) {
		add("Constant", out, []Attribute{{Name: "value", Kind: KindTensor, Tensor: &Tensor{Name: out,
			Shape: tensor.Shape{len(values)}, Floats: values}}})
	}
	constant(name+"/scale", scale)
	constant(name+"/offset", offset)
	add("Mul", name+"/scaled", nil, name+unscaled, name+"/scale")
	add("Add", name, nil, name+"/scaled", name+"/offset")
}

// Unscale undoes Rescale and returns what that was given, scales above 0; nil if the model does not end so.
func (m *Model) Unscale() (scale, offset []float32) {
	first := len(m.Nodes) - 4
	if first < 0 || len(m.Outputs) != 1 {
		return nil, nil
	}
	name, tail := m.Outputs[0].Name, m.Nodes[first:]
	for i, want := range []Node{
		{Op: "Constant", Out: []string{name + "/scale"}},
		{Op: "Constant", Out: []string{name + "/offset"}},
		{Op: "Mul", In: []string{name + unscaled, name + "/scale"}, Out: []string{name + "/scaled"}},
		{Op: "Add", In: []string{name + "/scaled", name + "/offset"}, Out: []string{name}},
	} {
		if n := tail[i]; n.Op != want.Op || !slices.Equal(n.In, want.In) || !slices.Equal(n.Out, want.Out) {
			return nil, nil
		}
	}
	for i, to := range []*[]float32{&scale, &offset} {
		a := tail[i].attribute("value")
		if a == nil || a.Tensor == nil {
			return nil, nil
		}
		*to = a.Tensor.Floats
	}
	isNone := func(x float32) bool { return !(x > 0 && x <= math.MaxFloat32) }
	if len(scale) == 0 || len(scale) != len(offset) || slices.ContainsFunc(scale, isNone) {
		return nil, nil
	}
	m.Nodes = m.Nodes[:first:first]
	m.rename(name+unscaled, name)
	return scale, offset
}

// rename gives a value another name, in nodes alone.
func (m *Model) rename(from, to string) {
	renamed := func(names []string) []string {
		names = slices.Clone(names)
		for i := range names {
			if names[i] == from {
				names[i] = to
			}
		}
		return names
	}
	for i := range m.Nodes {
		m.Nodes[i].In, m.Nodes[i].Out = renamed(m.Nodes[i].In), renamed(m.Nodes[i].Out)
	}
}

// replace gives a tensor other values, or adds it; a first error is passed on.
func (m *Model) replace(name string, shape tensor.Shape, values []float32, err error) error {
	if err != nil {
		return err
	}
	t := Tensor{Name: name, Shape: shape, Floats: values, dtype: typeFloat}
	have := m.Tensor(name)
	switch {
	case have == nil:
		m.Tensors = append(m.Tensors, t)
	case have.typeOf() != typeFloat:
		return &UnsupportedError{File: m.Path, Reason: fmt.Sprintf(
			"the weights %s are no float32; only a file with weights of float32 can be written again", name)}
	default:
		*have = t
	}
	return nil
}

// dropUnread removes tensors that no node reads any more.
func (m *Model) dropUnread() {
	isRead := map[string]bool{m.Outputs[0].Name: true}
	for _, n := range m.Nodes {
		for _, in := range n.In {
			isRead[in] = true
		}
	}
	m.Tensors = slices.DeleteFunc(m.Tensors, func(t Tensor) bool { return !isRead[t.Name] })
}
