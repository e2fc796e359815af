package onnx

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/op"
	"lockstep/tensor"
)

// UnsupportedError says what of a file cannot become part of a graph.
type UnsupportedError struct {
	File   string // "" where bytes were decoded
	Node   string // its name, or its number and first result if it has none
	Op     string
	Reason string
}

// Error implements error.
func (e *UnsupportedError) Error() string {
	where := "onnx"
	if e.File != "" {
		where += ": " + e.File
	}
	if e.Op == "" {
		return where + ": " + e.Reason
	}
	return fmt.Sprintf("%s: node %s, %s: %s", where, e.Node, e.Op, e.Reason)
}

// value is a value of the file while its graph is built.
type value struct {
	// node is what the graph has for it; nil for a constant.
	node *graph.Node
	// axes is the shape that the file means.
	axes tensor.Shape
	// isMap says that node is [N, H, W, C], the file's value being [N, C, H, W]. With isFlat as well, that
	// value is the map as [N, C*H*W].
	isMap, isFlat bool
	// constant is what is known while the graph is built. A trained one becomes a parameter where it is used.
	constant *Tensor
	trained  bool
}

// builder adds the nodes of a model to a graph.
type builder struct {
	model  *Model
	g      *graph.Graph
	batch  int // samples of the graph
	fixed  int // samples that the file was exported for; 0: any number
	heads  map[string]bool
	fresh  int // classes of a head that is drawn anew; 0: the file's head
	values map[string]*value
	kinds  *graph.Node           // the part that each token of a text is of, 0 or 1
	params map[string]*parameter // by name
	node   *Node                 // that is being added
	number int                   // of it
	names  []renaming
	err    error
}

// renaming says that a node reads a tensor which the graph has under another name.
type renaming struct {
	node     int
	from, to string
}

// rename keeps a renaming by the present node.
func (b *builder) rename(from, to string) {
	if from != to {
		b.names = append(b.names, renaming{b.number, from, to})
	}
}

// parameter is a tensor as the graph has it.
type parameter struct {
	node   *graph.Node
	layout tensor.Layout
	user   string // the node that made it
}

// Options say how Build differs from the file.
type Options struct {
	// FreshClasses is the number of outputs of a last layer that is drawn anew, in the place of the file's; 0
	// keeps that.
	FreshClasses int
}

// Build adds the model to the graph of x and returns its first output, [N, values]. x is what the first input
// reads: images [N, H, W, C], or the texts of Graph.Texts, which are padded to their most tokens. Errors are
// *UnsupportedError; the graph then has an error too.
func (m *Model) Build(x *graph.Node, o Options) (*graph.Node, error) {
	logits, _, err := m.build(x, o)
	return logits, err
}

// build is Build, and returns the renamings.
func (m *Model) build(x *graph.Node, o Options) (*graph.Node, []renaming, error) {
	b := &builder{model: m, g: x.Graph(), values: map[string]*value{}, params: map[string]*parameter{},
		fresh: o.FreshClasses}
	b.heads = m.heads()
	b.inputs(x)
	for i := range m.Tensors {
		t := &m.Tensors[i]
		b.values[t.Name] = &value{constant: t, axes: t.Shape, trained: t.isFloat() && len(t.Floats) > 1}
	}
	last := b.skipSoftmax(m.Outputs[0].Name)
	isNeeded := m.leadsTo(last)
	for i := range m.Nodes {
		if b.err != nil {
			break
		}
		b.node, b.number = &m.Nodes[i], i
		if isNeeded[i] {
			b.add(i)
		}
	}
	b.node = nil
	var logits *graph.Node
	if b.err == nil {
		logits = b.output(last)
	}
	if b.err == nil {
		b.err = b.g.Err()
	}
	if b.err != nil {
		return b.g.Apply(failure{b.err}, x)[0], nil, b.err
	}
	return logits, b.names, nil
}

// failure is an op that fails with what went wrong, so that the graph has the error.
type failure struct{ err error }

// Name implements graph.Custom.
func (f failure) Name() string { return "onnx" }

// Infer implements graph.Custom.
func (f failure) Infer([]graph.Type) ([]graph.Type, error) { return nil, f.err }

