package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"lockstep/internal/regular"
	"lockstep/tensor"
)

// mostBytes bounds a file, as protocol buffers do. Weights beyond lie in files beside it.
const mostBytes = 2 << 30

// Open reads the file at path, and the weights beside it that it names. Errors: *FormatError,
// *UnsupportedError, those of the file system.
func Open(path string) (*Model, error) {
	data, err := read(path, 0, -1)
	if err != nil {
		return nil, err
	}
	m, err := decode(data, filepath.Dir(path))
	if bad := (*FormatError)(nil); errors.As(err, &bad) {
		bad.File = path
	}
	if err != nil {
		return nil, err
	}
	m.Path = path
	return m, nil
}

// read reads length bytes of a file from offset, all if length is negative.
func read(path string, offset, length int64) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	if length < 0 {
		length = info.Size() - offset
	}
	if offset < 0 || length > info.Size()-offset || length > mostBytes {
		return nil, damaged("%s has no %d bytes from %d", filepath.Base(path), length, offset)
	}
	data := make([]byte, length)
	if _, err := io.ReadFull(io.NewSectionReader(f, offset, length), data); err != nil {
		return nil, fmt.Errorf("onnx: read %s: %w", path, err)
	}
	return data, nil
}

// Decode reads the bytes of a file, which has all of its weights in it. Errors: *FormatError.
func Decode(data []byte) (*Model, error) { return decode(data, "") }

// decoder reads a file in a folder, "" if no other file may be read.
type decoder struct {
	folder string
	model  *Model
}

func decode(data []byte, folder string) (*Model, error) {
	d := &decoder{folder, &Model{}}
	isThere := false
	err := fieldsOf(data, func(f field) error {
		switch f.tag {
		case 2:
			d.model.Producer = string(f.bytes)
		case 7:
			isThere = true
			return d.graph(f.bytes)
		case 8:
			return d.opset(f.bytes)
		case 14:
			key, value, err := entry(f.bytes)
			if d.model.Metadata == nil {
				d.model.Metadata = map[string]string{}
			}
			d.model.Metadata[key] = value
			return err
		}
		return nil
	})
	if err == nil && (!isThere || d.model.Opset == 0) {
		err = damaged("no graph and version of operators: no ONNX file, or a part of one")
	}
	if err != nil {
		return nil, err
	}
	return d.model, d.check()
}

// check refuses names that stand for several values, and drops inputs that are tensors.
func (d *decoder) check() error {
	m, made := d.model, map[string]bool{}
	for _, t := range m.Tensors {
		if made[t.Name] {
			return damaged("two tensors are called %.80q", t.Name)
		}
		made[t.Name] = true
	}
	var inputs []Value
	for _, v := range m.Inputs {
		if !made[v.Name] {
			inputs = append(inputs, v)
			made[v.Name] = true
		}
	}
	m.Inputs = inputs
	for i, n := range m.Nodes {
		for _, name := range n.In {
			if name != "" && !made[name] {
				return damaged("node %d, %s, reads %.80q, which nothing before it computes", i, n.Op, name)
			}
		}
		for _, name := range n.Out {
			if name != "" && made[name] {
				return damaged("two nodes compute %.80q", name)
			}
			made[name] = true
		}
	}
	if len(m.Inputs) == 0 || len(m.Outputs) == 0 {
		return damaged("a graph of %d inputs and %d outputs", len(m.Inputs), len(m.Outputs))
	}
	return nil
}

func (d *decoder) opset(data []byte) error {
	domain, version := "", 0
	err := fieldsOf(data, func(f field) error {
		switch f.tag {
		case 1:
			domain = string(f.bytes)
		case 2:
			version = int(f.number)
		}
		return nil
	})
	if domain == "" || domain == "ai.onnx" {
		d.model.Opset = version
	}
	return err
}

func (d *decoder) graph(data []byte) error {
	m := d.model
	return fieldsOf(data, func(f field) error {
		switch f.tag {
		case 1:
			n, err := d.node(f.bytes)
			m.Nodes = append(m.Nodes, n)
			return err
		case 5:
			t, err := d.tensor(f.bytes)
			m.Tensors = append(m.Tensors, t)
			return err
		case 11:
			v, err := d.value(f.bytes)
			m.Inputs = append(m.Inputs, v)
			return err
		case 12:
			v, err := d.value(f.bytes)
			m.Outputs = append(m.Outputs, v)
			return err
		case 15:
			return damaged("sparse tensors are not read")
		}
		return nil
	})
}

