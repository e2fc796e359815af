package product_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/product"

	"pgregory.net/rapid"
)

func conv3x3(n, h, w, c, k, pad int) product.ConvShape {
	return product.ConvShape{N: n, H: h, W: w, C: c, K: k, R: 3, S: 3, Stride: 1, Pad: pad}
}

func strided3x3(n, h, w, c, k int) product.ConvShape {
	return product.ConvShape{N: n, H: h, W: w, C: c, K: k, R: 3, S: 3, Stride: 2, Pad: 1}
}

// fastShapes are convolutions that are computed by Winograd's algorithm, and linear layers by Strassen's.
func fastShapes() map[string]product.ConvShape {
	return map[string]product.ConvShape{
		"one image":        conv3x3(1, 16, 16, 16, 32, 1),
		"batches":          conv3x3(3, 16, 16, 32, 64, 1),
		"no pad":           conv3x3(3, 14, 10, 48, 16, 0),
		"wide pad":         conv3x3(4, 11, 13, 16, 80, 2),
		"ragged tiles":     conv3x3(3, 15, 18, 32, 48, 1),
		"shared":           conv3x3(13, 4, 4, 80, 144, 1),
		"shared, no pad":   conv3x3(9, 10, 6, 144, 80, 0),
		"narrow to wide":   conv3x3(10, 8, 8, 16, 112, 1),
		"several chunks":   conv3x3(6, 8, 8, 528, 16, 1),
		"pieces":           conv3x3(6, 8, 8, 72, 16, 1), // chunks of 64 and of 8 channels
		"several strips":   conv3x3(65, 16, 15, 16, 16, 1),
		"unequal batches":  conv3x3(7, 13, 13, 64, 64, 1),
		"columns and rows": conv3x3(2, 4, 40, 16, 16, 1),
		"eights":           conv3x3(3, 15, 15, 24, 40, 1),
		"eights, shared":   conv3x3(13, 4, 4, 88, 136, 1),
		"eights, strips":   conv3x3(65, 16, 15, 24, 24, 1),
		"maps":             conv3x3(70, 2, 2, 64, 72, 1),
		"maps, shared":     conv3x3(17, 2, 2, 136, 80, 1),
		"maps, strips":     conv3x3(1030, 2, 2, 64, 64, 1),
		"strided":          strided3x3(9, 16, 16, 32, 64),
		"strided, ragged":  strided3x3(5, 31, 37, 24, 40),
		"strided, shared":  strided3x3(64, 8, 8, 128, 136),
		"strided, strips":  strided3x3(43, 24, 32, 16, 16), // 516 tiles
		"strided, deep":    strided3x3(9, 16, 16, 528, 16),
		"pairs":            {389, 1, 1, 256, 384, 1, 1, 1, 0},
		"pairs of pixels":  {7, 9, 9, 256, 256, 1, 1, 1, 0}, // two parcels, the last row without a neighbour
		"pairs, deep":      {384, 1, 1, 1280, 256, 1, 1, 1, 0},
		"pairs, strided":   {11, 12, 11, 256, 256, 1, 1, 2, 0},
		"pairs and a row":  {513, 1, 1, 256, 256, 1, 1, 1, 0}, // a row is a parcel
	}
}

