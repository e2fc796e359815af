package tensor

import (
	"slices"
	"strconv"
	"strings"
)

// Shape holds the number of elements along each axis, outermost first. The empty shape is a
// scalar.
type Shape []int

// Elems returns the number of elements: 1 for a scalar, 0 if any axis is 0.
func (s Shape) Elems() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// Equal reports whether s and t have the same axes.
func (s Shape) Equal(t Shape) bool { return slices.Equal(s, t) }

// Clone returns a copy that shares no memory with s.
func (s Shape) Clone() Shape { return slices.Clone(s) }

// String formats the shape as "[8, 32, 32, 3]".
func (s Shape) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range s {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(d))
	}
	b.WriteByte(']')
	return b.String()
}

// DType is the type of an element.
type DType uint8

// The element types of programs.
const (
	Float32 DType = iota
	Int32
	// BFloat16 is the upper half of a float32. Only executors with memory of their own keep values so.
	BFloat16
)

// Bytes returns the size of one element.
func (d DType) Bytes() int {
	if d == BFloat16 {
		return 2
	}
	return 4
}

// String returns "float32", "int32" or "bfloat16".
func (d DType) String() string {
	switch d {
	case Int32:
		return "int32"
	case BFloat16:
		return "bfloat16"
	}
	return "float32"
}
