package tensor

// Layout says how a parameter is stored compared with PyTorch, whose flat row-major order is the
// canonical one.
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
	l.walk(len(stored), func(s, c int) { dst[c] = stored[s] })
}

// FromCanonical copies canonical into stored. Both have the view's length and must not overlap.
func (l Layout) FromCanonical(stored, canonical []float32) {
	l.walk(len(canonical), func(s, c int) { stored[s] = canonical[c] })
}

// Index returns where the canonical element i is stored. Cost: O(axes).
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

// walk calls visit with the stored and the canonical index of each of n elements, in stored order.
func (l Layout) walk(n int, visit func(stored, canonical int)) {
	if l.IsCanonical() {
		for i := range n {
			visit(i, i)
		}
		return
	}
	axes := len(l.Perm)
	stride := make([]int, axes) // canonical stride of each stored axis
	size := make([]int, axes)
	for i, a := range l.Perm {
		size[i], stride[i] = l.View[a], l.View[a+1:].Elems()
	}
	coord := make([]int, axes)
	canonical := 0
	for s := range n {
		visit(s, canonical)
		for i := axes - 1; i >= 0; i-- {
			coord[i]++
			canonical += stride[i]
			if coord[i] < size[i] {
				break
			}
			canonical -= stride[i] * size[i]
			coord[i] = 0
		}
	}
}
