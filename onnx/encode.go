package onnx

import (
	"encoding/binary"
	"math"
)

// The versions that are written: of the format, which every reader of the last years knows, and of operators.
const (
	writtenIR    = 8
	WrittenOpset = 17
)

// Encode returns the bytes of a file with the model. Equal models give equal bytes.
func (m *Model) Encode() []byte {
	var out, graph, opset message
	out.integer(1, writtenIR)
	out.text(2, m.Producer)
	for _, n := range m.Nodes {
		graph.sub(1, n.encode())
	}
	graph.text(2, "lockstep")
	for _, t := range m.Tensors {
		graph.sub(5, t.encode())
	}
	for _, v := range m.Inputs {
		graph.sub(11, v.encode())
	}
	for _, v := range m.Outputs {
		graph.sub(12, v.encode())
	}
	out.sub(7, graph)
	opset.text(1, "")
	opset.integer(2, int64(m.Opset))
	out.sub(8, opset)
	return out
}

func (n Node) encode() (out message) {
	for _, name := range n.In {
		out.text(1, name)
	}
	for _, name := range n.Out {
		out.text(2, name)
	}
	out.text(3, n.Name)
	out.text(4, n.Op)
	for _, a := range n.Attributes {
		out.sub(5, a.encode())
	}
	if n.Domain != "" {
		out.text(7, n.Domain)
	}
	return out
}

func (a Attribute) encode() (out message) {
	out.text(1, a.Name)
	switch a.Kind {
	case KindFloat:
		out.float(2, a.Float)
	case KindInt:
		out.key(3, wireVarint)
		out = binary.AppendUvarint(out, uint64(a.Int))
	case KindText:
		out.text(4, a.Text)
	case KindTensor:
		out.sub(5, a.Tensor.encode())
	case KindFloats:
		for _, v := range a.Floats {
			out.float(7, v)
		}
	case KindInts:
		for _, v := range a.Ints {
			out.key(8, wireVarint)
			out = binary.AppendUvarint(out, uint64(v))
		}
	}
	out.integer(20, int64(a.Kind))
	return out
}

func (t *Tensor) encode() (out message) {
	shape := make([]int64, len(t.Shape))
	for i, n := range t.Shape {
		shape[i] = int64(n)
	}
	out.integers(1, shape)
	raw := make([]byte, 0, 8*len(t.Ints)+4*len(t.Floats))
	if t.isFloat() {
		out.integer(2, typeFloat)
		for _, v := range t.Floats {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
		}
	} else {
		out.integer(2, typeInt64)
		for _, v := range t.Ints {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
		}
	}
	out.text(8, t.Name)
	out.sub(9, raw)
	return out
}

// batchAxis is what the first axis, if it has no size, is called in written files.
const batchAxis = "batch"

func (v Value) encode() (out message) {
	var whole, shape, kind message
	for _, n := range v.Axes {
		var axis message
		if n == 0 {
			axis.text(2, batchAxis)
		} else {
			axis.integer(1, int64(n))
		}
		shape.sub(1, axis)
	}
	if v.IsFloat {
		kind.integer(1, typeFloat)
	} else {
		kind.integer(1, typeInt64)
	}
	kind.sub(2, shape)
	whole.sub(1, kind)
	out.text(1, v.Name)
	out.sub(2, whole)
	return out
}
