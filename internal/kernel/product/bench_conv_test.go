package product_test

import (
	"fmt"
	"testing"
	"time"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"
)

// benchShapes are the convolutions of vgg11 and lenet, those of a ResNet-50 with a 32x32 stem that
// are not 3x3 with stride 1, and linear layers of BERT.
func benchShapes() []product.ConvShape {
	conv := func(size, c, k int) product.ConvShape {
		return product.ConvShape{N: 64, H: size, W: size, C: c, K: k, R: 3, S: 3, Stride: 1, Pad: 1}
	}
	point := func(size, c, k int) product.ConvShape {
		return product.ConvShape{N: 64, H: size, W: size, C: c, K: k, R: 1, S: 1, Stride: 1}
	}
	half := func(s product.ConvShape) product.ConvShape { s.Stride = 2; return s }
	list := []product.ConvShape{
		conv(32, 3, 64), conv(16, 64, 128), conv(8, 128, 256), conv(8, 256, 256), conv(4, 256, 512),
		conv(4, 512, 512), conv(2, 512, 512), point(1, 512, 10), point(1, 784, 64), point(1, 64, 10),
		point(32, 64, 64), point(32, 64, 256), point(32, 256, 64), point(32, 256, 128),
		point(16, 128, 512), point(16, 512, 128), point(8, 256, 1024), point(8, 1024, 256),
		point(4, 512, 2048), point(4, 2048, 512), half(conv(32, 128, 128)), half(conv(16, 256, 256)),
		half(conv(8, 512, 512)), half(point(32, 256, 512)), half(point(16, 512, 1024)),
		half(point(8, 1024, 2048)), {1024, 1, 1, 768, 768, 1, 1, 1, 0}, {1024, 1, 1, 768, 3072, 1, 1, 1, 0},
		{1024, 1, 1, 3072, 768, 1, 1, 1, 0}, {4096, 1, 1, 256, 256, 1, 1, 1, 0},
	}
	for _, n := range []int{16, 64} {
		list = append(list, product.ConvShape{n, 32, 32, 3, 6, 5, 5, 1, 0},
			product.ConvShape{n, 14, 14, 6, 16, 5, 5, 1, 2}, product.ConvShape{n, 7, 7, 16, 64, 7, 7, 1, 0},
			product.ConvShape{n, 1, 1, 64, 10, 1, 1, 1, 0})
	}
	return list
}

func shapeName(s product.ConvShape) string {
	return fmt.Sprintf("%dx%d_%d-%d@%dx%d_s%d_n%d", s.R, s.S, s.C, s.K, s.H, s.W, s.Stride, s.N)
}

// BenchmarkConv reports GFLOP/s, counting products with padding, of each direction on one thread and
// on two. Figures are of the fastest call, since other work on the machine only adds.
func BenchmarkConv(b *testing.B) {
	for i, s := range benchShapes() {
		for _, isa := range compute.Supported()[1:] {
			for threads := 1; threads <= 2; threads++ {
				name := fmt.Sprintf("%v/%d/%02d_%s", isa, threads, i, shapeName(s))
				b.Run(name, func(b *testing.B) { benchConv(b, isa, threads, s) })
			}
		}
	}
}

func benchConv(b *testing.B, isa compute.ISA, threads int, s product.ConvShape) {
	noisy := func(n int, seed uint32) []float32 {
		f, v := noise(seed), kerneltest.Huge(b, n)
		for i := range v {
			v[i] = f(i)
		}
		return v
	}
	v := product.On(kerneltest.Open(b, isa, threads)).NewConv(s)
	x, w := noisy(s.N*s.H*s.W*s.C, 1), noisy(s.R*s.S*s.C*s.K, 2)
	dy, bias := noisy(s.N*s.OutH()*s.OutW()*s.K, 3), noisy(s.K, 4)
	y, dx, dw := kerneltest.Huge(b, len(dy)), kerneltest.Huge(b, len(x)), kerneltest.Huge(b, len(w))
	scratch := kerneltest.Huge(b, v.ScratchFloats())
	calls := []struct {
		name string
		run  func()
	}{
		{"forward", func() { v.Forward(y, x, w, bias, false, nil, scratch) }},
		{"data", func() { v.BackwardData(dx, dy, w, false, scratch) }},
		{"weights", func() { v.BackwardWeights(dw, x, dy, scratch) }},
	}
	for _, call := range calls {
		call.run()
	}
	// The three directions are one bilinear form: <dy, y - bias> = <dx, x> = <dw, w>.
	checkAdjoint(b, y, x, w, bias, dy, dx, dw)
	for _, call := range calls {
		b.Run(call.name, func(b *testing.B) {
			best := time.Hour
			for b.Loop() {
				start := time.Now()
				call.run()
				best = min(best, time.Since(start))
			}
			b.ReportMetric(float64(best.Nanoseconds())/1e3, "best-us")
			b.ReportMetric(float64(s.FLOPs())/best.Seconds()/1e9, "GFLOP/s")
		})
	}
}

func checkAdjoint(b testing.TB, y, x, w, bias, dy, dx, dw []float32) {
	dot := func(a, b []float32) (sum, size float64) {
		for i := range a {
			p := float64(a[i]) * float64(b[i])
			sum, size = sum+p, size+max(p, -p)
		}
		return sum, size
	}
	forward, size := dot(dy, y)
	for i, v := range dy {
		forward -= float64(v) * float64(bias[i%len(bias)])
	}
	data, _ := dot(dx, x)
	weights, _ := dot(dw, w)
	if d := max(forward-data, data-forward, forward-weights, weights-forward); d > 1e-6*size {
		b.Errorf("<dy,y> = %v, <dx,x> = %v, <dw,w> = %v", forward, data, weights)
	}
}
