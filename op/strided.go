package op

import (
	"fmt"

	"lockstep/graph"
	"lockstep/tensor"
)

// mostAxes is how many axes a value may have.
const mostAxes = 8

// strided walks the elements of a value in order, while two operands are read or written at strides of
// their own.
type strided struct {
	axes  int
	shape [mostAxes]int
	a, b  [mostAxes]int // strides of the operands
}

// newStrided returns the walk over shape with an operand's stride for each axis; b may be nil. Axes that
// all step through as one are merged.
func newStrided(shape tensor.Shape, a, b []int) *strided {
	s := &strided{}
	for i, n := range shape {
		bi := 0
		if b != nil {
			bi = b[i]
		}
		if n == 1 {
			continue
		}
		if last := s.axes - 1; last >= 0 && s.a[last] == a[i]*n && (b == nil || s.b[last] == bi*n) {
			s.shape[last], s.a[last], s.b[last] = s.shape[last]*n, a[i], bi
			continue
		}
		s.shape[s.axes], s.a[s.axes], s.b[s.axes] = n, a[i], bi
		s.axes++
	}
	if s.axes == 0 {
		s.axes, s.shape[0] = 1, 1
	}
	return s
}

// elems returns how many elements the walk has.
func (s *strided) elems() int {
	n := 1
	for _, d := range s.shape[:s.axes] {
		n *= d
	}
	return n
}

// steps returns the operands' strides along the last axis.
func (s *strided) steps() (a, b int) { return s.a[s.axes-1], s.b[s.axes-1] }

// runs calls visit for runs of n elements from lo to hi that lie along the last axis: the run's first
// element is number at of the walk, and stands at a and b of the operands.
func (s *strided) runs(lo, hi int, visit func(at, a, b, n int)) {
	var at [mostAxes]int
	a, b, rest := 0, 0, lo
	for i := s.axes - 1; i >= 0; i-- {
		at[i] = rest % s.shape[i]
		rest /= s.shape[i]
		a += at[i] * s.a[i]
		b += at[i] * s.b[i]
	}
	last := s.axes - 1
	for lo < hi {
		n := min(hi-lo, s.shape[last]-at[last])
		visit(lo, a, b, n)
		lo += n
		at[last] += n
		a += n * s.a[last]
		b += n * s.b[last]
		for i := last; i > 0 && at[i] == s.shape[i]; i-- {
			at[i] = 0
			a += s.a[i-1] - s.shape[i]*s.a[i]
			b += s.b[i-1] - s.shape[i]*s.b[i]
			at[i-1]++
		}
	}
}

// stridesOf returns the strides of a value of this shape.
func stridesOf(shape tensor.Shape) []int {
	strides, n := make([]int, len(shape)), 1
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = n
		n *= shape[i]
	}
	return strides
}

// broadcast returns the shape that both shapes are repeated to.
func broadcast(a, b tensor.Shape) (tensor.Shape, error) {
	out := make(tensor.Shape, max(len(a), len(b)))
	for i := range out {
		x, y := 1, 1
		if j := i - len(out) + len(a); j >= 0 {
			x = a[j]
		}
		if j := i - len(out) + len(b); j >= 0 {
			y = b[j]
		}
		if x != y && x != 1 && y != 1 {
			return nil, fmt.Errorf("%v and %v do not go together", a, b)
		}
		out[i] = x
		if x == 1 {
			out[i] = y
		}
	}
	return out, nil
}

// repeated returns the strides of a value of shape from where it is repeated to shape to: 0 along what is
// repeated.
func repeated(from, to tensor.Shape) []int {
	own, strides := stridesOf(from), make([]int, len(to))
	for i := range to {
		if j := i - len(to) + len(from); j >= 0 && from[j] != 1 {
			strides[i] = own[j]
		}
	}
	return strides
}

// floats checks that all inputs are float32 of at most mostAxes axes.
func floats(in []graph.Type) error {
	for _, t := range in {
		if t.DType != tensor.Float32 {
			return fmt.Errorf("want float32")
		}
		if len(t.Shape) > mostAxes {
			return fmt.Errorf("%d axes, want at most %d", len(t.Shape), mostAxes)
		}
	}
	return nil
}

// axisOf returns axis, counted from the last if it is negative, of a shape.
func axisOf(axis int, shape tensor.Shape) (int, error) {
	if axis < -len(shape) || axis >= len(shape) {
		return 0, fmt.Errorf("axis %d of %v", axis, shape)
	}
	return (axis + len(shape)) % len(shape), nil
}

// float is the type of a float32 value.
func float(shape tensor.Shape) graph.Type { return graph.Type{Shape: shape} }

// one applies an op with one result.
func one(o graph.Custom, in ...*graph.Node) *graph.Node { return in[0].Graph().Apply(o, in...)[0] }

// elems returns how many elements the first result has.
func elems(out []graph.Type) int64 { return int64(out[0].Shape.Elems()) }