func (d *decoder) node(data []byte) (n Node, err error) {
	err = fieldsOf(data, func(f field) error {
		switch f.tag {
		case 1:
			n.In = append(n.In, string(f.bytes))
		case 2:
			n.Out = append(n.Out, string(f.bytes))
		case 3:
			n.Name = string(f.bytes)
		case 4:
			n.Op = string(f.bytes)
		case 5:
			a, err := d.attribute(f.bytes)
			n.Attributes = append(n.Attributes, a)
			return err
		case 7:
			n.Domain = string(f.bytes)
		}
		return nil
	})
	if n.Domain == "ai.onnx" {
		n.Domain = ""
	}
	return n, err
}

func (d *decoder) attribute(data []byte) (a Attribute, err error) {
	err = fieldsOf(data, func(f field) error {
		switch f.tag {
		case 1:
			a.Name = string(f.bytes)
		case 2:
			a.Float, a.Kind = math.Float32frombits(uint32(f.number)), KindFloat
		case 3:
			a.Int, a.Kind = int64(f.number), KindInt
		case 4:
			a.Text, a.Kind = string(f.bytes), KindText
		case 5:
			t, err := d.tensor(f.bytes)
			a.Tensor, a.Kind = &t, KindTensor
			return err
		case 7:
			a.Kind = KindFloats
			return f.floats(func(v float32) { a.Floats = append(a.Floats, v) })
		case 8:
			a.Kind = KindInts
			return f.numbers(func(v uint64) { a.Ints = append(a.Ints, int64(v)) })
		case 20:
			a.Kind = Kind(f.number)
		}
		return nil
	})
	return a, err
}

func (d *decoder) value(data []byte) (v Value, err error) {
	err = fieldsOf(data, func(f field) error {
		switch f.tag {
		case 1:
			v.Name = string(f.bytes)
		case 2:
			return fieldsOf(f.bytes, func(f field) error {
				if f.tag == 1 {
					return v.tensorType(f.bytes)
				}
				return nil
			})
		}
		return nil
	})
	return v, err
}

func (v *Value) tensorType(data []byte) error {
	return fieldsOf(data, func(f field) error {
		switch f.tag {
		case 1:
			v.dtype = int(f.number)
			v.IsFloat = isFloat(v.dtype)
		case 2:
			return fieldsOf(f.bytes, func(f field) error {
				size := 0
				err := fieldsOf(f.bytes, func(f field) error {
					if f.tag == 1 && f.number < 1<<31 {
						size = int(f.number)
					}
					return nil
				})
				v.Axes = append(v.Axes, size)
				return err
			})
		}
		return nil
	})
}

// The types of elements.
const (
	typeFloat    = 1
	typeUint8    = 2
	typeInt8     = 3
	typeInt32    = 6
	typeInt64    = 7
	typeBool     = 9
	typeFloat16  = 10
	typeDouble   = 11
	typeBFloat16 = 16
)

func isFloat(t int) bool {
	return t == typeFloat || t == typeFloat16 || t == typeDouble || t == typeBFloat16
}

// rawTensor is a tensor as the file has it.
type rawTensor struct {
	Tensor
	raw      []byte
	isRaw    bool
	outside  map[string]string
	isBeside bool
	numbers  []uint64 // int32 and int64 values
	floats   []float32
	doubles  []float64
}

func (d *decoder) tensor(data []byte) (Tensor, error) {
	var t rawTensor
	err := fieldsOf(data, func(f field) error {
		switch f.tag {
		case 1:
			return f.numbers(func(v uint64) { t.Shape = append(t.Shape, int(v)) })
		case 2:
			t.dtype = int(f.number)
		case 4:
			return f.floats(func(v float32) { t.floats = append(t.floats, v) })
		case 5, 7:
			return f.numbers(func(v uint64) { t.numbers = append(t.numbers, v) })
		case 8:
			t.Name = string(f.bytes)
		case 9:
			t.raw, t.isRaw = f.bytes, true
		case 10:
			if len(f.bytes)%8 != 0 {
				return damaged("%d bytes of float64", len(f.bytes))
			}
			for b := f.bytes; len(b) > 0; b = b[8:] {
				t.doubles = append(t.doubles, math.Float64frombits(binary.LittleEndian.Uint64(b)))
			}
		case 13:
			key, value, err := entry(f.bytes)
			if t.outside == nil {
				t.outside = map[string]string{}
			}
			t.outside[key] = value
			return err
		case 14:
			t.isBeside = f.number == 1
		}
		return nil
	})
	if err == nil {
		err = t.fill(d.folder)
	}
	if bad := (*FormatError)(nil); errors.As(err, &bad) {
		bad.Reason = fmt.Sprintf("tensor %.80q: %s", t.Name, bad.Reason)
	}
	return t.Tensor, err
}

