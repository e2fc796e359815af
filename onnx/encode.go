package onnx

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
)

// The version of operators in models that FromGraph makes: every reader of the last years knows it. Only GELU
// came later.
const (
	writtenOpset = 17
	opsetOfGELU  = 20
)

// formatOf returns the version of the format that came with a version of operators, at least the one that
// every reader knows.
func formatOf(opset int) int64 {
	switch {
	case opset >= 21:
		return 10
	case opset >= 19:
		return 9
	}
	return 8
}

// Encode returns the bytes of a file with the model. Equal models give equal bytes.
func (m *Model) Encode() []byte {
	var b bytes.Buffer
	m.WriteTo(&b) // which has no error
	return b.Bytes()
}

// WriteTo writes a file with the model to w. It implements io.WriterTo; errors are those of w.
func (m *Model) WriteTo(w io.Writer) (n int64, err error) {
	counted := &counter{to: bufio.NewWriterSize(w, 1<<16)}
	m.write(counted)
	if err := counted.to.Flush(); err != nil {
		return counted.n, err
	}
	return counted.n, nil
}

// counter counts what is written; the writer below keeps the first error.
type counter struct {
	to *bufio.Writer
	n  int64
}

func (c *counter) Write(b []byte) (int, error) {
	c.n += int64(len(b))
	return c.to.Write(b)
}

// write writes the model. Tensors go from the model to w without a copy of all.
func (m *Model) write(w io.Writer) {
	var front, middle, back, opset message
	for _, n := range m.Nodes {
		front.sub(1, n.encode())
	}
	front.text(2, "lockstep")
	size := len(front)
	heads := make([]message, len(m.Tensors))
	for i := range m.Tensors {
		t := &m.Tensors[i]
		t.encodeHead(&heads[i])
		size += len(heads[i]) + t.bytes()
	}
	for _, v := range m.Inputs {
		back.sub(11, v.encode())
	}
	for _, v := range m.Outputs {
		back.sub(12, v.encode())
	}
	size += len(back)
	middle.integer(1, formatOf(m.Opset))
	middle.text(2, m.Producer)
	middle.key(7, wireBytes)
	middle = binary.AppendUvarint(middle, uint64(size))
	w.Write(middle)
	w.Write(front)
	for i := range m.Tensors {
		w.Write(heads[i])
		m.Tensors[i].writeData(w)
	}
	opset.text(1, "")
	opset.integer(2, int64(m.Opset))
	back.sub(8, opset)
	for _, key := range slices.Sorted(maps.Keys(m.Metadata)) {
		var e message
		e.text(1, key)
		e.text(2, m.Metadata[key])
		back.sub(14, e)
	}
	w.Write(back)
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
		if a.Tensor == nil { // as in a damaged file
			break
		}
		var b bytes.Buffer
		var head message
		a.Tensor.encodeHead(&head)
		a.Tensor.writeData(&b)
		_, n := binary.Uvarint(head[1:]) // of the field that a tensor of a graph is
		out.key(5, wireBytes)
		out = binary.AppendUvarint(out, uint64(len(head)-1-n+b.Len()))
		out = append(append(out, head[1+n:]...), b.Bytes()...)
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

// typeOf returns the type of the elements in a file.
func (t *Tensor) typeOf() int {
	switch {
	case t.isFloat() && isFloat(t.dtype):
		return t.dtype
	case t.isFloat():
		return typeFloat
	case t.dtype == 0 || isFloat(t.dtype):
		return typeInt64
	}
	return t.dtype
}

// sizeOf returns the bytes of an element of a type, 0 if it is none that is read.
func sizeOf(dtype int) int {
	switch dtype {
	case typeDouble, typeInt64:
		return 8
	case typeFloat, typeInt32:
		return 4
	case typeFloat16, typeBFloat16:
		return 2
	case typeUint8, typeInt8, typeBool:
		return 1
	}
	return 0
}

// bytes returns the length of the elements in a file.
func (t *Tensor) bytes() int { return sizeOf(t.typeOf()) * (len(t.Floats) + len(t.Ints)) }

// encodeHead writes what stands in front of the elements, as field 5 of a message of a graph.
func (t *Tensor) encodeHead(out *message) {
	shape := make([]int64, len(t.Shape))
	for i, n := range t.Shape {
		shape[i] = int64(n)
	}
	var head message
	head.integers(1, shape)
	head.integer(2, int64(t.typeOf()))
	head.text(8, t.Name)
	head.key(9, wireBytes)
	head = binary.AppendUvarint(head, uint64(t.bytes()))
	out.key(5, wireBytes)
	*out = binary.AppendUvarint(*out, uint64(len(head)+t.bytes()))
	*out = append(*out, head...)
}

// writeData writes the elements.
func (t *Tensor) writeData(w io.Writer) {
	var element [8]byte
	dtype := t.typeOf()
	size := sizeOf(dtype)
	for _, v := range t.Floats {
		binary.LittleEndian.PutUint64(element[:], floatBits(v, dtype))
		w.Write(element[:size])
	}
	for _, v := range t.Ints {
		binary.LittleEndian.PutUint64(element[:], uint64(v))
		w.Write(element[:size])
	}
}

// floatBits returns v as the bits of a type. Values that were read from a narrow type fit it.
func floatBits(v float32, dtype int) uint64 {
	bits := math.Float32bits(v)
	switch dtype {
	case typeDouble:
		return math.Float64bits(float64(v))
	case typeBFloat16:
		return uint64(bits >> 16)
	case typeFloat16:
		return uint64(halfBits(v))
	}
	return uint64(bits)
}

// halfBits is the inverse of half.
func halfBits(v float32) uint16 {
	bits := math.Float32bits(v)
	sign := uint16(bits >> 16 & 0x8000)
	magnitude := math.Abs(float64(v))
	switch {
	case v != v:
		return sign | 0x7e00
	case magnitude > 65504:
		return sign | 0x7c00
	case magnitude < 0x1p-14:
		return sign | uint16(magnitude*0x1p24)
	}
	return sign | uint16(bits>>23&0xff-112)<<10 | uint16(bits>>13&0x3ff)
}

// axisNames are what axes without a size are called in written files.
func axisName(i int) string {
	switch i {
	case 0:
		return "batch"
	case 1:
		return "sequence"
	}
	return "axis" + strconv.Itoa(i)
}

func (v Value) encode() (out message) {
	var whole, shape, kind message
	for i, n := range v.Axes {
		var axis message
		if n == 0 {
			axis.text(2, axisName(i))
		} else {
			axis.integer(1, int64(n))
		}
		shape.sub(1, axis)
	}
	dtype := v.dtype
	switch {
	case dtype != 0:
	case v.IsFloat:
		dtype = typeFloat
	default:
		dtype = typeInt64
	}
	kind.integer(1, int64(dtype))
	kind.sub(2, shape)
	whole.sub(1, kind)
	out.text(1, v.Name)
	out.sub(2, whole)
	return out
}
