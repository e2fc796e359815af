package product_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"

	"pgregory.net/rapid"
)

// convShapes are ragged and usual convolutions.
func convShapes() map[string]product.ConvShape {
	return map[string]product.ConvShape{
		"one":              {1, 1, 1, 1, 1, 1, 1, 1, 0},
		"lenet 1":          {4, 32, 32, 3, 6, 5, 5, 1, 0},
		"lenet 2":          {5, 14, 14, 6, 16, 5, 5, 1, 2},
		"lanes 1":          {16, 13, 12, 3, 6, 5, 5, 1, 0},
		"lanes 2":          {30, 9, 9, 6, 16, 5, 5, 1, 2},
		"lanes stride":     {15, 19, 21, 7, 5, 4, 3, 2, 1},
		"lanes band":       {14, 27, 64, 16, 3, 3, 3, 1, 1},
		"lanes narrow":     {13, 11, 10, 9, 1, 3, 3, 1, 2},
		"lanes and few":    {21, 11, 9, 6, 16, 5, 5, 1, 2},
		"lanes and one":    {17, 9, 12, 7, 5, 4, 3, 2, 1},
		"lanes 3":          {40, 10, 9, 5, 6, 4, 4, 1, 1},
		"lanes flat":       {16, 3, 90, 8, 5, 3, 3, 1, 0},
		"lenet linear":     {16, 7, 7, 16, 64, 7, 7, 1, 0},
		"classifier":       {7, 1, 1, 64, 10, 1, 1, 1, 0},
		"vgg 1":            {1, 32, 32, 3, 64, 3, 3, 1, 1},
		"vgg 2":            {2, 16, 16, 64, 128, 3, 3, 1, 1},
		"vgg 8":            {13, 2, 2, 96, 80, 3, 3, 1, 1},
		"deep":             {6, 4, 4, 200, 72, 3, 3, 1, 1},
		"deep 1x1":         {2, 5, 5, 1000, 20, 1, 1, 1, 0},
		"few images":       {3, 4, 4, 20, 24, 3, 3, 1, 1},
		"stride":           {3, 9, 11, 17, 33, 3, 3, 2, 1},
		"stride 1x1":       {7, 8, 8, 16, 40, 1, 1, 2, 0},
		"stride 1x1, odd":  {5, 10, 7, 20, 33, 1, 1, 3, 0},
		"stem":             {2, 21, 19, 3, 18, 7, 7, 2, 3},
		"stride > filter":  {6, 11, 11, 5, 7, 2, 2, 3, 0},
		"stride few":       {2, 20, 20, 5, 7, 3, 3, 2, 1},
		"flat filter":      {2, 12, 10, 7, 9, 1, 5, 1, 0},
		"tall filter":      {2, 12, 10, 7, 9, 5, 1, 1, 2},
		"wide pad":         {2, 9, 9, 4, 5, 3, 3, 1, 4},
		"all pad":          {1, 1, 1, 2, 3, 3, 3, 1, 2},
		"odd channels":     {2, 10, 10, 19, 100, 3, 3, 1, 1},
		"full map":         {9, 3, 5, 11, 50, 3, 5, 1, 0},
		"tail 1":           {2, 9, 9, 24, 65, 3, 3, 1, 1},
		"padded full map":  {5, 4, 4, 6, 17, 6, 6, 1, 1},
		"narrow":           {2, 12, 12, 2, 1, 3, 3, 1, 1},
		"narrow stride":    {2, 31, 31, 4, 3, 3, 3, 3, 1},
		"leftover columns": {2, 10, 10, 3, 4, 3, 3, 4, 0},
	}
}

// filled returns n guarded floats of these values.
func filled(t kerneltest.TB, n int, value func(i int) float32) []float32 {
	t.Helper()
	s := kerneltest.Floats(t, n)
	for i := range s {
		s[i] = value(i)
	}
	return s
}

// noise returns reproducible numbers in (-1, 1).
func noise(seed uint32) func(int) float32 {
	return func(int) float32 {
		seed = seed*1664525 + 1013904223
		return float32(int32(seed)>>8) / (1 << 23)
	}
}

func nan(int) float32 { return float32(math.NaN()) }

// convData holds the operands of a convolution.
type convData struct {
	s              product.ConvShape
	x, w, dy, bias []float32
}

// newConvData draws operands of a convolution.
func newConvData(t kerneltest.TB, s product.ConvShape) *convData {
	return &convData{s,
		filled(t, s.N*s.H*s.W*s.C, noise(1)), filled(t, s.R*s.S*s.C*s.K, noise(2)),
		filled(t, s.N*s.OutH()*s.OutW()*s.K, noise(3)), filled(t, s.K, noise(4))}
}

// definedData holds the operands of a convolution and what it should give, with the sum of the terms'
// sizes as a measure of the rounding error.
type definedData struct {
	*convData
	y, dx, dw           []float64
	ySize, dxSize, size []float64
}