func openExact(t testing.TB, isa compute.ISA, threads int) *compute.CPU {
	t.Helper()
	c, err := compute.Open(compute.Config{ISA: isa, Threads: threads, Math: compute.Exact})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// compareFast checks all three results against float64. The transforms mix the pixels of a tile, so
// that errors are relative to the largest sum of sizes, not to the element's own.
func (d *definedData) compareFast(t interface{ Errorf(string, ...any) }, r convResult) {
	for _, v := range []struct {
		name       string
		got        []float32
		want, size []float64
	}{
		{"forward", r.y, d.y, d.ySize},
		{"backward data", r.dx, d.dx, d.dxSize},
		{"backward weights", r.dw, d.dw, d.size},
	} {
		bound := 4e-6 * slices.Max(v.size)
		for i, want := range v.want {
			if e := math.Abs(float64(v.got[i]) - want); !(e <= bound) {
				t.Errorf("%s: element %d of %d is %v, want %v +- %v", v.name, i, len(v.want), v.got[i],
					want, bound)
				return
			}
		}
	}
}

func (r *convResult) equal(other convResult) bool {
	return slices.Equal(r.y, other.y) && slices.Equal(r.dx, other.dx) && slices.Equal(r.dw, other.dw)
}

// Each ISA of assembly computes what is defined, by another algorithm than the direct one, as one trilinear
// form and with the same bits on any number of threads. The fastest ISA is asked about the algorithm, which
// none chooses otherwise, and for more numbers of threads.
func TestFastMatchesDefinition(t *testing.T) {
	for name, s := range fastShapes() {
		d := newConvData(t, s).define()
		for _, isa := range assembly() {
			t.Run(fmt.Sprintf("%v/%s", isa, name), func(t *testing.T) {
				one := d.run(t, kerneltest.Open(t, isa, 1), false)
				d.compareFast(t, one)
				checkAdjoint(t, one.y, d.x, d.w, d.bias, d.dy, one.dx, one.dw)
				counts := []int{3}
				if isa == compute.Best() {
					direct := d.run(t, openExact(t, isa, 1), false)
					if slices.Equal(one.y, direct.y) || slices.Equal(one.dx, direct.dx) ||
						slices.Equal(one.dw, direct.dw) {
						t.Error("computed directly")
					}
					counts = []int{2, 3, 6}
				}
				for _, threads := range counts {
					if got := d.run(t, kerneltest.Open(t, isa, threads), false); !one.equal(got) {
						t.Errorf("%d threads differ from one", threads)
					}
				}
			})
		}
	}
}

// Parcels of the gradient of large filters are transformed one by one and added.
func TestWinogradParcels(t *testing.T) {
	if testing.Short() || compute.Best() == compute.Plain {
		t.Skip("too slow")
	}
	s := conv3x3(515, 4, 4, 256, 240, 1)
	x, dy := kerneltest.Clone(t, kerneltest.Draw(t, s.N*16*s.C, 0, 1)), kerneltest.Clone(t,
		kerneltest.Draw(t, s.N*16*s.K, 0, 2))
	dw, want := kerneltest.Floats(t, 9*s.C*s.K), kerneltest.Floats(t, 9*s.C*s.K)
	for _, isa := range compute.Supported()[1:] {
		v := product.On(openExact(t, isa, 2)).NewConv(s)
		v.BackwardWeights(want, x, dy, kerneltest.Floats(t, v.ScratchFloats()))
		v = product.On(kerneltest.Open(t, isa, 2)).NewConv(s)
		v.BackwardWeights(dw, x, dy, kerneltest.Floats(t, v.ScratchFloats()))
		for i := range dw {
			if !(math.Abs(float64(dw[i]-want[i])) < 1e-2) { // of about 90
				t.Fatalf("%v: element %d is %v, want about %v", isa, i, dw[i], want[i])
			}
		}
	}
}

func TestWinogradRandomShapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(lo, hi int, name string) int { return rapid.IntRange(lo, hi).Draw(t, name) }
		s := conv3x3(draw(2, 7, "N"), draw(4, 14, "H"), draw(4, 14, "W"),
			8*draw(2, 6, "C/8"), 8*draw(2, 10, "K/8"), draw(0, 2, "Pad"))
		if rapid.Bool().Draw(t, "maps") {
			s = conv3x3(draw(16, 40, "N"), 2, 2, 8*draw(8, 20, "C/8"), 8*draw(8, 20, "K/8"), 1)
		} else if rapid.Bool().Draw(t, "strided") {
			s.N, s.H, s.W, s.Stride, s.Pad = 5*s.N, s.H+9, s.W+9, 2, 1
		}
		d := newConvData(t, s).define()
		threads := draw(1, 3, "threads")
		for _, isa := range assembly() {
			c, err := compute.Open(compute.Config{ISA: isa, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			d.compareFast(t, d.run(t, c, false))
			c.Close()
		}
	})
}

