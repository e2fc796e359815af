package kernel_test

import (
	"fmt"
	"testing"
	"time"

	"lockstep/internal/kernel"
)

// benchShapes are the convolutions of vgg11 at batch 64 and of lenet at batch 16.
func benchShapes() []kernel.ConvShape {
	conv := func(n, size, c, k int) kernel.ConvShape {
		return kernel.ConvShape{N: n, H: size, W: size, C: c, K: k, R: 3, S: 3, Stride: 1, Pad: 1}
	}
	return []kernel.ConvShape{
		conv(64, 32, 3, 64), conv(64, 16, 64, 128), conv(64, 8, 128, 256), conv(64, 8, 256, 256),
		conv(64, 4, 256, 512), conv(64, 4, 512, 512), conv(64, 2, 512, 512), conv(64, 2, 512, 512),
		{64, 1, 1, 512, 10, 1, 1, 1, 0},
		{16, 32, 32, 3, 6, 5, 5, 1, 0}, {16, 14, 14, 6, 16, 5, 5, 1, 2},
		{16, 7, 7, 16, 64, 7, 7, 1, 0}, {16, 1, 1, 64, 10, 1, 1, 1, 0},
	}
}

func shapeName(s kernel.ConvShape) string {
	return fmt.Sprintf("%dx%d_%d-%d@%dx%d_n%d", s.R, s.S, s.C, s.K, s.H, s.W, s.N)
}

// BenchmarkConv reports GFLOP/s, counting products with padding, of each direction on one
// thread. Figures are of the fastest call, since other work on the machine only adds.
func BenchmarkConv(b *testing.B) {
	for i, s := range benchShapes() {
		for _, isa := range kernel.Supported()[1:] {
			b.Run(fmt.Sprintf("%v/%02d_%s", isa, i, shapeName(s)), func(b *testing.B) {
				benchConv(b, isa, s)
			})
		}
	}
}

func benchConv(b *testing.B, isa kernel.ISA, s kernel.ConvShape) {
	noisy := func(n int, seed uint32) []float32 {
		f, v := noise(seed), make([]float32, n)
		for i := range v {
			v[i] = f(i)
		}
		return v
	}
	v := open(b, isa, 1).NewConv(s)
	x, w := noisy(s.N*s.H*s.W*s.C, 1), noisy(s.R*s.S*s.C*s.K, 2)
	dy, bias := noisy(s.N*s.OutH()*s.OutW()*s.K, 3), noisy(s.K, 4)
	y, dx, dw := make([]float32, len(dy)), make([]float32, len(x)), make([]float32, len(w))
	scratch := make([]float32, v.ScratchFloats())
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
