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

// normPools have bands and blocks that meet in all ways, odd maps, and rows wider than a wide row.
var normPools = []row.PoolShape{
	{N: 1, H: 2, W: 2, C: 1, Size: 2, Stride: 2},
	{N: 2, H: 5, W: 7, C: 3, Size: 2, Stride: 2},
	{N: 30, H: 7, W: 13, C: 33, Size: 2, Stride: 2},
	{N: 9, H: 28, W: 28, C: 6, Size: 2, Stride: 2},
	{N: 3, H: 32, W: 32, C: 64, Size: 2, Stride: 2},
	{N: 64, H: 2, W: 2, C: 512, Size: 2, Stride: 2},
	{N: 2, H: 3, W: 2, C: 1500, Size: 2, Stride: 2},
	{N: 2, H: 12, W: 130, C: 24, Size: 2, Stride: 2},
}

// The fused kernel gives the bits of the three kernels that it replaces, on every ISA and number of
// threads.
func TestNormPoolIsNormReLUPool(t *testing.T) {
	kerneltest.Everywhere(t, func(t *testing.T, c *compute.CPU) {
		for _, s := range normPools {
			k := newNormCase(t, s.N*s.H*s.W, s.C, 0.2, true)
			norm, pool, fused := row.On(c).NewBatchNorm(k.rows, k.channels), row.On(c).NewMaxPool(s),
				row.On(c).NewNormPool(s)
			n := s.N * s.OutH() * s.OutW() * s.C
			y, dy, wantY := kerneltest.Floats(t, n), kerneltest.Draw(t, n, 0.1, 2), kerneltest.Floats(t, n)
			for c := range k.mean {
				k.mean[c], k.variance[c] = 0.1, float32(c%7)+0.5
				if c%4 == 1 { // values that are not finite
					k.x[c], k.x[len(k.x)-s.C+c] = float32(math.NaN()), float32(math.Inf(c%8-4))
				}
			}
			norm.Normalize(k.y, k.x, k.mean, k.variance, k.gamma, k.beta, eps, true)
			pool.Forward(wantY, k.y)
			fused.Forward(y, k.x, k.mean, k.variance, k.gamma, k.beta, eps)
			what := fmt.Sprintf("%+v", s)
			kerneltest.SameBits(t, what+" y", y, wantY)

			pool.Backward(k.dy, dy, k.y, false)
			norm.Backward(k.dx, k.dgamma, k.dbeta, k.dy, k.x, k.mean, k.variance, k.gamma, k.beta,
				eps, true)
			dx, dgamma, dbeta := kerneltest.Floats(t, len(k.x)), kerneltest.Floats(t, s.C),
				kerneltest.Floats(t, s.C)
			fused.Backward(dx, dgamma, dbeta, dy, k.x, k.mean, k.variance, k.gamma, k.beta, eps)
			kerneltest.SameBits(t, what+" dgamma", dgamma, k.dgamma)
			kerneltest.SameBits(t, what+" dbeta", dbeta, k.dbeta)
			kerneltest.SameBits(t, what+" dx", dx, k.dx)
			fused.Backward(k.x, dgamma, dbeta, dy, k.x, k.mean, k.variance, k.gamma, k.beta, eps)
			kerneltest.SameBits(t, what+" dx in x", k.x, k.dx)
		}
	})
}

func TestNormPoolDoesNotAllocate(t *testing.T) {
	c := kerneltest.Open(t, compute.Best(), 2)
	s := row.PoolShape{N: 7, H: 16, W: 16, C: 64, Size: 2, Stride: 2}
	k := newNormCase(t, s.N*s.H*s.W, s.C, 0.2, true)
	p := row.On(c).NewNormPool(s)
	if n := alloctest.Least(5, func() {
		p.Forward(k.y[:len(k.x)/4], k.x, k.mean, k.variance, k.gamma, k.beta, eps)
		p.Backward(k.dx, k.dgamma, k.dbeta, k.dy[:len(k.x)/4], k.x, k.mean, k.variance, k.gamma,
			k.beta, eps)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
