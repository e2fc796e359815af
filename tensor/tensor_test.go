package tensor_test

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/tensor"
)

func ExampleLayout() {
	// A weight of 2 output and 3 input channels, 1x1: PyTorch stores [K, C], Lockstep [C, K].
	l := tensor.Layout{View: tensor.Shape{2, 3}, Perm: []int{1, 0}}
	stored := make([]float32, 6)
	l.FromCanonical(stored, []float32{1, 2, 3, 10, 20, 30})
	fmt.Println(stored)
	// Output: [1 10 2 20 3 30]
}

func TestShape(t *testing.T) {
	for _, c := range []struct {
		shape tensor.Shape
		elems int
		text  string
	}{
		{nil, 1, "[]"},
		{tensor.Shape{7}, 7, "[7]"},
		{tensor.Shape{8, 32, 32, 3}, 8 * 32 * 32 * 3, "[8, 32, 32, 3]"},
		{tensor.Shape{4, 0}, 0, "[4, 0]"},
	} {
		if got := c.shape.Elems(); got != c.elems {
			t.Errorf("%v.Elems() = %d, want %d", c.shape, got, c.elems)
		}
		if got := c.shape.String(); got != c.text {
			t.Errorf("String() = %q, want %q", got, c.text)
		}
	}
	if (tensor.Shape{1, 2}).Equal(tensor.Shape{2, 1}) {
		t.Error("[1, 2] equals [2, 1]")
	}
}

func TestLayoutRoundTrip(t *testing.T) {
	for _, l := range []tensor.Layout{
		{},
		{View: tensor.Shape{24}, Perm: []int{0}},
		{View: tensor.Shape{2, 3, 4}, Perm: []int{2, 0, 1}},
		{View: tensor.Shape{2, 3, 2, 2}, Perm: []int{2, 3, 1, 0}},
		{View: tensor.Shape{37, 5, 3, 2}, Perm: []int{2, 3, 1, 0}},
		{View: tensor.Shape{3, 40}, Perm: []int{1, 0}},
		{View: tensor.Shape{3, 40, 2}, Perm: []int{2, 0, 1}},
	} {
		n := 24
		if l.View != nil {
			n = l.View.Elems()
		}
		canonical := make([]float32, n)
		for i := range canonical {
			canonical[i] = float32(i)
		}
		stored, back := make([]float32, n), make([]float32, n)
		l.FromCanonical(stored, canonical)
		l.ToCanonical(back, stored)
		if !slices.Equal(back, canonical) {
			t.Errorf("%+v: round trip gave %v", l, back)
		}
		for i := range canonical {
			if stored[l.Index(i)] != canonical[i] {
				t.Errorf("%+v: Index(%d) = %d holds %v", l, i, l.Index(i), stored[l.Index(i)])
			}
		}
	}
}