// entry reads a key and a value.
func entry(data []byte) (key, value string, err error) {
	err = fieldsOf(data, func(f field) error {
		switch f.tag {
		case 1:
			key = string(f.bytes)
		case 2:
			value = string(f.bytes)
		}
		return nil
	})
	return key, value, err
}

// beside reads what lies in another file of the folder.
func (t *rawTensor) beside(folder string) (err error) {
	location := t.outside["location"]
	if folder == "" || !filepath.IsLocal(location) {
		return damaged("its data lies in %.80q, which is not read", location)
	}
	offset, length := int64(0), int64(-1)
	if text := t.outside["offset"]; text != "" {
		offset, err = strconv.ParseInt(text, 10, 64)
	}
	if text := t.outside["length"]; text != "" && err == nil {
		length, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil || offset < 0 {
		return damaged("offset %.20q and length %.20q", t.outside["offset"], t.outside["length"])
	}
	t.isRaw = true
	t.raw, err = read(filepath.Join(folder, location), offset, length)
	return err
}

// fill decodes the values.
func (t *rawTensor) fill(folder string) error {
	count := 1
	for _, n := range t.Shape {
		if n < 0 || n > 0 && count > mostBytes/n {
			return damaged("shape %v", t.Shape)
		}
		count *= n
	}
	if t.isBeside {
		if err := t.beside(folder); err != nil {
			return err
		}
	}
	size := sizeOf(t.dtype)
	if size == 0 {
		return damaged("elements of type %d, want floats, integers or truth values", t.dtype)
	}
	got := max(len(t.floats), len(t.numbers), len(t.doubles))
	if t.isRaw {
		got = len(t.raw) / size
	}
	if got != count || t.isRaw && len(t.raw) != count*size {
		return damaged("%d values for shape %v", got, t.Shape)
	}
	if t.Shape == nil {
		t.Shape = tensor.Shape{}
	}
	if isFloat(t.dtype) {
		t.Floats = make([]float32, count)
		for i := range t.Floats {
			t.Floats[i] = t.float(i)
		}
		return nil
	}
	t.Ints = make([]int64, count)
	for i := range t.Ints {
		t.Ints[i] = t.integer(i)
	}
	return nil
}

// float returns value i of a tensor of floats, of which fill has counted the values.
func (t *rawTensor) float(i int) float32 {
	switch {
	case t.isRaw && t.dtype == typeFloat:
		return math.Float32frombits(binary.LittleEndian.Uint32(t.raw[4*i:]))
	case t.isRaw && t.dtype == typeDouble:
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(t.raw[8*i:])))
	case t.isRaw && t.dtype == typeBFloat16:
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(t.raw[2*i:])) << 16)
	case t.isRaw:
		return half(binary.LittleEndian.Uint16(t.raw[2*i:]))
	case i < len(t.floats):
		return t.floats[i]
	case i < len(t.doubles):
		return float32(t.doubles[i])
	case t.dtype == typeBFloat16:
		return math.Float32frombits(uint32(t.numbers[i]) << 16)
	}
	return half(uint16(t.numbers[i]))
}

// half returns a float16.
func half(bits uint16) float32 {
	sign, exponent, fraction := float32(1), int(bits>>10&31), float64(bits&1023)
	if bits>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * float32(math.Ldexp(fraction, -24))
	case 31:
		if fraction == 0 {
			return sign * float32(math.Inf(1))
		}
		return float32(math.NaN())
	}
	return sign * float32(math.Ldexp(1024+fraction, exponent-25))
}

// integer is float for a tensor of integers.
func (t *rawTensor) integer(i int) int64 {
	switch {
	case t.isRaw && t.dtype == typeInt64:
		return int64(binary.LittleEndian.Uint64(t.raw[8*i:]))
	case t.isRaw && t.dtype == typeInt32:
		return int64(int32(binary.LittleEndian.Uint32(t.raw[4*i:])))
	case t.isRaw && t.dtype == typeInt8:
		return int64(int8(t.raw[i]))
	case t.isRaw:
		return int64(t.raw[i])
	case i >= len(t.numbers):
		return 0
	case t.dtype == typeInt64:
		return int64(t.numbers[i])
	}
	return int64(int32(t.numbers[i]))
}