// FLOPs implements graph.Custom.
func (f failure) FLOPs(_, _ []graph.Type) int64 { return 0 }

// Kernel implements graph.Custom.
func (f failure) Kernel(*compute.CPU, []graph.Type, []graph.Type) graph.Kernel { return graph.Kernel{} }

// Gradient implements graph.Custom.
func (f failure) Gradient(in, _, _ []*graph.Node) []*graph.Node { return make([]*graph.Node, len(in)) }

// maker returns the number of the node that computes a value, -1 if none does, as of "", which is left out.
func (m *Model) maker(name string) int {
	if name == "" {
		return -1
	}
	return slices.IndexFunc(m.Nodes, func(n Node) bool { return slices.Contains(n.Out, name) })
}

// leadsTo reports which nodes a value depends on.
func (m *Model) leadsTo(name string) []bool {
	needed, nodes := map[string]bool{name: true}, make([]bool, len(m.Nodes))
	for i := len(m.Nodes) - 1; i >= 0; i-- {
		n := &m.Nodes[i]
		if nodes[i] = slices.ContainsFunc(n.Out, func(o string) bool { return needed[o] }); nodes[i] {
			for _, in := range n.In {
				needed[in] = in != ""
			}
		}
	}
	return nodes
}

// skipSoftmax returns the value in front of a softmax that computes name.
func (b *builder) skipSoftmax(name string) string {
	i := b.model.maker(name)
	if i < 0 || len(b.model.Nodes[i].In) == 0 {
		return name
	}
	switch n := b.model.Nodes[i]; n.Op {
	case "Softmax", "LogSoftmax", "Identity":
		return b.skipSoftmax(n.In[0])
	}
	return name
}

// heads returns the names of the tensors of the last layer with weights.
func (m *Model) heads() map[string]bool {
	heads := map[string]bool{}
	name := m.Outputs[0].Name
	for {
		i := m.maker(name)
		if i < 0 || len(m.Nodes[i].In) == 0 {
			return heads
		}
		n := &m.Nodes[i]
		switch n.Op {
		case "Softmax", "LogSoftmax", "Identity", "Flatten", "Reshape", "Squeeze", "Dropout":
		case "Add": // of a bias
			before := name
			for k, in := range n.In {
				if t := m.Tensor(in); t != nil && len(n.In) == 2 {
					heads[in] = true
					name = n.In[1-k]
				}
			}
			if name != before {
				continue
			}
			return map[string]bool{}
		case "Gemm", "MatMul", "Conv":
			for _, in := range n.In[1:] {
				heads[in] = true
			}
			return heads
		default:
			return map[string]bool{}
		}
		name = n.In[0]
	}
}

// fail keeps the first error, about the present node.
func (b *builder) fail(format string, args ...any) {
	if b.err != nil {
		return
	}
	e := &UnsupportedError{File: b.model.Path, Reason: fmt.Sprintf(format, args...)}
	if n := b.node; n != nil {
		e.Node, e.Op = n.Name, n.Op
		if n.Domain != "" {
			e.Op = n.Domain + "." + n.Op
		}
		if e.Node == "" && len(n.Out) > 0 {
			e.Node = "of " + n.Out[0]
		}
	}
	b.err = e
}

// in returns input i of the present node, nil if it is left out.
func (b *builder) in(i int) *value {
	if i >= len(b.node.In) || b.node.In[i] == "" {
		return nil
	}
	return b.values[b.node.In[i]]
}

// must is in for an input that cannot be left out.
func (b *builder) must(i int) *value {
	v := b.in(i)
	if v == nil {
		b.fail("input %d is missing", i)
		v = &value{constant: &Tensor{Shape: tensor.Shape{}, Floats: []float32{0}}, axes: tensor.Shape{}}
	}
	return v
}

// set names result i of the present node.
func (b *builder) set(i int, v *value) {
	if i < len(b.node.Out) && b.node.Out[i] != "" {
		b.values[b.node.Out[i]] = v
	}
}

// plain makes a node the first result, as it is.
func (b *builder) plain(n *graph.Node) { b.set(0, &value{node: n, axes: n.Shape()}) }

