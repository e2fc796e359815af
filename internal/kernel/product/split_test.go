package product_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"
)

// splitShapes are convolutions that products of parts compute.
func splitShapes() map[string]product.ConvShape {
	return map[string]product.ConvShape{
		"linear":       {131, 1, 1, 128, 160, 1, 1, 1, 0},
		"deep":         {130, 1, 1, 1056, 128, 1, 1, 1, 0},
		"stride":       {6, 11, 12, 128, 128, 3, 3, 2, 1},
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
	return map[compute.Math]float64{compute.BF16x6: 3e-7, compute.BF16x3: 2e-5, compute.BF16: 0x1p-8}
}

// openFastest opens the fastest ISA that computes m here. It skips several products of parts on the plain
// path, which take long, but for two shapes: products of one part gather the operands of all.
func openFastest(t *testing.T, m compute.Math, name string, threads int) *compute.CPU {
	t.Helper()
	if m.On(compute.Best()) == nil {
		return openSplit(t, m, compute.Best(), threads)
	}
	if m != compute.BF16 && name != "linear" && name != "stride 1x1" {
		t.Skip("takes long on the plain path")
	}
	return openSplit(t, m, compute.Plain, threads)
}

// What the fastest ISA computes, TestSplitMatchesPlain compares with the others.
func TestSplitMatchesDefinition(t *testing.T) {
	for name, s := range splitShapes() {
		d := newConvData(t, s).define()
		for m, bound := range splitErrors() {
			t.Run(fmt.Sprintf("%v/%s", m, name), func(t *testing.T) {
				r := d.run(t, openFastest(t, m, name, 1), false)
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

// Every ISA gives the bits of the portable twin, whatever the number of threads.
func TestSplitMatchesPlain(t *testing.T) {
	for name, s := range splitShapes() {
		d := newConvData(t, s)
		copy(d.x, []float32{0, 1e-38, -1e-39, 3e38, 1e30, 1e-30, -1e-25})
		copy(d.dy, []float32{1e-36, -0x1p-126, 0, 2e-39, -3e-20, 1e20})
		for m := range splitErrors() {
			t.Run(fmt.Sprintf("%v/%s", m, name), func(t *testing.T) {
				all := vectorISAs(t, m)
				want := d.run(t, openSplit(t, m, compute.Plain, 1), true)
				for _, isa := range all {
					for threads := 1; threads <= 4; threads++ {
						d.run(t, openSplit(t, m, isa, threads), true).same(t, want)
					}
				}
			})
		}
	}
}

// vectorISAs lists the ISAs besides plain that compute m here, and skips the test if there are none.
func vectorISAs(t *testing.T, m compute.Math) (list []compute.ISA) {
	t.Helper()
	for _, isa := range compute.Supported()[1:] {
		if m.On(isa) == nil {
			list = append(list, isa)
		}
	}
	if len(list) == 0 {
		t.Skipf("nothing but plain computes %v here", m)
	}
	return list
}

// same fails unless r has the bits of want.
func (r convResult) same(t *testing.T, want convResult) {
	t.Helper()
	kerneltest.SameBits(t, "forward", r.y, want.y)
	kerneltest.SameBits(t, "backward data", r.dx, want.dx)
	kerneltest.SameBits(t, "backward weights", r.dw, want.dw)
}

// Products of one part are those of operands rounded to bf16, ties to even. What the shape leaves in float32
// is not rounded.
func TestBF16Rounds(t *testing.T) {
	s := splitShapes()["linear"]
	small := s
	small.C = 32 // fewer terms than pay
	for _, isa := range compute.Supported() {
		c := openSplit(t, compute.BF16, isa, 1)
		for _, x := range []struct{ in, want float32 }{
			{1, 1}, {1 + 0x1p-7, 1 + 0x1p-7}, {1 + 0x1p-8, 1}, {1 + 0x1p-7 + 0x1p-8, 1 + 0x1p-6},
			{1 + 0x1p-8 + 0x1p-20, 1 + 0x1p-7}, {-3.003, -3}, {0x1p-130, 0},
			{math.MaxFloat32, float32(math.Inf(1))},
		} {
			if got := onlyProduct(c, s, x.in); got != x.want {
				t.Errorf("%v: %v times one is %v, want %v", isa, x.in, got, x.want)
			}
			if got := onlyProduct(c, small, x.in); got != x.in {
				t.Errorf("%v: %v times one is %v in a small product, want the same", isa, x.in, got)
			}
		}
		for _, payload := range []uint32{0x7fc00000, 0x7fffffff, 0xffffffff, 0x7f800001} {
			if got := onlyProduct(c, s, math.Float32frombits(payload)); got == got {
				t.Errorf("%v: NaN %#x times one is %v", isa, payload, got)
			}
		}
	}
}

// onlyProduct returns the first of y, where only x's first is not zero and the first weight is one.
func onlyProduct(c *compute.CPU, s product.ConvShape, first float32) float32 {
	v := product.On(c).NewConv(s)
	x, y, w := make([]float32, s.N*s.C), make([]float32, s.N*s.K), make([]float32, s.C*s.K)
	x[0], w[0] = first, 1
	v.Forward(y, x, w, nil, false, nil, make([]float32, v.ScratchFloats()))
	return y[0]
}

// Every ISA gives the bits of the portable twin of products of one part for any shape and numbers of any
// size, also where products are denormal or overflow.
func FuzzBF16(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint8(0), uint8(0), int8(0), uint32(1))
	f.Add(uint8(3), uint8(0x10), uint8(1), uint8(1), int8(-65), uint32(2))
	f.Add(uint8(1), uint8(0x01), uint8(2), uint8(0), int8(-63), uint32(3))
	f.Add(uint8(2), uint8(0x11), uint8(0), uint8(0), int8(64), uint32(4))
	f.Fuzz(func(t *testing.T, n, channels, filter, pad uint8, scale int8, seed uint32) {
		side := 1 + int(filter)%3
		s := product.ConvShape{N: 8 + int(n)%4, H: 9, W: 9, C: 128 + 32*int(channels%2),
			K: 128 + 32*int(channels>>4%2), R: side, S: side, Stride: 2, Pad: int(pad) % 2}
		d := &convData{s: s, x: wild(t, s.N*s.H*s.W*s.C, scale, seed),
			w:  wild(t, side*side*s.C*s.K, scale, seed+1),
			dy: wild(t, s.N*s.OutH()*s.OutW()*s.K, scale, seed+2), bias: make([]float32, s.K)}
		want := d.run(t, openSplit(t, compute.BF16, compute.Plain, 2), false)
		for _, isa := range vectorISAs(t, compute.BF16) {
			d.run(t, openSplit(t, compute.BF16, isa, 2), false).same(t, want)
		}
	})
}

// wild returns noise of sizes around 2^scale, of which some are zero and some have few bits.
func wild(t testing.TB, n int, scale int8, seed uint32) []float32 {
	next := noise(seed)
	return filled(t, n, func(i int) float32 {
		v, e := float64(next(i)), int(next(i)*20)
		switch int(next(i) * 8) {
		case 0:
			v = math.Copysign(1, v)
		case 1:
			v = 0
		}
		return float32(math.Ldexp(v, int(scale)+e))
	})
}

// An unknown math is an error, not Fast.
func TestMathsAreKnown(t *testing.T) {
	if c, err := compute.Open(compute.Config{Math: compute.BF16 + 1}); err == nil {
		c.Close()
		t.Error("an unknown math was opened")
	}
}

// A convolution that adds gives dx plus what it gives without, chunk by chunk.
func TestSplitAdds(t *testing.T) {
	for name, s := range splitShapes() {
		t.Run(name, func(t *testing.T) {
			v := product.On(openFastest(t, compute.BF16x6, name, 2)).NewConv(s)
			d := newConvData(t, s).define()
			scratch, dx := make([]float32, v.ScratchFloats()), slices.Repeat([]float32{0.5}, len(d.x))
			v.BackwardData(dx, d.dy, d.w, true, scratch)
			for i, got := range dx {
				if e := math.Abs(float64(got) - 0.5 - d.dx[i]); !(e <= 3e-7*(0.5+d.dxSize[i])) {
					t.Fatalf("element %d is %v, want %v", i, got, 0.5+d.dx[i])
				}
			}
		})
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
	y, dw := make([]float32, len(d.dy)), make([]float32, len(d.w))
	scratch := make([]float32, v.ScratchFloats())
	v.Forward(y, d.x, d.w, d.bias, false, nil, scratch)
	v.BackwardWeights(dw, d.x, d.dy, scratch)
	kerneltest.SameBits(t, "forward", y, want.y)
	kerneltest.SameBits(t, "backward weights", dw, want.dw)
}

func TestSplitDoesNotAllocate(t *testing.T) {
	d := newConvData(t, splitShapes()["stride"])
	for m := range splitErrors() {
		t.Run(m.String(), func(t *testing.T) {
			for _, isa := range vectorISAs(t, m) {
				v := product.On(openSplit(t, m, isa, 2)).NewConv(d.s)
				scratch := make([]float32, v.ScratchFloats())
				y, dx, dw := make([]float32, len(d.dy)), make([]float32, len(d.x)), make([]float32, len(d.w))
				n := alloctest.Least(5, func() {
					v.Forward(y, d.x, d.w, d.bias, true, nil, scratch)
					v.BackwardData(dx, d.dy, d.w, false, scratch)
					v.BackwardWeights(dw, d.x, d.dy, scratch)
				})
				if n != 0 {
					t.Errorf("%v: %v allocations, want 0", isa, n)
				}
			}
		})
	}
}

var benchThreads = flag.Int("threads", 1, "threads of BenchmarkSplit")

func BenchmarkSplit(b *testing.B) {
	for _, s := range []product.ConvShape{
		{64, 32, 32, 64, 256, 1, 1, 1, 0}, {64, 16, 16, 512, 128, 1, 1, 1, 0},
		{64, 8, 8, 256, 1024, 1, 1, 1, 0}, {64, 4, 4, 2048, 512, 1, 1, 1, 0},
		{64, 16, 16, 256, 256, 3, 3, 2, 1}, {1024, 1, 1, 768, 3072, 1, 1, 1, 0},
	} {
		for _, m := range []compute.Math{compute.Fast, compute.BF16x6, compute.BF16x3, compute.BF16} {
			if m.On(compute.Best()) != nil {
				continue
			}
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
