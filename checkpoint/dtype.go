package checkpoint

import (
	"encoding/binary"
	"math"
)

// DType is the name of an element type in a file, such as "F32".
type DType string

// The types that this package writes.
const (
	F32 DType = "F32"
	I64 DType = "I64"
)

// format describes an element type.
type format struct {
	name DType
	bits int64
	// isFloat reports whether weights may have this type.
	isFloat bool
	// value decodes an element; nil for types that are only listed and copied.
	value func(b []byte) float64
}

// formats lists the types of safetensors 0.8 in the order of its library. Files are laid out in the
// opposite order.
func formats() []format {
	le := binary.LittleEndian
	return []format{
		{"BOOL", 8, false, func(b []byte) float64 { return float64(b[0]) }},
		{"F4", 4, false, nil},
		{"F6_E2M3", 6, false, nil},
		{"F6_E3M2", 6, false, nil},
		{"U8", 8, false, func(b []byte) float64 { return float64(b[0]) }},
		{"I8", 8, false, func(b []byte) float64 { return float64(int8(b[0])) }},
		{"F8_E5M2", 8, false, nil},
		{"F8_E4M3", 8, false, nil},
		{"F8_E8M0", 8, false, nil},
		{"I16", 16, false, func(b []byte) float64 { return float64(int16(le.Uint16(b))) }},
		{"U16", 16, false, func(b []byte) float64 { return float64(le.Uint16(b)) }},
		{"F16", 16, true, func(b []byte) float64 { return half(le.Uint16(b)) }},
		{"BF16", 16, true, func(b []byte) float64 {
			return float64(math.Float32frombits(uint32(le.Uint16(b)) << 16))
		}},
		{"I32", 32, false, func(b []byte) float64 { return float64(int32(le.Uint32(b))) }},
		{"U32", 32, false, func(b []byte) float64 { return float64(le.Uint32(b)) }},
		{F32, 32, true, func(b []byte) float64 {
			return float64(math.Float32frombits(le.Uint32(b)))
		}},
		{"C64", 64, false, nil},
		{"F64", 64, true, func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }},
		{I64, 64, false, func(b []byte) float64 { return float64(int64(le.Uint64(b))) }},
		{"U64", 64, false, func(b []byte) float64 { return float64(le.Uint64(b)) }},
	}
}

// half returns the value of an IEEE 754 half-precision number.
func half(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&1023)
	var x float64
	switch exponent {
	case 0:
		x = math.Ldexp(fraction, -24)
	case 31:
		x = math.Inf(1)
		if fraction != 0 {
			x = math.NaN()
		}
	default:
		x = math.Ldexp(1024+fraction, exponent-25)
	}
	if h>>15 == 1 {
		x = -x
	}
	return x
}
