package product_test

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"
)

// batchShapes are convolutions whose plans depend on the number of images, and some whose do not.
func batchShapes() map[string]product.ConvShape {
	return map[string]product.ConvShape{
		"winograd, small map":  conv3x3(0, 4, 4, 32, 32, 1),
		"winograd, maps":       conv3x3(0, 2, 2, 64, 64, 1),
		"winograd, large map":  conv3x3(0, 9, 10, 16, 24, 1),
		"winograd, no pad":     conv3x3(0, 6, 6, 24, 16, 0),
		"winograd, strided":    strided3x3(0, 15, 16, 16, 24),
		"lanes":                {0, 9, 9, 6, 16, 5, 5, 1, 2},
		"lanes, data":          {0, 10, 9, 5, 6, 4, 4, 1, 1},
		"copied":               {0, 12, 12, 3, 20, 5, 5, 1, 0},
		"positions":            {0, 5, 5, 20, 24, 3, 3, 2, 1},
		"deep":                 {0, 4, 4, 200, 24, 3, 3, 2, 1},
		"points":               {0, 3, 3, 128, 96, 1, 1, 1, 0},
		"linear":               {0, 2, 3, 33, 17, 2, 3, 1, 0},
		"one pixel":            {0, 1, 1, 160, 64, 1, 1, 1, 0},
		"pairs":                {0, 6, 4, 256, 256, 1, 1, 1, 0},
		"strided pairs":        {0, 11, 8, 256, 256, 1, 1, 2, 0},
		"parts, where on":      {0, 4, 4, 128, 64, 1, 1, 1, 0},
		"parts, 3x3, where on": {0, 6, 6, 128, 64, 3, 3, 2, 1},
	}
}

// batched computes y and dx of images in batches of n, the last of which may be smaller, and notes how.
type batched struct {
	y, dx         []float32
	forward, data []string // by image
}

func inBatches(c *compute.CPU, s product.ConvShape, x, w, bias, dy []float32, images, n int) batched {
	in, out := s.H*s.W*s.C, s.OutH()*s.OutW()*s.K
	b := batched{y: make([]float32, images*out), dx: make([]float32, images*in)}
	for first := 0; first < images; first += n {
		s.N = min(n, images-first)
		v := product.On(c).NewConv(s)
		scratch := make([]float32, v.ScratchFloats())
		v.Forward(b.y[first*out:][:s.N*out], x[first*in:][:s.N*in], w, bias, false, nil, scratch)
		v.BackwardData(b.dx[first*in:][:s.N*in], dy[first*out:][:s.N*out], w, false, scratch)
		forward, data := v.Choice()
		for range s.N {
			b.forward, b.data = append(b.forward, forward), append(b.data, data)
		}
	}
	return b
}

// An image gets the same bits in every batch for which NewConv chooses the same algorithm: whether Winograd's
// algorithm, Strassen's or products of parts are used depends on the number of images; everything else that
// does changes no bit, where an image has an even number of pixels. The test counts the choices that it has
// met, so that a new one is not forgotten. ISAs other than the fastest, whose plans differ in the width of
// tiles, see a whole batch and a smaller one.
func TestImageBitsByBatch(t *testing.T) {
	const images = 23
	met := map[string]bool{}
	for name, s := range batchShapes() {
		s.N = images
		x, w := kerneltest.Draw(t, images*s.H*s.W*s.C, 0, 1), kerneltest.Draw(t, s.R*s.S*s.C*s.K, 0, 2)
		bias, dy := kerneltest.Draw(t, s.K, 0, 3), kerneltest.Draw(t, images*s.OutH()*s.OutW()*s.K, 0, 4)
		for _, c := range mathsOn(t, assembly()) {
			what := fmt.Sprintf("%s, %v, %v", name, c.ISA(), c.Math())
			firstY, firstDX := map[string][]float32{}, map[string][]float32{}
			sizes := []int{images, 6}
			if c.ISA() == compute.Best() {
				sizes = []int{images, 1, 5, 6, 7, 16}
			}
			for _, n := range sizes {
				b := inBatches(c, s, x, w, bias, dy, images, n)
				compareImages(t, fmt.Sprintf("%s, y in batches of %d", what, n), b.forward, b.y, firstY)
				compareImages(t, fmt.Sprintf("%s, dx in batches of %d", what, n), b.data, b.dx, firstDX)
				for i := range images {
					met[b.forward[i]], met[b.data[i]] = true, true
				}
			}
		}
	}
	if len(met) != 7 {
		t.Errorf("the plans were made by %d choices, want all 7: %v", len(met), met)
	}
}