// copyRows is a Finisher that copies the rows it is given.
type copyRows struct {
	dst, src []float32
	block    int // floats
	calls    []int
}

func (f *copyRows) Finish(_, block int) {
	f.calls[block]++
	lo := block * f.block
	copy(f.dst[lo:], f.src[lo:min(lo+f.block, len(f.src))])
}

// newCopyRows copies blocks of so many floats of src.
func newCopyRows(src []float32, block int) *copyRows {
	return &copyRows{make([]float32, len(src)), src, block, make([]int, (len(src)+block-1)/block)}
}

// check fails unless each block was copied once, when complete.
func (f *copyRows) check(t kerneltest.TB, name string) {
	t.Helper()
	for i, n := range f.calls {
		if n != 1 {
			t.Errorf("%s: block %d finished %d times", name, i, n)
		}
	}
	kerneltest.SameBits(t, name, f.dst, f.src)
}

// everyAssembly runs check on the ISAs of assembly with 1, 2 and 3 threads.
func everyAssembly(t *testing.T, check func(t *testing.T, c *compute.CPU)) {
	for _, isa := range assembly() {
		for threads := 1; threads <= 3; threads++ {
			check(t, kerneltest.Open(t, isa, threads))
		}
	}
}

func TestFastFinishes(t *testing.T) {
	for name, s := range fastShapes() {
		d := newConvData(t, s)
		everyAssembly(t, func(t *testing.T, c *compute.CPU) {
			v := product.On(c).NewConv(s)
			y, scratch := filled(t, len(d.dy), nan), filled(t, v.ScratchFloats(), nan)
			f := newCopyRows(y, v.FinishRows()*s.K)
			v.Forward(y, d.x, d.w, nil, true, f, scratch)
			f.check(t, name)
		})
	}
}

// A Finisher of the gradient of the data gets every block of rows once, of any number of rows, when complete.
func TestFastFinishesGradients(t *testing.T) {
	for name, s := range fastShapes() {
		d := newConvData(t, s)
		everyAssembly(t, func(t *testing.T, c *compute.CPU) {
			v := product.On(c).NewConv(s)
			for _, blockRows := range []int{7, 64} {
				dx, scratch := filled(t, len(d.x), nan), filled(t, v.ScratchFloats(), nan)
				f := newCopyRows(dx, blockRows*s.C)
				v.BackwardDataThen(dx, d.dy, d.w, false, f, blockRows, scratch)
				f.check(t, name)
			}
		})
	}
}

// The ReLU and the addition to dst come after everything else.
func TestFastEpilogue(t *testing.T) {
	for name, s := range fastShapes() {
		d := newConvData(t, s)
		for _, isa := range assembly() {
			c := kerneltest.Open(t, isa, 2)
			v := product.On(c).NewConv(s)
			scratch := filled(t, v.ScratchFloats(), nan)
			raw := d.run(t, c, false)
			y, dx := filled(t, len(d.dy), nan), filled(t, len(d.x), noise(9))
			v.Forward(y, d.x, d.w, d.bias, true, nil, scratch)
			v.BackwardData(dx, d.dy, d.w, true, scratch)
			before := noise(9)
			for i, y := range raw.y {
				raw.y[i] = max(y, 0)
			}
			for i := range raw.dx {
				raw.dx[i] += before(i)
			}
			kerneltest.SameBits(t, name, y, raw.y)
			kerneltest.SameBits(t, name, dx, raw.dx)
		}
	}
}

