package row_test

import (
	"fmt"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/row"
)

// Every element-wise operation gives the bits of the plain one for any length and any numbers.
func FuzzElementwise(f *testing.F) {
	for _, n := range []uint16{0, 1, 7, 16, 33, 1000} {
		f.Add(n, uint64(n))
	}
	plain := row.On(kerneltest.Open(f, compute.Plain, 1))
	f.Fuzz(func(t *testing.T, n uint16, seed uint64) {
		for _, isa := range compute.Supported()[1:] {
			c := row.On(kerneltest.Open(t, isa, 1))
			for _, op := range elementwise {
				out, a := kerneltest.Draw(t, int(n), 0, seed), kerneltest.Draw(t, int(n), 0, seed+1)
				b := kerneltest.Draw(t, int(n), 0, seed+2)
				kerneltest.Odd(out, seed+3)
				kerneltest.Odd(b, seed+4)
				wantOut, wantA := kerneltest.Clone(t, out), kerneltest.Clone(t, a)
				op.run(plain, wantOut, wantA, b)
				op.run(c, out, a, b)
				what := fmt.Sprintf("%s of %d on %v", op.name, n, isa)
				kerneltest.SameBits(t, what+": out", out, wantOut)
				kerneltest.SameBits(t, what+": a", a, wantA)
			}
		}
	})
}

// Every implementation of max pooling gives the bits of the definition for any shape.
func FuzzMaxPool(f *testing.F) {
	f.Add(uint8(1), uint8(8), uint8(8), uint8(9), uint8(1), uint8(1), uint8(0), uint64(1))
	f.Add(uint8(2), uint8(7), uint8(5), uint8(17), uint8(2), uint8(1), uint8(1), uint64(2))
	f.Fuzz(func(t *testing.T, n, h, w, c, size, stride, pad uint8, seed uint64) {
		s := row.PoolShape{N: 1 + int(n)%4, H: 1 + int(h)%20, W: 1 + int(w)%20, C: 1 + int(c)%40,
			Size: 1 + int(size)%5, Stride: 1 + int(stride)%4, Pad: int(pad) % 3}
		if !s.Possible() {
			t.Skip("no such pooling")
		}
		x := kerneltest.Draw(t, s.N*s.H*s.W*s.C, 0, seed)
		dy := kerneltest.Draw(t, s.N*s.OutH()*s.OutW()*s.C, 0, seed+1)
		wantY, wantDX := make([]float32, len(dy)), make([]float32, len(x))
		poolNaive(s, wantY, wantDX, dy, x)
		for _, isa := range compute.Supported() {
			v := row.On(kerneltest.Open(t, isa, 2)).NewMaxPool(s)
			y, dx := kerneltest.Floats(t, len(dy)), kerneltest.Floats(t, len(x))
			v.Forward(y, x)
			v.Backward(dx, dy, x, false)
			kerneltest.SameBits(t, fmt.Sprintf("%v %+v: y", isa, s), y, wantY)
			kerneltest.SameBits(t, fmt.Sprintf("%v %+v: dx", isa, s), dx, wantDX)
		}
	})
}