// mapped makes a node, [N, H, W, C], the first result.
func (b *builder) mapped(n *graph.Node) { b.set(0, mapOf(n)) }

func mapOf(n *graph.Node) *value {
	s := n.Shape()
	if len(s) != 4 {
		return &value{node: n, axes: s}
	}
	return &value{node: n, axes: tensor.Shape{s[0], s[3], s[1], s[2]}, isMap: true}
}

// like makes a node of the same kind as v the first result.
func (b *builder) like(v *value, n *graph.Node) {
	b.set(0, &value{node: n, axes: v.axes, isMap: v.isMap, isFlat: v.isFlat})
}

// elements returns the node of v for an op that does the same with each element.
func (b *builder) elements(v *value) *graph.Node {
	if v.node != nil {
		return v.node
	}
	return b.rows(v)
}

// rows returns v as a node of the file's shape and order.
func (b *builder) rows(v *value) *graph.Node {
	if v.node == nil {
		return b.stored(v, tensor.Layout{})
	}
	n := v.node
	if v.isMap {
		if s := n.Shape(); len(s) == 4 && s[1]*s[2] != 1 && s[3] != 1 {
			n = op.Transpose(n, 0, 3, 1, 2)
		}
		if !n.Shape().Equal(v.axes) {
			n = graph.Reshape(n, v.axes)
		}
	}
	return n
}

// image returns v, a value of four axes, as a map [N, H, W, C].
func (b *builder) image(v *value) *graph.Node {
	switch {
	case v.isMap && !v.isFlat:
		return v.node
	case len(v.axes) != 4:
		b.fail("reads a value of shape %v, want a map [N, C, H, W]", v.axes)
	}
	return op.Transpose(b.rows(v), 0, 2, 3, 1)
}

// stored returns a constant as a node: a parameter of the given layout if it is trained. A parameter that is
// used in two layouts is transposed for the second.
func (b *builder) stored(v *value, layout tensor.Layout) *graph.Node {
	t := v.constant
	if !v.trained {
		if !t.isFloat() {
			t = t.floats()
		}
		values := make([]float32, len(t.Floats))
		if len(layout.View) == 0 {
			copy(values, t.Floats)
			return op.Constant(b.g, t.Shape, values...)
		}
		layout.FromCanonical(values, t.Floats)
		return op.Constant(b.g, graph.Param{Shape: t.Shape, Layout: layout}.Stored(), values...)
	}
	own := b.untied(t)
	b.rename(t.Name, own.Name)
	t = own
	p := b.params[t.Name]
	if p == nil {
		p = &parameter{layout: layout, user: b.node.Name}
		p.node = b.g.Parameter(b.param(t, layout))
		b.params[t.Name] = p
	}
	if slices.Equal(p.layout.Perm, layout.Perm) && p.layout.View.Equal(layout.View) {
		return p.node
	}
	return relaid(p.node, p.layout, layout, t.Shape)
}

// untied returns a tensor, or a copy of another name if it is the parameter of another node and all its
// elements are equal: PyTorch writes such parameters, as the gains of several norms before training, once.
func (b *builder) untied(t *Tensor) *Tensor {
	name := t.Name
	for i := 2; ; i++ {
		p := b.params[name]
		if p == nil || p.user == b.node.Name || slices.ContainsFunc(t.Floats, func(f float32) bool {
			return f != t.Floats[0]
		}) {
			break
		}
		name = fmt.Sprintf("%s.%d", t.Name, i)
	}
	copied := *t
	copied.Name = name
	return &copied
}

// relaid returns a parameter that is stored as one layout says as another one says.
func relaid(n *graph.Node, from, to tensor.Layout, shape tensor.Shape) *graph.Node {
	if len(from.Perm) > 0 {
		back := make([]int, len(from.Perm))
		for i, a := range from.Perm {
			back[a] = i
		}
		n = op.Transpose(n, back...)
	}
	if len(to.Perm) == 0 {
		return graph.Reshape(n, shape)
	}
	return op.Transpose(graph.Reshape(n, to.View), to.Perm...)
}

