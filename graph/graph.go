package graph

import (
	"fmt"
	"strings"

	"lockstep/tensor"
)

// Type is what is known about a value before any program runs.
type Type struct {
	Shape tensor.Shape
	DType tensor.DType
	// Ragged means that the first axis counts the tokens of texts, one text after another. The shape has
	// the largest possible number of tokens; a run computes only the rows of the tokens it is given.
	Ragged bool
}

// String formats the type as its shape, with the element type unless it is float32.
func (t Type) String() string {
	if t.DType == tensor.Float32 {
		return t.Shape.String()
	}
	return t.DType.String() + t.Shape.String()
}

// Bytes returns the storage size of a value of this type.
func (t Type) Bytes() int64 { return int64(t.Shape.Elems()) * int64(t.DType.Bytes()) }

// floats returns the storage size in elements of 4 bytes.
func (t Type) floats() int { return int((t.Bytes() + 3) / 4) }

// float is the type of a float32 value.
func float(axes ...int) Type { return Type{Shape: axes} }

// Graph is a network under construction. Its zero value is not usable: call New.
type Graph struct {
	inputs []*Node
	texts  texts // the inputs that Texts added
	sites  int   // places where dropout draws
	calls  []*call
	params []Param
	states []State
	// paramNodes and stateNodes are the nodes of params and states.
	paramNodes, stateNodes []*Node
	err                    error // the first one
}

// New returns an empty graph.
func New() *Graph { return &Graph{} }

// Err returns the first error met while building, which Compile will return as well.
func (g *Graph) Err() error { return g.err }

// origin says where a node's values come from.
type origin uint8

const (
	computed origin = iota // by an op
	input                  // set by the caller before each forward pass
	parameter
	state
	broken // stands in for the result of an op that could not be built
)

// Node is one tensor of the graph: an input, a parameter, or a result of an op.
type Node struct {
	graph  *Graph
	typ    Type
	origin origin
	number int    // among the graph's nodes of the same origin
	name   string // of an input, parameter or state
	call   *call  // the op application this is a result of
}

// Graph returns the graph the node belongs to.
func (n *Node) Graph() *Graph { return n.graph }

// Shape returns the node's shape as stored. It is nil for the result of an op that could not be
// built.
func (n *Node) Shape() tensor.Shape { return n.typ.Shape }

// call is one application of an op.
type call struct {
	op       Op
	in, out  []*Node
	label    string // the layer it belongs to, as far as parameter names tell
	backward bool
	again    bool // repeats a call of the forward pass
	trails   int  // see trailing
}

// Input adds a float32 value that the caller sets before each forward pass.
func (g *Graph) Input(name string, shape tensor.Shape) *Node {
	return g.addInput(name, Type{Shape: shape.Clone()})
}

// Labels adds n int32 values, such as class numbers, that the caller sets before each forward pass.
func (g *Graph) Labels(name string, n int) *Node {
	return g.addInput(name, Type{Shape: tensor.Shape{n}, DType: tensor.Int32})
}

// texts are the inputs of a graph that reads texts.
type texts struct {
	tokens *Node // ids of all texts' tokens, one text after another
	starts *Node // where in tokens each text starts, and where the last one ends, [N+1]
	splits *Node // how many tokens of each text stand before its second part, 0 if it has none, [N]
	most   int   // tokens of a text
}

// Texts adds n texts, each of 1 to most tokens, that the caller sets before each forward pass, and returns
// their tokens, ragged [n*most]. A graph can have only one such input.
//
// There is no padding: values computed from tokens have one row per token, whatever the texts' lengths. The
// results do not depend on most.
func (g *Graph) Texts(name string, n, most int) *Node {
	if g.texts.tokens != nil {
		g.fail(fmt.Errorf("graph: texts %s: there are texts %s already", name, g.texts.tokens.name))
	}
	if n < 1 || most < 1 {
		g.fail(fmt.Errorf("graph: texts %s: %d texts of %d tokens", name, n, most))
	}
	int32s := func(n int) Type { return Type{Shape: tensor.Shape{n}, DType: tensor.Int32} }
	tokens := int32s(n * most)
	tokens.Ragged = true
	g.texts = texts{tokens: g.addInput(name, tokens), starts: g.addInput(name+" starts", int32s(n+1)),
		splits: g.addInput(name+" splits", int32s(n)), most: most}
	return g.texts.tokens
}

