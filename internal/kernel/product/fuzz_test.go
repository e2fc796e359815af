package product_test

import (
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/product"
)

// fuzzShape makes a small shape of any numbers, or reports that it has no output.
func fuzzShape(n, side, c, k, filter, stride, pad uint8) (s product.ConvShape, ok bool) {
	s = product.ConvShape{N: 1 + int(n)%17, H: 1 + int(side&15), W: 1 + int(side>>4), C: 1 + int(c)%48,
		K: 1 + int(k)%80, R: 1 + int(filter&15)%5, S: 1 + int(filter>>4)%5, Stride: 1 + int(stride)%3,
		Pad: int(pad) % 4}
	return s, s.H+2*s.Pad >= s.R && s.W+2*s.Pad >= s.S
}

// Every implementation computes a convolution and both of its gradients as defined, for any shape and with
// the same bits, and stays inside operands that are as long as they must be and scratch as long as it says.
func FuzzConv(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint8(0), uint8(0), uint8(0), uint8(0), uint8(0))
	f.Add(uint8(5), uint8(0x88), uint8(19), uint8(64), uint8(0x22), uint8(0), uint8(1))
	f.Add(uint8(15), uint8(0x9a), uint8(6), uint8(5), uint8(0x44), uint8(1), uint8(2))
	f.Add(uint8(2), uint8(0x44), uint8(31), uint8(31), uint8(0x22), uint8(0), uint8(1))
	f.Add(uint8(8), uint8(0xff), uint8(15), uint8(23), uint8(0x22), uint8(1), uint8(1))
	f.Fuzz(func(t *testing.T, n, side, c, k, filter, stride, pad uint8) {
		s, ok := fuzzShape(n, side, c, k, filter, stride, pad)
		if !ok {
			t.Skip("no output")
		}
		d := newConvData(t, s).define()
		first := map[compute.Math]convResult{}
		for _, cpu := range mathsOn(t, compute.Supported()) {
			got := d.run(t, cpu, false)
			if _, ok := first[cpu.Math()]; !ok {
				first[cpu.Math()] = got
			} else if !got.equal(first[cpu.Math()]) {
				t.Errorf("%v, %v: not the bits of plain Go", cpu.ISA(), cpu.Math())
			}
			switch cpu.Math() {
			case compute.Exact:
				d.compare(t, got, false)
			case compute.Fast, compute.BF16x6:
				d.compareFast(t, got)
			}
		}
	})
}
