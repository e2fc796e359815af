package product_test

import (
	"fmt"
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"
)

// keptShapes are convolutions of all the algorithms that read weights.
func keptShapes() map[string]product.ConvShape {
	return map[string]product.ConvShape{
		"few rows":       {11, 1, 1, 700, 130, 1, 1, 1, 0},
		"rows of a text": {130, 1, 1, 96, 256, 1, 1, 1, 0},
		"strassen":       {390, 1, 1, 256, 256, 1, 1, 1, 0},
		"one image":      {1, 14, 14, 1024, 40, 1, 1, 1, 0},
		"side by side":   {2, 12, 12, 3, 4, 3, 3, 1, 1},
		"stem":           {1, 21, 19, 3, 18, 7, 7, 2, 3},
		"lanes":          {16, 13, 12, 3, 6, 5, 5, 1, 0},
		"stride 1x1":     {2, 8, 8, 64, 128, 1, 1, 2, 0},
		"winograd":       {2, 12, 12, 32, 64, 3, 3, 1, 1},
		"positions":      {8, 7, 7, 24, 72, 3, 3, 1, 1},
		"parts":          {4, 8, 8, 64, 64, 3, 3, 2, 1},
	}
}

// Kept weights give the same bits, and nothing else is read in their place.
func TestKeptWeights(t *testing.T) {
	kept := 0
	for _, c := range mathsOn(t, assembly()) {
		p := product.On(c)
		for name, s := range keptShapes() {
			d, v := newConvData(t, s), p.NewConv(s)
			if v.Layout().Floats() == 0 {
				continue
			}
			kept++
			scratch := kerneltest.Floats(t, v.ScratchFloats())
			want, got := filled(t, len(d.dy), nan), filled(t, len(d.dy), nan)
			v.Forward(want, d.x, d.w, d.bias, true, nil, scratch)
			panels := filled(t, v.Layout().Floats(), nan)
			v.Keep(panels, d.w)
			v.Use(panels)
			weights := d.w
			if name != "strassen" || c.Math() != compute.Fast { // which reads them for many rows
				weights = filled(t, len(d.w), nan)
			}
			v.Forward(got, d.x, weights, d.bias, true, nil, scratch)
			kerneltest.SameBits(t, fmt.Sprintf("%s, %v, %v", name, c.ISA(), c.Math()), got, want)
			calls := func() { v.Forward(got, d.x, weights, d.bias, true, nil, scratch) }
			if n := alloctest.Least(2, calls); n > 0 {
				t.Errorf("%s: %d allocations", name, n)
			}
		}
	}
	if kept == 0 {
		t.Error("no convolution keeps weights")
	}
}

// Convolutions for several sizes of batches read the same kept weights.
func TestKeptLayout(t *testing.T) {
	p := product.On(kerneltest.Open(t, compute.Best(), 2))
	layout := func(n, k int) product.Layout {
		return p.NewConv(product.ConvShape{N: n, H: 7, W: 7, C: 512, K: k, R: 1, S: 1, Stride: 1}).Layout()
	}
	if layout(1, 256) != layout(32, 256) {
		t.Error("one image and 32 have layouts of their own")
	}
	if layout(1, 256) == layout(1, 128) {
		t.Error("128 filters lie as 256 do")
	}
}

// ForwardAdd adds what Forward computes, before the maximum.
func TestForwardAdd(t *testing.T) {
	added := 0
	for _, c := range mathsOn(t, assembly()) {
		p := product.On(c)
		for name, s := range keptShapes() {
			d, v := newConvData(t, s), p.NewConv(s)
			if !v.CanAdd() {
				continue
			}
			added++
			scratch := kerneltest.Floats(t, v.ScratchFloats())
			sum, y := filled(t, len(d.dy), nan), kerneltest.Clone(t, d.dy)
			v.Forward(sum, d.x, d.w, d.bias, false, nil, scratch)
			v.ForwardAdd(y, d.x, d.w, d.bias, true, scratch)
			size := math.Sqrt(float64(s.C * s.R * s.S))
			for i, x := range d.dy {
				want := max(0, float64(x)+float64(sum[i]))
				if diff := math.Abs(float64(y[i]) - want); !(diff <= 2e-6*size) {
					t.Errorf("%s, %v, %v: element %d is %v, want %v", name, c.ISA(), c.Math(), i, y[i], want)
					break
				}
			}
		}
	}
	if added == 0 {
		t.Error("no convolution adds")
	}
}
