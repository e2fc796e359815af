package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"lockstep/tensor"
)

// Bounds on a header. They are well above any known model (the largest published headers are near 1
// MiB) and keep the worst file under 64 MiB of memory and 100 ms.
const (
	maxHeader  = 4 << 20
	maxTensors = 1 << 15
	maxName    = 1 << 10
	maxAxes    = 16
	maxWords   = 1 << 12 // entries of metadata
)

// lengthBytes is the size of the header's length at the start of a file. Headers are padded to a
// multiple of it.
const lengthBytes = 8

// Tensor describes a tensor of a file.
type Tensor struct {
	// Name is the name in the file.
	Name string
	// DType is the type of an element.
	DType DType
	// Shape is empty for a scalar.
	Shape tensor.Shape
	// Bytes is its size.
	Bytes int64

	format *format
	file   *file
	offset int64 // in the file
	key    int   // position of its entry in the header
}

// header is the parsed beginning of a file.
type header struct {
	tensors  []Tensor // in the order of their data
	metadata map[string]string
}

// parseHeader parses the JSON text of a header followed by dataBytes bytes of data, and checks that
// the tensors fill the data without a gap. A fault is a *syntaxError, or a *FormatError with a
// tensor; both count bytes within text.
func parseHeader(text []byte, dataBytes int64) (header, error) {
	p := headerParser{s: scanner{text: text}, formats: formats(), seen: map[string]bool{}}
	if !utf8.Valid(text) {
		return header{}, p.s.fail("header is not UTF-8")
	}
	err := p.s.object(p.entry)
	if err == nil {
		err = p.s.end()
	}
	if err == nil {
		err = p.checkData(dataBytes)
	}
	return p.header, err
}

type headerParser struct {
	header
	s       scanner
	formats []format
	seen    map[string]bool
}

// entry parses one member of the header.
func (p *headerParser) entry(name string) error {
	switch {
	case p.seen[name]:
		return p.s.fail("second entry of the name %s", quote(name))
	case len(name) > maxName:
		return p.s.fail("name of %d bytes, want at most %d", len(name), maxName)
	case len(p.tensors) == maxTensors:
		return p.s.fail("more than %d tensors", maxTensors)
	}
	p.seen[name] = true
	if name == "__metadata__" {
		return p.readMetadata()
	}
	return p.readTensor(name)
}

func (p *headerParser) readMetadata() error {
	p.metadata = map[string]string{}
	return p.s.object(func(key string) error {
		if _, isThere := p.metadata[key]; isThere || len(p.metadata) == maxWords {
			return p.s.fail("second metadata of the name %s, or more than %d", quote(key), maxWords)
		}
		value, err := p.s.string(maxHeader)
		p.metadata[key] = value
		return err
	})
}

// readTensor reads {"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, in any order.
func (p *headerParser) readTensor(name string) error {
	t := Tensor{Name: name, key: p.s.at}
	var offsets [2]int64
	var hasType, hasShape, hasOffsets bool
	once := func(has *bool, key string) error {
		if *has {
			return p.s.fail("second %s of tensor %s", key, quote(name))
		}
		*has = true
		return nil
	}
	err := p.s.object(func(key string) (err error) {
		switch key {
		case "dtype":
			if err = once(&hasType, key); err == nil {
				t.format, err = p.readType()
			}
		case "shape":
			if err = once(&hasShape, key); err == nil {
				t.Shape, err = p.readShape()
			}
		case "data_offsets":
			if err = once(&hasOffsets, key); err == nil {
				var n int
				if n, err = p.s.wholes(offsets[:]); err == nil && n != len(offsets) {
					err = p.s.fail("%d data_offsets of tensor %s, want 2", n, quote(name))
				}
			}
		default:
			err = p.s.fail("unknown key %s of tensor %s", quote(key), quote(name))
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case !hasType || !hasShape || !hasOffsets:
		return p.fault(t, "want dtype, shape and data_offsets")
	case offsets[0] > offsets[1]:
		return p.fault(t, "data_offsets %v, want the first not above the second", offsets)
	}
	t.DType, t.offset, t.Bytes = t.format.name, offsets[0], offsets[1]-offsets[0]
	if want, ok := t.format.size(t.Shape); !ok || want != t.Bytes {
		return p.fault(t, "%d bytes of data, which %s %v does not have", t.Bytes, t.DType, t.Shape)
	}
	p.tensors = append(p.tensors, t)
	return nil
}

func (p *headerParser) readType() (*format, error) {
	name, err := p.s.string(maxName)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.formats, func(f format) bool { return string(f.name) == name })
	if i < 0 {
		return nil, p.s.fail("unknown dtype %s", quote(name))
	}
	return &p.formats[i], nil
}

func (p *headerParser) readShape() (tensor.Shape, error) {
	var axes [maxAxes]int64
	n, err := p.s.wholes(axes[:])
	shape := make(tensor.Shape, n)
	for i, axis := range axes[:n] {
		if shape[i] = int(axis); axis > math.MaxInt {
			return nil, p.s.fail("axis of %d elements", axis)
		}
	}
	return shape, err
}

// size returns the bytes of a tensor, and false if they are not a whole number below 2^63.
func (f *format) size(shape tensor.Shape) (bytes int64, ok bool) {
	n, isZero := uint64(f.bits), slices.Contains(shape, 0)
	for _, axis := range shape {
		high, low := bits.Mul64(n, uint64(axis))
		if high != 0 || low > math.MaxInt64 {
			return 0, isZero
		}
		n = low
	}
	return int64(n / 8), n%8 == 0
}

// checkData sorts the tensors by their data and checks that the data is one run from 0 to
// dataBytes.
func (p *headerParser) checkData(dataBytes int64) error {
	slices.SortStableFunc(p.tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.Bytes, b.Bytes))
	})
	end, before := int64(0), "the header"
	for _, t := range p.tensors {
		switch {
		case t.Bytes > dataBytes || t.offset > dataBytes-t.Bytes:
			return p.fault(t, "data to byte %d of %d; the file is truncated or the header is wrong",
				t.offset+t.Bytes, dataBytes)
		case t.offset < end:
			return p.fault(t, "data overlaps that of %s", quote(before))
		case t.offset > end:
			return p.fault(t, "%d unused bytes before its data, behind %s",
				t.offset-end, quote(before))
		}
		end, before = t.offset+t.Bytes, t.Name
	}
	if end != dataBytes {
		return &syntaxError{len(p.s.text) + int(end),
			fmt.Sprintf("%d bytes after the data of the last tensor", dataBytes-end)}
	}
	return nil
}

func (p *headerParser) fault(t Tensor, format string, args ...any) error {
	return &FormatError{Offset: int64(t.key), Tensor: t.Name, Reason: fmt.Sprintf(format, args...)}
}

// placed converts a fault of a text at offset at of a file to a *FormatError.
func placed(err error, path string, at int64) error {
	var syntax *syntaxError
	var fault *FormatError
	switch {
	case errors.As(err, &syntax):
		return &FormatError{File: path, Offset: at + int64(syntax.at), Reason: syntax.reason}
	case errors.As(err, &fault):
		fault.File, fault.Offset = path, at+fault.Offset
	}
	return err
}
