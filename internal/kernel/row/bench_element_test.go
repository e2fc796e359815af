package row_test

import (
	"fmt"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"
	"lockstep/internal/kernel/row"
)

// Bandwidth of the memory-bound kernels on one thread, counting each float read or written once:
//
//	go test ./internal/kernel/row -run '^$' -bench Memory -benchtime 0.3s
//
// The map is that of a first VGG layer with 64 samples, 64 x 32 x 32 x 64 floats; the small one is
// that of LeNet's second convolution with 64 samples.

// passes returns the benchmarked calls over rows x channels, with the floats each moves per element
// of the map.
func passes(b *testing.B, c *compute.CPU, k *normCase) []memoryPass {
	n := k.rows * k.channels
	v, side := make([]float32, n), 32
	for k.rows%(side*side) != 0 {
		side -= 2
	}
	shape := row.PoolShape{N: k.rows / side / side, H: side, W: side, C: k.channels, Size: 2, Stride: 2}
	pool, normPool := row.On(c).NewMaxPool(shape), row.On(c).NewNormPool(shape)
	shape.Size, shape.Pad = 3, 1
	windows := row.On(c).NewMaxPool(shape)
	norm, sums := row.On(c).NewBatchNorm(k.rows, k.channels), row.On(c).NewColumnSums(k.rows, k.channels)
	moments := row.On(c).NewMoments(k.rows, k.channels, product.FinishRows(1, k.channels))
	return []memoryPass{
		{"Moments", 1, func() { moments.Run(k.mean, k.variance, k.unbiased, k.x) }},
		{"Normalize", 2, func() {
			norm.Normalize(k.y, k.x, k.mean, k.variance, k.gamma, k.beta, eps, true)
		}},
		{"Backward", 5, func() {
			norm.Backward(k.dx, k.dgamma, k.dbeta, k.dy, k.x, k.mean, k.variance, k.gamma, k.beta,
				eps, true)
		}},
		{"NormalizeAdd", 3, func() {
			norm.NormalizeAdd(k.y, k.x, k.dy, k.mean, k.variance, k.gamma, k.beta, eps, true)
		}},
		{"BackwardAdd", 7, func() {
			norm.BackwardAdd(k.dy, k.dx, k.dgamma, k.dbeta, k.dy, k.y, k.x, k.mean, k.variance, k.gamma,
				k.beta, eps)
		}},
		{"NormPool", 1.25, func() {
			normPool.Forward(k.y[:n/4], k.x, k.mean, k.variance, k.gamma, k.beta, eps)
		}},
		{"NormPoolBackward", 3.5, func() {
			normPool.Backward(k.dx, k.dgamma, k.dbeta, k.dy[:n/4], k.x, k.mean, k.variance, k.gamma,
				k.beta, eps)
		}},
		{"ColumnSums", 1, func() { sums.Run(k.dbeta, k.x) }},
		{"ReLU", 2, func() { row.On(c).ReLU(k.y, k.x) }},
		{"ReLUBackward", 3, func() { row.On(c).ReLUBackward(k.dx, k.dy, k.y) }},
		{"Add", 3, func() { row.On(c).Add(k.y, k.x, k.dy) }},
		{"MaxPool", 1.25, func() { pool.Forward(k.y[:n/4], k.x) }},
		{"MaxPoolBackward", 2.25, func() { pool.Backward(k.dx, k.dy[:n/4], k.x, false) }},
		{"Windows", 1.25, func() { windows.Forward(k.y[:n/4], k.x) }},
		{"WindowsBackward", 2.25, func() { windows.Backward(k.dx, k.dy[:n/4], k.x, false) }},
		{"SGD", 5, func() { row.On(c).SGD(k.y, v, k.dy, 1e-9, 0.9, 1e-4, 1, false) }},
	}
}

type memoryPass struct {
	name  string
	moved float64
	run   func()
}

func BenchmarkMemory(b *testing.B) {
	for _, m := range [][2]int{{64 * 32 * 32, 64}, {64 * 8 * 8, 256}, {64 * 4 * 4, 512}, {64 * 14 * 14, 16}} {
		for _, isa := range compute.Supported() {
			verify(b, isa, m[0]/8, m[1])
			k := newNormCase(b, m[0], m[1], 0.5, true)
			for _, p := range passes(b, kerneltest.Open(b, isa, 1), k) {
				b.Run(fmt.Sprintf("%s/%v/%v", p.name, m, isa), func(b *testing.B) {
					for b.Loop() {
						p.run()
					}
					bytes := 4 * p.moved * float64(len(k.x)) * float64(b.N)
					b.ReportMetric(bytes/float64(b.Elapsed().Nanoseconds()), "GB/s")
				})
			}
		}
	}
}

// verify compares every pass with the plain twin on a smaller map.
func verify(b *testing.B, isa compute.ISA, rows, channels int) {
	got := newNormCase(b, rows, channels, 0.5, true)
	want := newNormCase(b, rows, channels, 0.5, true)
	passesWant := passes(b, kerneltest.Open(b, compute.Plain, 1), want)
	for i, p := range passes(b, kerneltest.Open(b, isa, 1), got) {
		p.run()
		passesWant[i].run()
		for _, s := range [][2][]float32{
			{got.y, want.y}, {got.dx, want.dx}, {got.mean, want.mean},
			{got.variance, want.variance}, {got.dgamma, want.dgamma}, {got.dbeta, want.dbeta},
		} {
			kerneltest.SameBits(b, p.name, s[0], s[1])
		}
	}
}
