package product_test

import (
	"fmt"
	"testing"
	"time"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"
)

// shareShapes are the plain products of resnet50 on 64 images of 32x32 pixels and of BERT, and the
// convolutions of lenet on as many images.
func shareShapes() []product.ConvShape {
	point := func(rows, c, k int) product.ConvShape {
		return product.ConvShape{N: rows, H: 1, W: 1, C: c, K: k, R: 1, S: 1, Stride: 1}
	}
	return []product.ConvShape{
		point(65536, 64, 64), point(65536, 64, 256), point(65536, 256, 64), point(65536, 256, 128),
		point(16384, 128, 512), point(16384, 512, 128), point(16384, 512, 256), point(4096, 256, 1024),
		point(4096, 1024, 256), point(4096, 1024, 512), point(1024, 512, 2048), point(1024, 2048, 512),
		point(1024, 768, 768), point(1024, 768, 3072), point(1024, 3072, 768), point(4096, 256, 256),
		{N: 64, H: 32, W: 32, C: 3, K: 6, R: 5, S: 5, Stride: 1},
		{N: 64, H: 14, W: 14, C: 6, K: 16, R: 5, S: 5, Stride: 1, Pad: 2},
	}
}

// BenchmarkShare takes products apart on one thread: all of a call, its tiles without the copies of operands
// that they read, and its copies without tiles. They are called in turn, on other operands each time, so
// that these come from memory as in a step; figures are of the fastest call of each. Tiles alone are the
// limit of a call: nothing but its multiply-adds and the traffic of its results. Names are rows, terms of a
// sum and filters.
func BenchmarkShare(b *testing.B) {
	for _, math := range []compute.Math{compute.Exact, compute.BF16} {
		for _, s := range shareShapes() {
			rows, depth := s.N*s.OutH()*s.OutW(), s.C*s.R*s.S
			b.Run(fmt.Sprintf("%v/%d-%d-%d", math, rows, depth, s.K), func(b *testing.B) {
				sh := newShare(b, math, s)
				b.Run("forward", func(b *testing.B) { sh.bench(b, s, (*share).forward) })
				b.Run("data", func(b *testing.B) { sh.bench(b, s, (*share).data) })
				b.Run("weights", func(b *testing.B) { sh.bench(b, s, (*share).weights) })
			})
		}
	}
}

// share is a product as a whole and with parts left out.
type share struct {
	plans   [3]*product.Conv
	sets    []operands // to be used in turn
	scratch []float32
}

// operands is what one call reads and writes.
type operands struct{ x, y, w []float32 }

// shareParts are what the plans compute, shareWithout what they leave out.
var (
	shareParts   = [3]string{"all", "tiles", "copies"}
	shareWithout = [3]string{"nothing", "copies", "tiles"}
)

func newShare(b *testing.B, math compute.Math, s product.ConvShape) *share {
	past := 32 << 20 // floats that no cache holds
	if s.R > 1 {
		past = 0 // lenet's stay in the caches
	}
	sh := &share{}
	for range past/(s.N*(s.H*s.W*s.C+s.OutH()*s.OutW()*s.K)) + 2 {
		sh.sets = append(sh.sets, newOperands(b, s))
	}
	for i, part := range shareWithout {
		c, err := compute.Open(compute.Config{ISA: compute.Best(), Threads: 1, Math: math})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(c.Close)
		cpu := product.On(c)
		cpu.Without(part)
		sh.plans[i] = cpu.NewConv(s)
	}
	sh.scratch = kerneltest.Huge(b, sh.plans[0].ScratchFloats())
	return sh
}

func newOperands(b *testing.B, s product.ConvShape) operands {
	o := operands{kerneltest.Huge(b, s.N*s.H*s.W*s.C), kerneltest.Huge(b, s.N*s.OutH()*s.OutW()*s.K),
		kerneltest.Huge(b, s.R*s.S*s.C*s.K)}
	for seed, v := range [][]float32{o.x, o.y, o.w} {
		f := noise(uint32(seed) + 1)
		for i := range v {
			v[i] = f(i)
		}
	}
	return o
}

func (sh *share) forward(v *product.Conv, o operands) {
	v.Forward(o.y, o.x, o.w, nil, false, nil, sh.scratch)
}

func (sh *share) data(v *product.Conv, o operands) {
	v.BackwardData(o.x, o.y, o.w, false, sh.scratch)
}

func (sh *share) weights(v *product.Conv, o operands) {
	v.BackwardWeights(o.w, o.x, o.y, sh.scratch)
}

// bench reports the fastest call of each plan, and GFLOP/s of all and of tiles alone.
func (sh *share) bench(b *testing.B, s product.ConvShape, call func(*share, *product.Conv, operands)) {
	least, turn := [len(shareParts)]time.Duration{}, 0
	for i := range least {
		least[i] = time.Hour
	}
	for b.Loop() {
		for i, v := range sh.plans {
			start := time.Now()
			call(sh, v, sh.sets[turn%len(sh.sets)])
			least[i] = min(least[i], time.Since(start))
			turn++
		}
	}
	for i, part := range shareParts {
		b.ReportMetric(float64(least[i].Nanoseconds())/1e3, part+"-us")
	}
	b.ReportMetric(float64(s.FLOPs())/least[0].Seconds()/1e9, "GFLOP/s")
	b.ReportMetric(float64(s.FLOPs())/least[1].Seconds()/1e9, "tiles-GFLOP/s")
}