// All operations but additions are by constants: scaling an operand by a power of two scales the result
// by it, bit by bit, as long as nothing is too large or small.
func TestWinogradScales(t *testing.T) {
	for _, s := range []product.ConvShape{conv3x3(3, 14, 16, 48, 64, 1), strided3x3(9, 16, 16, 48, 64)} {
		testScales(t, newConvData(t, s))
	}
}

func testScales(t *testing.T, d *convData) {
	t.Helper()
	for _, isa := range assembly() {
		c := kerneltest.Open(t, isa, 1)
		want := d.run(t, c, false)
		for _, scale := range []float32{0x1p-80, 0x1p+80} {
			scaled := *d
			scaled.x = filled(t, len(d.x), func(i int) float32 { return d.x[i] * scale })
			scaled.dy = filled(t, len(d.dy), func(i int) float32 { return d.dy[i] * scale })
			scaled.bias = filled(t, len(d.bias), func(i int) float32 { return d.bias[i] * scale })
			scaled.w = d.w
			v := product.On(c).NewConv(d.s)
			scratch := make([]float32, v.ScratchFloats())
			y, dx, dw := slices.Clone(want.y), slices.Clone(want.dx), slices.Clone(want.dw)
			v.Forward(y, scaled.x, d.w, scaled.bias, false, nil, scratch)
			v.BackwardData(dx, scaled.dy, d.w, false, scratch)
			v.BackwardWeights(dw, d.x, scaled.dy, scratch)
			for _, s := range [][]float32{y, dx, dw} {
				for i := range s {
					s[i] /= scale
				}
			}
			kerneltest.SameBits(t, "forward", y, want.y)
			kerneltest.SameBits(t, "backward data", dx, want.dx)
			kerneltest.SameBits(t, "backward weights", dw, want.dw)
		}
	}
}

// With denormal inputs the error is at most a few times the smallest denormal for each term.
func TestWinogradDenormals(t *testing.T) {
	for _, s := range []product.ConvShape{conv3x3(3, 14, 16, 48, 64, 1), strided3x3(9, 16, 16, 48, 64)} {
		testDenormals(t, newConvData(t, s).define())
	}
}

func testDenormals(t *testing.T, d *definedData) {
	t.Helper()
	const scale = 0x1p-140
	x := filled(t, len(d.x), func(i int) float32 { return d.x[i] * scale })
	for i := range d.y {
		d.y[i] -= float64(d.bias[i%d.s.K])
	}
	for _, isa := range assembly() {
		v := product.On(kerneltest.Open(t, isa, 1)).NewConv(d.s)
		y := filled(t, len(d.dy), nan)
		v.Forward(y, x, d.w, nil, false, nil, make([]float32, v.ScratchFloats()))
		for i, want := range d.y {
			if e := math.Abs(float64(y[i]) - want*scale); !(e <= 9*48*100*0x1p-149) {
				t.Fatalf("%v: element %d is %v, want %v", isa, i, y[i], want*scale)
			}
		}
	}
}

func TestFastDoesNotAllocate(t *testing.T) {
	for name, s := range fastShapes() {
		d := newConvData(t, s)
		for _, isa := range assembly() {
			t.Run(fmt.Sprintf("%v/%s", isa, name), func(t *testing.T) {
				v := product.On(kerneltest.Open(t, isa, 2)).NewConv(s)
				y, dx, dw := make([]float32, len(d.dy)), make([]float32, len(d.x)), make([]float32, len(d.w))
				scratch := make([]float32, v.ScratchFloats())
				n := alloctest.Least(1, func() {
					v.Forward(y, d.x, d.w, d.bias, false, nil, scratch)
					v.BackwardData(dx, d.dy, d.w, false, scratch)
					v.BackwardWeights(dw, d.x, d.dy, scratch)
				})
				if n != 0 {
					t.Errorf("%v allocations, want 0", n)
				}
			})
		}
	}
}