func (g *Graph) addInput(name string, t Type) *Node {
	for _, n := range g.inputs {
		if n.name == name {
			g.fail(fmt.Errorf("graph: input %s: the name is taken", name))
		}
	}
	n := &Node{graph: g, typ: t, origin: input, number: len(g.inputs), name: name}
	g.inputs = append(g.inputs, n)
	return n
}

// Parameter adds a trained tensor. The node has the stored shape: p.Layout's view, permuted.
// Parameters are numbered from 0 in the order of these calls.
func (g *Graph) Parameter(p Param) *Node {
	n := &Node{graph: g, typ: Type{Shape: p.Stored()}, origin: parameter,
		number: len(g.paramNodes), name: p.Name}
	if err := p.validate(); err != nil {
		g.fail(fmt.Errorf("graph: parameter %s: %w", p.Name, err))
	}
	if g.hasName(p.Name) {
		g.fail(fmt.Errorf("graph: parameter %s: the name is taken", p.Name))
	}
	g.paramNodes, g.params = append(g.paramNodes, n), append(g.params, p)
	return n
}

// Params returns the parameters that have been added, by number.
func (g *Graph) Params() []Param { return g.params }

// HasState reports whether a tensor is updated without a gradient, as batch norm's running mean is.
func (g *Graph) HasState() bool { return len(g.states) > 0 }

// State adds a tensor that training updates without a gradient, such as a running mean. States
// are numbered from 0 in the order of these calls.
func (g *Graph) State(s State) *Node {
	n := &Node{graph: g, typ: Type{Shape: s.Shape.Clone()}, origin: state,
		number: len(g.stateNodes), name: s.Name}
	if g.hasName(s.Name) {
		g.fail(fmt.Errorf("graph: state %s: the name is taken", s.Name))
	}
	g.stateNodes, g.states = append(g.stateNodes, n), append(g.states, s)
	return n
}

func (g *Graph) hasName(name string) bool {
	for _, p := range g.params {
		if p.Name == name {
			return true
		}
	}
	for _, s := range g.states {
		if s.Name == name {
			return true
		}
	}
	return false
}

// fail keeps the first error.
func (g *Graph) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// apply adds one application of op and returns its results. An op that does not fit its inputs
// records an error and yields one broken node, which later ops pass on silently.
func (g *Graph) apply(op Op, in ...*Node) []*Node {
	types := make([]Type, len(in))
	for i, n := range in {
		if n == nil || n.origin == broken {
			if g.err == nil {
				g.fail(fmt.Errorf("graph: %s: input %d is missing", op.name(), i))
			}
			return []*Node{{graph: g, origin: broken}}
		}
		if n.graph != g {
			g.fail(fmt.Errorf("graph: %s: input %d belongs to another graph", op.name(), i))
		}
		types[i] = n.typ
	}
	if err := checkRagged(op, types); err != nil {
		g.fail(fmt.Errorf("graph: %s%s: %w", op.name(), describe(in), err))
		return []*Node{{graph: g, origin: broken}}
	}
	results, err := op.infer(types)
	if err != nil {
		g.fail(fmt.Errorf("graph: %s%s: %w", op.name(), describe(in), err))
		return []*Node{{graph: g, origin: broken}}
	}
	c := &call{op: op, in: in, label: layerOf(in)}
	for i, t := range results {
		c.out = append(c.out, &Node{graph: g, typ: t, number: i, call: c})
	}
	g.calls = append(g.calls, c)
	return c.out
}

// checkRagged fails if op cannot take the tokens of texts but is given them.
func checkRagged(op Op, in []Type) error {
	if _, ok := op.(rowwise); ok {
		return nil
	}
	for _, t := range in {
		if t.Ragged {
			return fmt.Errorf("works on samples, not on the tokens of texts")
		}
	}
	return nil
}

// describe lists inputs with their shapes: " (input [8, 32, 32, 3], conv1.weight [5, 5, 3, 6])".
func describe(in []*Node) string {
	var b strings.Builder
	for i, n := range in {
		name := n.name
		switch {
		case name != "":
		case n.call != nil:
			name = n.call.op.name()
		}
		sep := ", "
		if i == 0 {
			sep = " ("
		}
		fmt.Fprintf(&b, "%s%s %v", sep, name, n.typ)
	}
	if len(in) > 0 {
		b.WriteByte(')')
	}
	return b.String()
}

// layerOf returns the name of the first parameter among in, without its last part.
func layerOf(in []*Node) string {
	for _, n := range in {
		if n.origin == parameter {
			if dot := strings.LastIndexByte(n.name, '.'); dot >= 0 {
				return n.name[:dot]
			}
			return n.name
		}
	}
	return ""
}