// param describes a tensor as a parameter. A head that is drawn anew has other outputs.
func (b *builder) param(t *Tensor, layout tensor.Layout) graph.Param {
	p := graph.Param{Name: t.Name, Shape: t.Shape, Layout: layout, Init: graph.Given(t.Floats),
		Role: graph.RoleBias}
	if len(p.Shape) > 1 {
		p.Role = graph.RoleMatrix
	}
	switch {
	case b.heads[t.Name] && len(p.Shape) > 1:
		p.Role = graph.RoleHead
	case b.node != nil && b.node.Op == "Gather":
		p.Role = graph.RoleTable
	case len(p.Layout.Perm) == 0 && len(p.Shape) != 2:
		p.Role = graph.RoleBias // no matrix
	}
	if b.fresh > 0 && b.heads[t.Name] {
		p = b.redrawn(p)
	}
	return p
}

// redrawn returns a parameter of the head with another number of outputs.
func (b *builder) redrawn(p graph.Param) graph.Param {
	n := b.node
	isBias := n.Op == "Add" || len(n.In) > 2 && n.In[2] == p.Name
	outputs := func(s tensor.Shape) int { // the axis; the view of a matrix splits the features alone
		switch {
		case isBias:
			return slices.Index(s, slices.Max(s))
		case n.Op == "MatMul" || n.Op == "Gemm" && n.integer("transB", 0) == 0:
			return len(s) - 1
		}
		return 0
	}
	p.Shape, p.Layout.View = p.Shape.Clone(), p.Layout.View.Clone()
	p.Shape[outputs(p.Shape)] = b.fresh
	if view := p.Layout.View; len(view) > 0 {
		view[outputs(view)] = b.fresh
	}
	if isBias {
		p.Role, p.Init = graph.RoleBias, nil // starts at 0
		return p
	}
	p.Init = graph.Uniform{Bound: 1 / math.Sqrt(float64(p.Shape.Elems()/b.fresh))}
	return p
}

// constantOf returns input i of the present node, which must be known while the graph is built and not
// trained.
func (b *builder) constantOf(i int) *Tensor {
	v := b.in(i)
	if v == nil || v.constant == nil {
		if v != nil {
			b.fail("input %d depends on the samples; only a constant is supported", i)
		}
		return nil
	}
	return v.constant
}

// integersOf returns a list of integers: input i of the present node, or the attribute of a name, which older
// versions of an operator have.
func (b *builder) integersOf(i int, name string) (list []int, ok bool) {
	if a := b.node.attribute(name); a != nil {
		return b.node.integers(name), true
	}
	t := b.constantOf(i)
	if t == nil {
		return nil, false
	}
	for k := range t.Shape.Elems() {
		if t.isFloat() {
			list = append(list, int(integer(t.at(k))))
		} else {
			list = append(list, int(t.Ints[k]))
		}
	}
	return list, true
}

// floats returns a tensor of integers as one of floats.
func (t *Tensor) floats() *Tensor {
	f := &Tensor{Name: t.Name, Shape: t.Shape, Floats: make([]float32, len(t.Ints))}
	for i, v := range t.Ints {
		f.Floats[i] = float32(v)
	}
	return f
}

// at returns element i.
func (t *Tensor) at(i int) float64 {
	if t.isFloat() {
		return float64(t.Floats[i])
	}
	return float64(t.Ints[i])
}

// output returns the logits.
func (b *builder) output(name string) *graph.Node {
	v := b.values[name]
	if v == nil || v.node == nil {
		b.fail("the output %s does not depend on the samples", name)
		return nil
	}
	n := b.rows(v)
	s := n.Shape()
	if len(s) > 2 && len(s) > 0 && s[1:].Elems() == s[len(s)-1] || len(s) == 4 && s[2]*s[3] == 1 {
		n = graph.Flatten(n)
		s = n.Shape()
	}
	if len(s) != 2 || s[0] != b.batch {
		b.fail("the output %s has shape %v for %d samples, want [samples, values]", name, s, b.batch)
	}
	return n
}

// nameOf returns what a person can find a node by.
func (n *Node) nameOf(i int) string {
	if n.Name != "" {
		return n.Name
	}
	return fmt.Sprintf("%d (%s)", i, strings.Join(n.Out, ", "))
}
