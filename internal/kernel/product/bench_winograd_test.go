package product_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lockstep/compute"
	"lockstep/internal/kernel/product"
)

// winogradShapes are the 3x3 convolutions of stride 1 of vgg11, of resnet50 with the small stem, both
// at batch 64, and of resnet20 at batch 128, then those of stride 2 of resnet50, with both stems, and of
// resnet20.
func winogradShapes() []product.ConvShape {
	conv := func(n, size, c, k int) product.ConvShape {
		return product.ConvShape{N: n, H: size, W: size, C: c, K: k, R: 3, S: 3, Stride: 1, Pad: 1}
	}
	return []product.ConvShape{
		conv(64, 16, 64, 128), conv(64, 8, 128, 256), conv(64, 8, 256, 256),
		conv(64, 4, 256, 512), conv(64, 4, 512, 512),
		conv(64, 32, 64, 64), conv(64, 16, 128, 128),
		conv(128, 32, 16, 16), conv(128, 16, 32, 32), conv(128, 8, 64, 64),
		conv(16, 4, 512, 512), conv(32, 4, 512, 512), conv(16, 8, 256, 256),
		conv(256, 2, 512, 512), conv(64, 2, 512, 512), conv(16, 2, 512, 512), conv(8, 2, 512, 512),
		strided3x3(64, 32, 32, 128, 128), strided3x3(64, 16, 16, 256, 256), strided3x3(64, 8, 8, 512, 512),
		strided3x3(8, 56, 56, 128, 128), strided3x3(128, 32, 32, 16, 32), strided3x3(128, 16, 16, 32, 64),
	}
}

// BenchmarkWinograd times direct convolutions (Config.Exact) and the usual ones in turn, and reports
// the nominal GFLOP/s of both, from medians.
func BenchmarkWinograd(b *testing.B) {
	for _, s := range winogradShapes() {
		for _, isa := range compute.Supported()[1:] {
			for threads := 1; threads <= 2; threads++ {
				b.Run(fmt.Sprintf("%s/%v/t%d", shapeName(s), isa, threads), func(b *testing.B) {
					benchWinograd(b, s, isa, threads)
				})
			}
		}
	}
}

func benchWinograd(b *testing.B, s product.ConvShape, isa compute.ISA, threads int) {
	var calls [2][]func()
	for i, math := range []compute.Math{compute.Exact, compute.Fast} {
		c, err := compute.Open(compute.Config{ISA: isa, Threads: threads, Math: math})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		calls[i] = convCalls(b, c, s)
	}
	for direction, name := range []string{"forward", "data", "weights"} {
		b.Run(name, func(b *testing.B) {
			var times [2][]float64
			for b.Loop() {
				for i := range times {
					start := time.Now()
					calls[i][direction]()
					times[i] = append(times[i], time.Since(start).Seconds())
				}
			}
			for i, unit := range []string{"direct-GFLOP/s", "GFLOP/s"} {
				slices.Sort(times[i])
				b.ReportMetric(float64(s.FLOPs())/times[i][len(times[i])/2]/1e9, unit)
			}
			b.ReportMetric(times[1][len(times[1])/2]*1e3, "ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// convCalls returns the three directions of a convolution, having checked that they fit together.
func convCalls(b *testing.B, c *compute.CPU, s product.ConvShape) []func() {
	v := product.On(c).NewConv(s)
	noisy := func(n int, seed uint32) []float32 {
		f, v := noise(seed), make([]float32, n)
		for i := range v {
			v[i] = f(i)
		}
		return v
	}
	x, w := noisy(s.N*s.H*s.W*s.C, 1), noisy(s.R*s.S*s.C*s.K, 2)
	dy, bias := noisy(s.N*s.OutH()*s.OutW()*s.K, 3), noisy(s.K, 4)
	y, dx, dw := make([]float32, len(dy)), make([]float32, len(x)), make([]float32, len(w))
	scratch := make([]float32, v.ScratchFloats())
	calls := []func(){
		func() { v.Forward(y, x, w, bias, false, nil, scratch) },
		func() { v.BackwardData(dx, dy, w, false, scratch) },
		func() { v.BackwardWeights(dw, x, dy, scratch) },
	}
	for _, call := range calls {
		call()
	}
	checkAdjoint(b, y, x, w, bias, dy, dx, dw)
	return calls
}