// define computes c by its definition, which takes longer than all that is compared with it.
func (c *convData) define() *definedData {
	s, p, q := c.s, c.s.OutH(), c.s.OutW()
	zeros := func(like []float32) []float64 { return make([]float64, len(like)) }
	d := &definedData{c, zeros(c.dy), zeros(c.x), zeros(c.w), zeros(c.dy), zeros(c.x), zeros(c.w)}
	for i := range d.y {
		d.y[i] = float64(d.bias[i%s.K])
		d.ySize[i] = math.Abs(d.y[i])
	}
	for i := range s.N * p * q {
		for t := range s.R * s.S {
			h, w := i/q%p*s.Stride+t/s.S-s.Pad, i%q*s.Stride+t%s.S-s.Pad
			if h < 0 || h >= s.H || w < 0 || w >= s.W {
				continue
			}
			d.pixel(i*s.K, ((i/(p*q)*s.H+h)*s.W+w)*s.C, t*s.C*s.K)
		}
	}
	return d
}

// pixel adds the products of one output pixel, one input pixel and one tap.
func (d *definedData) pixel(y, x, w int) {
	for c := range d.s.C {
		for k := range d.s.K {
			xv, wv := float64(d.x[x+c]), float64(d.w[w+c*d.s.K+k])
			dy := float64(d.dy[y+k])
			d.y[y+k] += xv * wv
			d.ySize[y+k] += math.Abs(xv * wv)
			d.dx[x+c] += dy * wv
			d.dxSize[x+c] += math.Abs(dy * wv)
			d.dw[w+c*d.s.K+k] += xv * dy
			d.size[w+c*d.s.K+k] += math.Abs(xv * dy)
		}
	}
}

// convResult holds what a Conv computed.
type convResult struct{ y, dx, dw []float32 }

// run computes all three directions on guarded memory that is full of NaN where nothing was written.
func (d *convData) run(t kerneltest.TB, c *compute.CPU, relu bool) convResult {
	v := product.On(c).NewConv(d.s)
	r := convResult{filled(t, len(d.dy), nan), filled(t, len(d.x), nan), filled(t, len(d.w), nan)}
	scratch := filled(t, v.ScratchFloats(), nan)
	v.Forward(r.y, d.x, d.w, d.bias, relu, nil, scratch)
	v.BackwardData(r.dx, d.dy, d.w, false, scratch)
	v.BackwardWeights(r.dw, d.x, d.dy, scratch)
	return r
}

func (d *definedData) compare(t interface{ Errorf(string, ...any) }, r convResult, relu bool) {
	want := d.y
	if relu {
		want = slices.Clone(want)
		for i := range want {
			want[i] = max(want[i], 0)
		}
	}
	compare(t, "forward", r.y, want, d.ySize)
	compare(t, "backward data", r.dx, d.dx, d.dxSize)
	compare(t, "backward weights", r.dw, d.dw, d.size)
}

// compare reports the first element of got that is too far from want, given the sum of the sizes of
// its terms.
func compare(t interface{ Errorf(string, ...any) }, name string, got []float32, want, size []float64) {
	for i := range want {
		if e := math.Abs(float64(got[i]) - want[i]); !(e <= 1e-6*size[i]) {
			t.Errorf("%s: element %d of %d is %v, want %v", name, i, len(want), got[i], want[i])
			return
		}
	}
}

// assembly returns the ISAs of this processor besides plain Go, or that if there is no other. Plain Go takes
// many times as long, and has the same bits: see TestConvOneResultOnEveryISA.
func assembly() []compute.ISA {
	all := compute.Supported()
	return all[min(1, len(all)-1):]
}

// The fastest ISA computes what is defined. TestConvOneResultOnEveryISA shows that the others do, too.
func TestConvMatchesDefinition(t *testing.T) {
	for name, s := range convShapes() {
		d := newConvData(t, s).define()
		t.Run(name, func(t *testing.T) {
			for threads := 1; threads <= 3; threads++ {
				d.compare(t, d.run(t, openExact(t, compute.Best(), threads), threads == 2), threads == 2)
			}
		})
	}
}

func TestConvThreadsAgree(t *testing.T) {
	for name, s := range convShapes() {
		d := newConvData(t, s)
		for _, isa := range compute.Supported() {
			t.Run(fmt.Sprintf("%v/%s", isa, name), func(t *testing.T) {
				one := d.run(t, kerneltest.Open(t, isa, 1), false)
				for threads := 2; threads <= 3; threads++ {
					if got := d.run(t, kerneltest.Open(t, isa, threads), false); !one.equal(got) {
						t.Errorf("%d threads differ from one", threads)
					}
				}
			})
		}
	}
}

func TestConvRandomShapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int, name string) int { return rapid.IntRange(lo, hi).Draw(t, name) }
		s := product.ConvShape{N: draw(1, 9, "N"), H: draw(1, 12, "H"), W: draw(1, 12, "W"),
			C: draw(1, 40, "C"), K: draw(1, 80, "K"), R: draw(1, 5, "R"), S: draw(1, 5, "S"),
			Stride: draw(1, 3, "Stride"), Pad: draw(0, 3, "Pad")}
		if s.H+2*s.Pad < s.R || s.W+2*s.Pad < s.S {
			t.Skip("no output")
		}
		d := newConvData(t, s).define()
		for _, isa := range compute.Supported() {
			c, err := compute.Open(compute.Config{ISA: isa, Threads: draw(1, 2, "threads"),
				Math: compute.Exact})
			if err != nil {
				t.Fatal(err)
			}
			d.compare(t, d.run(t, c, false), false)
			c.Close()
		}
	})
}

func TestConvDoesNotAllocate(t *testing.T) {
	for _, isa := range compute.Supported() {
		for _, threads := range []int{1, 2} {
			for _, name := range []string{"lenet 2", "lanes 2"} {
				d := newConvData(t, convShapes()[name])
				v := product.On(kerneltest.Open(t, isa, threads)).NewConv(d.s)
				scratch := make([]float32, v.ScratchFloats())
				y, dx, dw := make([]float32, len(d.dy)), make([]float32, len(d.x)), make([]float32, len(d.w))
				n := alloctest.Least(5, func() {
					v.Forward(y, d.x, d.w, d.bias, true, nil, scratch)
					v.BackwardData(dx, d.dy, d.w, false, scratch)
					v.BackwardWeights(dw, d.x, d.dy, scratch)
				})
				if n != 0 {
					t.Errorf("%v, %d threads, %s: %v allocations, want 0", isa, threads, name, n)
				}
			}
		}
	}
}

// A plan resized to fewer images gives the results of a plan for that number.
func TestConvResize(t *testing.T) {
	shapes := convShapes()
	for n, s := range map[int]product.ConvShape{20: shapes["lanes 2"], 16: shapes["lanes 2"],
		3: shapes["lanes 2"], 4: shapes["stride 1x1, odd"]} { // 16 of 20 fill lanes, 3 do not
		s.N = n
		d := newConvData(t, s)
		for _, isa := range compute.Supported() {
			c := kerneltest.Open(t, isa, 2)
			want := d.run(t, c, false)
			s.N = 30
			v := product.On(c).NewConv(s)
			v.Resize(n)
			scratch := make([]float32, v.ScratchFloats())
			y, dx, dw := make([]float32, len(d.dy)), make([]float32, len(d.x)), make([]float32, len(d.w))
			v.Forward(y, d.x, d.w, d.bias, false, nil, scratch)
			v.BackwardData(dx, d.dy, d.w, false, scratch)
			v.BackwardWeights(dw, d.x, d.dy, scratch)
			if !slices.Equal(y, want.y) || !slices.Equal(dx, want.dx) || !slices.Equal(dw, want.dw) {
				t.Errorf("%v: 30 images resized to %d differ from a plan for these", isa, n)
			}
		}
	}
}

func TestConvPanicsSayWhat(t *testing.T) {
	c := kerneltest.Open(t, compute.Plain, 1)
	v := product.On(c).NewConv(product.ConvShape{2, 4, 4, 3, 5, 3, 3, 1, 1})
	for want, call := range map[string]func(){
		"kernel: conv forward: len(x)=1, want 96": func() {
			v.Forward(make([]float32, 160), make([]float32, 1), make([]float32, 135), nil, false, nil, nil)
		},
		"kernel: conv: bad shape {N:1 H:2 W:2 C:1 K:1 R:3 S:3 Stride:1 Pad:0}": func() {
			product.On(c).NewConv(product.ConvShape{1, 2, 2, 1, 1, 3, 3, 1, 0})
		},
	} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			call()
		}()
	}
}

// Every ISA gives the bits of plain Go, by every algorithm and in every math that rounds float32 alone.
// TestSplitMatchesPlain has products of parts.
func TestConvOneResultOnEveryISA(t *testing.T) {
	shapes := fastShapes()
	maps.Copy(shapes, convShapes())
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			d := newConvData(t, s)
			d.bendNumbers()
			first := map[compute.Math]convResult{}
			for _, c := range mathsOn(t, compute.Supported()) { // plain Go comes first
				if c.Math() != compute.Fast && c.Math() != compute.Exact {
					continue
				}
				got := d.run(t, c, len(name)%2 == 0)
				if want, ok := first[c.Math()]; !ok {
					first[c.Math()] = got
				} else if !got.equal(want) {
					t.Errorf("math %v: %v and plain Go differ", c.Math(), c.ISA())
				}
			}
		})
	}
}

// bendNumbers makes some operands tiny, so that products and sums are denormal, and some zeros, negative ones
// too.
func (d *convData) bendNumbers() {
	for _, x := range [][]float32{d.x, d.dy} {
		for i := range x {
			switch {
			case i%7 == 0:
				x[i] *= 1e-38
			case i%11 == 0:
				x[i] *= 0
			}
		}
	}
}
