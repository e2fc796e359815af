package row_test

import (
	"fmt"
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/row"
)

var pools = []row.PoolShape{
	{N: 1, H: 2, W: 2, C: 1, Size: 2, Stride: 2},
	{N: 2, H: 5, W: 7, C: 3, Size: 2, Stride: 2},
	{N: 3, H: 8, W: 8, C: 6, Size: 2, Stride: 2},
	{N: 2, H: 7, W: 4, C: 16, Size: 2, Stride: 2},
	{N: 5, H: 6, W: 6, C: 33, Size: 2, Stride: 2},
	{N: 7, H: 16, W: 16, C: 64, Size: 2, Stride: 2},
	{N: 2, H: 4, W: 4, C: 130, Size: 2, Stride: 2},
	{N: 3, H: 9, W: 8, C: 5, Size: 3, Stride: 2},
	{N: 11, H: 30, W: 30, C: 8, Size: 3, Stride: 1},
	{N: 2, H: 7, W: 7, C: 4, Size: 2, Stride: 3},
	{N: 2, H: 12, W: 14, C: 20, Size: 3, Stride: 2, Pad: 1},
	{N: 3, H: 9, W: 7, C: 64, Size: 3, Stride: 2, Pad: 1},
	{N: 2, H: 5, W: 4, C: 3, Size: 2, Stride: 1, Pad: 1},
	{N: 2, H: 6, W: 5, C: 7, Size: 5, Stride: 3, Pad: 2},
	{N: 1, H: 1, W: 2, C: 5, Size: 3, Stride: 1, Pad: 1},
	{N: 2, H: 8, W: 9, C: 9, Size: 1, Stride: 2},
}

// poolNaive is PyTorch's max_pool2d as plain loops: x -> y, and dy -> dx.
func poolNaive(s row.PoolShape, y, dx, dy, x []float32) {
	for n := range s.N {
		for h := range s.OutH() {
			for w := range s.OutW() {
				for c := range s.C {
					best := -1
					for r := range s.Size {
						for q := range s.Size {
							row, col := h*s.Stride-s.Pad+r, w*s.Stride-s.Pad+q
							if row < 0 || row >= s.H || col < 0 || col >= s.W {
								continue
							}
							i := ((n*s.H+row)*s.W+col)*s.C + c
							if best < 0 || x[i] > x[best] || x[i] != x[i] {
								best = i
							}
						}
					}
					o := ((n*s.OutH()+h)*s.OutW()+w)*s.C + c
					y[o] = x[best]
					dx[best] += dy[o]
				}
			}
		}
	}
}

func TestMaxPool(t *testing.T) {
	kerneltest.Everywhere(t, func(t *testing.T, c *compute.CPU) {
		for _, s := range pools {
			for _, ties := range []bool{false, true} {
				x := kerneltest.Draw(t, s.N*s.H*s.W*s.C, 0, 1)
				if ties {
					kerneltest.Odd(x, 2)
					for i := range x {
						x[i] = float32(math.Round(float64(x[i])))
					}
					for i := range len(x) / 3 {
						x[i] = float32(math.Inf(-1))
					}
				}
				n := s.N * s.OutH() * s.OutW() * s.C
				dy, y, dx := kerneltest.Draw(t, n, 0, 3), kerneltest.Floats(t, n), kerneltest.Floats(t,
					len(x))
				row.On(c).Fill(dx, 9) // to be overwritten
				wantY, wantDX := kerneltest.Floats(t, n), kerneltest.Floats(t, len(x))
				poolNaive(s, wantY, wantDX, dy, x)
				p := row.On(c).NewMaxPool(s)
				p.Forward(y, x)
				p.Backward(dx, dy, x, false)
				what := fmt.Sprintf("%+v ties %v", s, ties)
				kerneltest.SameBits(t, what+" y", y, wantY)
				kerneltest.SameBits(t, what+" dx", dx, wantDX)

				row.On(c).ReLU(x, x)
				p.Backward(wantDX, dy, x, false)
				row.On(c).ReLUBackward(wantDX, wantDX, x)
				p.Backward(dx, dy, x, true)
				kerneltest.SameBits(t, what+" dx through relu", dx, wantDX)
			}
		}
	})
}

func TestMaxPoolDoesNotAllocate(t *testing.T) {
	c := kerneltest.Open(t, compute.Best(), 2)
	for _, s := range []row.PoolShape{
		{N: 7, H: 16, W: 16, C: 64, Size: 2, Stride: 2},
		{N: 7, H: 16, W: 16, C: 64, Size: 3, Stride: 2, Pad: 1},
	} {
		p := row.On(c).NewMaxPool(s)
		x := kerneltest.Draw(t, s.N*s.H*s.W*s.C, 0, 1)
		y, dx := kerneltest.Floats(t, len(x)/4), kerneltest.Floats(t, len(x))
		if n := alloctest.Least(5, func() {
			p.Forward(y, x)
			p.Backward(dx, y, x, true)
		}); n != 0 {
			t.Errorf("%+v: %v allocations, want 0", s, n)
		}
	}
}
