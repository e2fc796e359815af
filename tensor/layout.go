package tensor

// Layout says how the stored order of a parameter differs from the canonical one, which is
// PyTorch's flat row-major order.
//
// The canonical elements are viewed as a tensor of shape View, and the stored order is that
// tensor with its axes permuted: axis i of the stored tensor is axis Perm[i] of the view. A
// convolution weight [K, C, R, S] stored as [R, S, C, K] has View [K, C, R, S] and Perm
// [2, 3, 1, 0]; a linear layer that reads a flattened [C, H, W] map is the same with R = H and
// S = W. The zero Layout stores the canonical order.
type Layout struct {
	View Shape
	Perm []int
}

// IsCanonical reports whether stored and canonical order are the same.
func (l Layout) IsCanonical() bool {
	for i, p := range l.Perm {
		if p != i {
			return false
		}
	}
	return true
}

// ToCanonical copies stored into dst in canonical order. Both have the view's length and must not
// overlap.
func (l Layout) ToCanonical(dst, stored []float32) {
	l.walk(len(stored), func(r run) {
		for i, x := range stored[r.stored:][:r.length] {
			dst[r.canonical+i*r.stride] = x
		}
	})
}

// FromCanonical copies canonical into stored. Both have the view's length and must not overlap.
func (l Layout) FromCanonical(stored, canonical []float32) {
	l.walk(len(canonical), func(r run) {
		for i := range stored[r.stored:][:r.length] {
			stored[r.stored+i] = canonical[r.canonical+i*r.stride]
		}
	})
}

// Index returns the stored index of canonical element i. Cost: O(axes).
func (l Layout) Index(i int) int {
	if l.IsCanonical() {
		return i
	}
	coord := make([]int, len(l.View))
	for a := len(l.View) - 1; a >= 0; a-- {
		coord[a] = i % l.View[a]
		i /= l.View[a]
	}
	stored := 0
	for _, a := range l.Perm {
		stored = stored*l.View[a] + coord[a]
	}
	return stored
}

// run is a range of stored elements, which are stride apart in canonical order.
type run struct{ stored, canonical, length, stride int }

// runFloats is a cache line: the walk in stored order uses all of a line at once.
const runFloats = 16

// walk calls visit with runs that together hold each of n elements once. Runs in the same part of
// the last stored axis follow each other in canonical order, so that the canonical side is accessed
// as runFloats sequences side by side.
func (l Layout) walk(n int, visit func(run)) {
	axes := len(l.Perm)
	if n == 0 || l.IsCanonical() {
		visit(run{length: n, stride: 1})
		return
	}
	stride := make([]int, axes) // stored stride of each axis of the view
	for i, a := range l.Perm {
		stride[a] = 1
		for _, inner := range l.Perm[i+1:] {
			stride[a] *= l.View[inner]
		}
	}
	last := l.Perm[axes-1]
	coord := make([]int, axes)
	for begin := 0; begin < l.View[last]; begin += runFloats {
		r := run{stored: begin, length: min(runFloats, l.View[last]-begin), stride: l.View[last+1:].Elems()}
		r.canonical = begin * r.stride
		for range n / l.View[last] {
			visit(r)
			l.advance(coord, stride, last, &r)
		}
	}
}

// advance moves a run to the next coordinates in canonical order over all axes except but, wrapping
// around at the end.
func (l Layout) advance(coord, stride []int, but int, r *run) {
	canonical := 1
	for a := len(coord) - 1; a >= 0; a-- {
		if a != but {
			coord[a]++
			r.stored += stride[a]
			r.canonical += canonical
			if coord[a] < l.View[a] {
				return
			}
			coord[a] = 0
			r.stored -= stride[a] * l.View[a]
			r.canonical -= canonical * l.View[a]
		}
		canonical *= l.View[a]
	}
}
