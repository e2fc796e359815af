package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
)

// FormatError says that a file is damaged or no ONNX.
type FormatError struct {
	File   string // "" where bytes were decoded
	Reason string
}

// Error implements error.
func (e *FormatError) Error() string {
	if e.File == "" {
		return "onnx: " + e.Reason
	}
	return fmt.Sprintf("onnx: %s: %s", e.File, e.Reason)
}

func damaged(format string, args ...any) error {
	return &FormatError{Reason: fmt.Sprintf(format, args...)}
}

// The wire types of protocol buffers.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// field is one field of a message. Number is in bits for fixed and varint fields.
type field struct {
	tag, wire int
	number    uint64
	bytes     []byte
}

// fieldsOf calls visit for the fields of a message, in order.
func fieldsOf(message []byte, visit func(f field) error) error {
	for len(message) > 0 {
		key, n := binary.Uvarint(message)
		if n <= 0 || key>>3 == 0 || key>>3 > 1<<29 {
			return damaged("no field of a message: the file is cut, or no ONNX")
		}
		message = message[n:]
		f := field{tag: int(key >> 3), wire: int(key & 7)}
		switch f.wire {
		case wireVarint:
			f.number, n = binary.Uvarint(message)
		case wireFixed64:
			if n = 8; len(message) >= n {
				f.number = binary.LittleEndian.Uint64(message)
			}
		case wireFixed32:
			if n = 4; len(message) >= n {
				f.number = uint64(binary.LittleEndian.Uint32(message))
			}
		case wireBytes:
			var size uint64
			size, n = binary.Uvarint(message)
			if n <= 0 || size > uint64(len(message)-n) {
				return damaged("field %d has %d bytes, of which %d are there: the file is cut", f.tag, size,
					len(message))
			}
			f.bytes = message[n : n+int(size)]
			n += int(size)
		default:
			return damaged("field %d of unknown kind %d", f.tag, f.wire)
		}
		if n <= 0 || n > len(message) {
			return damaged("field %d is cut", f.tag)
		}
		message = message[n:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}

// numbers calls visit for the values of a repeated field of varints, packed or not.
func (f field) numbers(visit func(uint64)) error {
	if f.wire != wireBytes {
		visit(f.number)
		return nil
	}
	for b := f.bytes; len(b) > 0; {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return damaged("field %d: a number is cut", f.tag)
		}
		visit(v)
		b = b[n:]
	}
	return nil
}

// floats calls visit for the values of a repeated field of float32, packed or not.
func (f field) floats(visit func(float32)) error {
	if f.wire != wireBytes {
		visit(math.Float32frombits(uint32(f.number)))
		return nil
	}
	if len(f.bytes)%4 != 0 {
		return damaged("field %d: %d bytes of float32", f.tag, len(f.bytes))
	}
	for b := f.bytes; len(b) > 0; b = b[4:] {
		visit(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return nil
}

// message is one that is written.
type message []byte

func (m *message) key(tag, wire int) { *m = binary.AppendUvarint(*m, uint64(tag)<<3|uint64(wire)) }

// integer writes a varint field, unless it is 0.
func (m *message) integer(tag int, v int64) {
	if v != 0 {
		m.key(tag, wireVarint)
		*m = binary.AppendUvarint(*m, uint64(v))
	}
}

// text writes a field of bytes.
func (m *message) text(tag int, v string) {
	m.key(tag, wireBytes)
	*m = binary.AppendUvarint(*m, uint64(len(v)))
	*m = append(*m, v...)
}

// sub writes a message within.
func (m *message) sub(tag int, v message) {
	m.key(tag, wireBytes)
	*m = binary.AppendUvarint(*m, uint64(len(v)))
	*m = append(*m, v...)
}

// float writes a float32 field.
func (m *message) float(tag int, v float32) {
	m.key(tag, wireFixed32)
	*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(v))
}

// integers writes a packed field of varints.
func (m *message) integers(tag int, values []int64) {
	var packed message
	for _, v := range values {
		packed = binary.AppendUvarint(packed, uint64(v))
	}
	m.sub(tag, packed)
}
