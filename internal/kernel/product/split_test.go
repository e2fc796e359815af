package product_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"
)

// splitShapes are convolutions that products of parts compute.
func splitShapes() map[string]product.ConvShape {
	return map[string]product.ConvShape{
		"linear":       {131, 1, 1, 128, 160, 1, 1, 1, 0},
		"deep":         {130, 1, 1, 1056, 128, 1, 1, 1, 0},
		"stride":       {5, 11, 12, 128, 128, 3, 3, 2, 1},
		"stride 1x1":   {33, 4, 5, 128, 128, 1, 1, 2, 0},
		"filter 3x2":   {3, 9, 8, 128, 128, 3, 2, 1, 1},
		"many batches": {2, 20, 21, 128, 128, 1, 1, 1, 0},
	}
}

// openSplit opens a CPU that multiplies parts, and skips the test where there is no matrix unit.
func openSplit(t testing.TB, m compute.Math, isa compute.ISA, threads int) *compute.CPU {
	t.Helper()
	c, err := compute.Open(compute.Config{ISA: isa, Threads: threads, Math: m})
	if errors.Is(err, compute.ErrNoMatrixUnit) || !slices.Contains(compute.Supported(), isa) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// splitErrors are the largest errors of one product relative to its size.
func splitErrors() map[compute.Math]float64 {
	return map[compute.Math]float64{compute.BF16x6: 3e-7, compute.BF16x3: 2e-5}
}

func TestSplitMatchesDefinition(t *testing.T) {
	for name, s := range splitShapes() {
		d := newConvData(t, s)
		for m, bound := range splitErrors() {
			t.Run(fmt.Sprintf("%v/%s", m, name), func(t *testing.T) {
				r := d.run(t, openSplit(t, m, compute.Plain, 1), false)
				for _, v := range []struct {
					name       string
					got        []float32
					want, size []float64
				}{{"forward", r.y, d.y, d.ySize}, {"backward data", r.dx, d.dx, d.dxSize},
					{"backward weights", r.dw, d.dw, d.size}} {
					for i, want := range v.want {
						if e := math.Abs(float64(v.got[i]) - want); !(e <= bound*v.size[i]) {
							t.Fatalf("%s: element %d is %v, want %v", v.name, i, v.got[i], want)
						}
					}
				}
			})
		}
	}
}

// The matrix unit gives the bits of its portable twin, whatever the number of threads.
func TestSplitMatchesPlain(t *testing.T) {
	for name, s := range splitShapes() {
		d := newConvData(t, s)
		copy(d.x, []float32{0, 1e-38, -1e-39, 3e38, 1e30, 1e-30, -1e-25})
		copy(d.dy, []float32{1e-36, -0x1p-126, 0, 2e-39, -3e-20, 1e20})
		for m := range splitErrors() {
			t.Run(fmt.Sprintf("%v/%s", m, name), func(t *testing.T) {
				want := d.run(t, openSplit(t, m, compute.Plain, 1), true)
				for threads := 1; threads <= 3; threads++ {
					got := d.run(t, openSplit(t, m, compute.AVX512, threads), true)
					kerneltest.SameBits(t, "forward", got.y, want.y)
					kerneltest.SameBits(t, "backward data", got.dx, want.dx)
					kerneltest.SameBits(t, "backward weights", got.dw, want.dw)
				}
			})
		}
	}
}

// An unknown math is an error, not Fast.
func TestMathsAreKnown(t *testing.T) {
	if c, err := compute.Open(compute.Config{Math: compute.BF16x3 + 1}); err == nil {
		c.Close()
		t.Error("an unknown math was opened")
	}
}

// A convolution that adds gives dx plus what it gives without, chunk by chunk.
func TestSplitAdds(t *testing.T) {
	for name, s := range splitShapes() {
		d := newConvData(t, s)
		v := product.On(openSplit(t, compute.BF16x6, compute.Plain, 2)).NewConv(s)
		scratch, dx := make([]float32, v.ScratchFloats()), slices.Repeat([]float32{0.5}, len(d.dx))
		v.BackwardData(dx, d.dy, d.w, true, scratch)
		for i, got := range dx {
			if e := math.Abs(float64(got) - 0.5 - d.dx[i]); !(e <= 3e-7*(0.5+d.dxSize[i])) {
				t.Fatalf("%s: element %d is %v, want %v", name, i, got, 0.5+d.dx[i])
			}
		}
	}
}

// A resized convolution gives the results of one planned so.
func TestSplitResizes(t *testing.T) {
	s := splitShapes()["linear"]
	c := openSplit(t, compute.BF16x3, compute.Plain, 1)
	big := s
	big.N += 60
	v := product.On(c).NewConv(big)
	v.Resize(s.N)
	d := newConvData(t, s)
	want := d.run(t, c, false)
	y, dw := make([]float32, len(d.y)), make([]float32, len(d.dw))
	scratch := make([]float32, v.ScratchFloats())
	v.Forward(y, d.x, d.w, d.bias, false, nil, scratch)
	v.BackwardWeights(dw, d.x, d.dy, scratch)
	kerneltest.SameBits(t, "forward", y, want.y)
	kerneltest.SameBits(t, "backward weights", dw, want.dw)
}

func TestSplitDoesNotAllocate(t *testing.T) {
	d := newConvData(t, splitShapes()["stride"])
	v := product.On(openSplit(t, compute.BF16x6, compute.AVX512, 2)).NewConv(d.s)
	scratch := make([]float32, v.ScratchFloats())
	y, dx, dw := make([]float32, len(d.y)), make([]float32, len(d.dx)), make([]float32, len(d.dw))
	n := testing.AllocsPerRun(5, func() {
		v.Forward(y, d.x, d.w, d.bias, true, nil, scratch)
		v.BackwardData(dx, d.dy, d.w, false, scratch)
		v.BackwardWeights(dw, d.x, d.dy, scratch)
	})
	if n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

var benchThreads = flag.Int("threads", 1, "threads of BenchmarkSplit")

func BenchmarkSplit(b *testing.B) {
	for _, s := range []product.ConvShape{
		{64, 32, 32, 64, 256, 1, 1, 1, 0}, {64, 16, 16, 512, 128, 1, 1, 1, 0},
		{64, 8, 8, 256, 1024, 1, 1, 1, 0}, {64, 4, 4, 2048, 512, 1, 1, 1, 0},
		{64, 16, 16, 256, 256, 3, 3, 2, 1}, {1024, 1, 1, 768, 3072, 1, 1, 1, 0},
	} {
		for _, m := range []compute.Math{compute.Fast, compute.BF16x6, compute.BF16x3} {
			v := product.On(openSplit(b, m, compute.Best(), *benchThreads)).NewConv(s)
			x := filled(b, s.N*s.H*s.W*s.C, noise(1))
			y := filled(b, s.N*s.OutH()*s.OutW()*s.K, noise(2))
			w := filled(b, s.R*s.S*s.C*s.K, noise(3))
			scratch := make([]float32, v.ScratchFloats())
			for name, call := range map[string]func(){
				"forward": func() { v.Forward(y, x, w, nil, false, nil, scratch) },
				"data":    func() { v.BackwardData(x, y, w, false, scratch) },
				"weights": func() { v.BackwardWeights(w, x, y, scratch) },
			} {
				b.Run(fmt.Sprintf("%s/%s/%v", shapeName(s), name, m), func(b *testing.B) {
					for b.Loop() {
						call()
					}
					b.ReportMetric(float64(s.FLOPs())*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
		}
	}
}
