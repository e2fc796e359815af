package onnx

import "lockstep/tensor"

// Model is the contents of an ONNX file.
type Model struct {
	// Path is that of the file, "" if there is none.
	Path string
	// Opset is the version of the standard operators, Producer what wrote the file.
	Opset    int
	Producer string
	// Metadata is what the file says of itself.
	Metadata map[string]string
	// Nodes are in an order in which they can be computed.
	Nodes []Node
	// Tensors are the weights and other constants, by name.
	Tensors []Tensor
	// Inputs are what is computed from, without the tensors; Outputs are what is computed.
	Inputs, Outputs []Value
}

// Node is one use of an operator.
type Node struct {
	// Name is often "" or made up; Op is the operator, such as "Conv", of a Domain, "" being the standard
	// one.
	Name, Op, Domain string
	// In and Out are names of values; "" stands for one that is left out.
	In, Out    []string
	Attributes []Attribute
}

// Attribute is a setting of a node. Which field counts, the operator says.
type Attribute struct {
	Name   string
	Float  float32
	Int    int64
	Text   string
	Floats []float32
	Ints   []int64
	Tensor *Tensor
	// Kind is the number that the format has for the field that counts.
	Kind Kind
}

// Kind is the kind of an attribute.
type Kind int

// The kinds of attributes that are read and written.
const (
	KindFloat  Kind = 1
	KindInt    Kind = 2
	KindText   Kind = 3
	KindTensor Kind = 4
	KindFloats Kind = 6
	KindInts   Kind = 7
)

// Tensor is a constant: either Floats or Ints has its values, in row-major order.
type Tensor struct {
	Name   string
	Shape  tensor.Shape
	Floats []float32 // of float32, float64, float16 and bfloat16
	Ints   []int64   // of integers and truth values
	dtype  int       // as the file has it; 0: float32 or int64
}

// isFloat reports whether the tensor has floats. One of no elements has integers.
func (t *Tensor) isFloat() bool { return t.Floats != nil }

// Value describes an input or an output.
type Value struct {
	Name    string
	IsFloat bool
	// Axes are the sizes of the axes, 0 for one that has a name or nothing.
	Axes  []int
	dtype int // as the file has it; 0: float32 or int64
}

// Tensor returns the tensor of a name, nil if there is none. It takes time in the number of tensors.
func (m *Model) Tensor(name string) *Tensor {
	for i := range m.Tensors {
		if m.Tensors[i].Name == name {
			return &m.Tensors[i]
		}
	}
	return nil
}

// attribute returns the attribute of a name, nil if the node has none.
func (n *Node) attribute(name string) *Attribute {
	for i := range n.Attributes {
		if n.Attributes[i].Name == name {
			return &n.Attributes[i]
		}
	}
	return nil
}

func (n *Node) integer(name string, otherwise int) int {
	if a := n.attribute(name); a != nil {
		return int(a.Int)
	}
	return otherwise
}

func (n *Node) float(name string, otherwise float32) float32 {
	if a := n.attribute(name); a != nil {
		return a.Float
	}
	return otherwise
}

func (n *Node) text(name, otherwise string) string {
	if a := n.attribute(name); a != nil {
		return a.Text
	}
	return otherwise
}

// integers returns a list, nil if the node has none.
func (n *Node) integers(name string) []int {
	a := n.attribute(name)
	if a == nil {
		return nil
	}
	list := make([]int, len(a.Ints))
	for i, v := range a.Ints {
		list[i] = int(v)
	}
	return list
}
