package product_test

import (
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"
)

// fuzzShape makes a small shape of any numbers, or reports that it has no output.
func fuzzShape(n, side, c, k, filter, stride, pad uint8) (s product.ConvShape, ok bool) {
	s = product.ConvShape{N: 1 + int(n)%17, H: 1 + int(side)%13, W: 1 + int(side>>4)%13, C: 1 + int(c)%48,
		K: 1 + int(k)%80, R: 1 + int(filter)%5, S: 1 + int(filter>>4)%5, Stride: 1 + int(stride)%3,
		Pad: int(pad) % 4}
	return s, s.H+2*s.Pad >= s.R && s.W+2*s.Pad >= s.S
}

// Every implementation computes a convolution and both of its gradients as defined, for any shape, and stays
// inside operands that are as long as they must be and scratch as long as it says.
func FuzzConv(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint8(0), uint8(0), uint8(0), uint8(0), uint8(0))
	f.Add(uint8(5), uint8(0x88), uint8(19), uint8(64), uint8(0x22), uint8(0), uint8(1))
	f.Add(uint8(15), uint8(0x9a), uint8(6), uint8(5), uint8(0x44), uint8(1), uint8(2))
	f.Add(uint8(2), uint8(0x44), uint8(31), uint8(31), uint8(0x22), uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, n, side, c, k, filter, stride, pad uint8) {
		s, ok := fuzzShape(n, side, c, k, filter, stride, pad)
		if !ok {
			t.Skip("no output")
		}
		d := newConvData(s)
		for _, cpu := range mathsEverywhere(t) {
			got := d.runGuarded(t, cpu)
			switch cpu.Math() {
			case compute.Exact:
				d.compare(t, got, false)
			case compute.Fast, compute.BF16x6:
				d.compareFast(t, got)
			}
		}
	})
}

// runGuarded is run on memory that ends where nobody may touch.
func (d *convData) runGuarded(t *testing.T, c *compute.CPU) convResult {
	v := product.On(c).NewConv(d.s)
	x, w, bias := kerneltest.Clone(t, d.x.s), kerneltest.Clone(t, d.w.s), kerneltest.Clone(t, d.bias.s)
	dy, scratch := kerneltest.Clone(t, d.dy.s), kerneltest.Floats(t, v.ScratchFloats())
	y, dx, dw := kerneltest.Floats(t, len(dy)), kerneltest.Floats(t, len(x)), kerneltest.Floats(t, len(w))
	v.Forward(y, x, w, bias, false, nil, scratch)
	v.BackwardData(dx, dy, w, false, scratch)
	v.BackwardWeights(dw, x, dy, scratch)
	return convResult{guarded{s: y}, guarded{s: dx}, guarded{s: dw}}
}