// compareImages compares each image with the first one seen that the same algorithm has computed.
func compareImages(t *testing.T, what string, choices []string, got []float32, first map[string][]float32) {
	t.Helper()
	each := len(got) / len(choices)
	for i, choice := range choices {
		algorithm, _, _ := strings.Cut(choice, ":")
		key := fmt.Sprintf("%s %d", algorithm, i)
		image := got[i*each:][:each]
		if want, ok := first[key]; ok {
			kerneltest.SameBits(t, fmt.Sprintf("%s, image %d, %s", what, i, choice), image, want)
		} else {
			first[key] = image
		}
	}
}

// mathsOn returns a CPU for each of the ISAs and each math that this machine has.
func mathsOn(t *testing.T, isas []compute.ISA) (all []*compute.CPU) {
	t.Helper()
	for _, isa := range isas {
		for _, m := range []compute.Math{compute.Fast, compute.Exact, compute.BF16x6, compute.BF16x3,
			compute.BF16} {
			if m.On(isa) != nil {
				continue
			}
			c, err := compute.Open(compute.Config{ISA: isa, Threads: 2, Math: m})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			all = append(all, c)
		}
	}
	return all
}

// Gradients of weights have the same bits whether x is copied in strips or read where it lies, which depends
// on the maker of the processor.
func TestStripsChangeNoBit(t *testing.T) {
	s := product.ConvShape{N: 3, H: 9, W: 9, C: 260, K: 320, R: 1, S: 1, Stride: 1}
	x, dy := kerneltest.Draw(t, s.N*81*s.C, 0, 1), kerneltest.Draw(t, s.N*81*s.K, 0, 2)
	for _, c := range mathsOn(t, assembly()) {
		var dw [2][]float32
		for i := range dw {
			cpu := product.On(c)
			cpu.ReadApart(i == 1)
			dw[i] = weightsOf(cpu, s, x, dy)
		}
		kerneltest.SameBits(t, fmt.Sprintf("%v, %v", c.ISA(), c.Math()), dw[1], dw[0])
	}
}

// The gradient of a channel's weights has the same bits among many channels, whose strips are copied under
// every tap, as among few, which are read where they lie. The last parcel lacks images, and the last group of
// channels has one strip.
func TestTapsInStripsChangeNoBit(t *testing.T) {
	const n, width, some = 30, 256, 24
	all := product.ConvShape{N: n, H: 5, W: 5, C: 294, K: width, R: 3, S: 3, Stride: 2, Pad: 1}
	few := all
	few.C = some
	x, dy := kerneltest.Draw(t, n*25*all.C, 0, 1), kerneltest.Draw(t, n*9*width, 0, 2)
	var cut []float32
	for i := 0; i < len(x); i += all.C {
		cut = append(cut, x[i+all.C-some:i+all.C]...)
	}
	for _, isa := range assembly() {
		for threads := 1; threads <= 3; threads++ {
			cpu := product.On(openExact(t, isa, threads))
			got, want := weightsOf(cpu, all, x, dy), weightsOf(cpu, few, cut, dy)
			for tap := range 9 {
				kerneltest.SameBits(t, fmt.Sprintf("%v, %d threads, tap %d", isa, threads, tap),
					got[((tap+1)*all.C-some)*width:][:some*width], want[tap*some*width:][:some*width])
			}
		}
	}
}

func weightsOf(c *product.CPU, s product.ConvShape, x, dy []float32) []float32 {
	v, dw := c.NewConv(s), make([]float32, s.R*s.S*s.C*s.K)
	v.BackwardWeights(dw, x, dy, make([]float32, v.ScratchFloats()))
	return dw
}

// Convolutions of stride 2 are computed by Winograd's algorithm from the batch on at which that saves enough
// products, and only in float32.
func TestStridedChoice(t *testing.T) {
	for _, v := range []struct {
		images int
		math   compute.Math
		want   bool
	}{{6, compute.Fast, false}, {7, compute.Fast, true}, {64, compute.BF16, false},
		{64, compute.Exact, false}} {
		c, err := compute.Open(compute.Config{ISA: compute.Plain, Threads: 1, Math: v.math})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		forward, data := product.On(c).NewConv(strided3x3(v.images, 16, 16, 64, 128)).Choice()
		if got := forward == "winograd"; got != v.want || got != (data == "winograd") {
			t.Errorf("%d images, %v: %s and %s", v.images, v.math, forward, data)
		}
	}
}
