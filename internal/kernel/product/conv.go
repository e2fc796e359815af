package product

import (
	"fmt"

	"lockstep/internal/kernel/asm"
)

// ConvShape describes a two-dimensional convolution (cross-correlation, as networks use the word).
//
// N batch, H W height and width of the input, C its channels, K output channels, R S height and width
// of the filter, Stride and Pad the same in both directions. Padding is by zeros.
type ConvShape struct{ N, H, W, C, K, R, S, Stride, Pad int }

// OutH returns the height of the output, (H + 2 Pad - R) / Stride + 1.
func (s ConvShape) OutH() int { return (s.H+2*s.Pad-s.R)/s.Stride + 1 }

// OutW returns the width of the output, (W + 2 Pad - S) / Stride + 1.
func (s ConvShape) OutW() int { return (s.W+2*s.Pad-s.S)/s.Stride + 1 }

// FLOPs returns the work of one direction, 2 N OutH OutW K C R S, padding counted like pixels.
func (s ConvShape) FLOPs() int64 {
	return 2 * int64(s.N) * int64(s.OutH()) * int64(s.OutW()) * int64(s.K) * int64(s.C) *
		int64(s.R) * int64(s.S)
}

// rows returns the number of rows of K channels of the output, N OutH OutW.
func (s ConvShape) rows() int { return s.N * s.OutH() * s.OutW() }

// check panics unless the shape can be computed.
func (s ConvShape) check() {
	if min(s.N, s.H, s.W, s.C, s.K, s.R, s.S, s.Stride) < 1 || s.Pad < 0 ||
		s.H+2*s.Pad < s.R || s.W+2*s.Pad < s.S {
		panic(fmt.Sprintf("kernel: conv: bad shape %+v", s))
	}
}

// fold returns an equivalent shape that is simpler to compute. Convolutions with a filter as large as the
// map, or of one pixel, are matrix products of rows.
func (s ConvShape) fold() ConvShape {
	switch {
	case s.Pad == 0 && s.R == s.H && s.S == s.W:
		return ConvShape{s.N, 1, 1, s.H * s.W * s.C, s.K, 1, 1, 1, 0}
	case s.Pad == 0 && s.R == 1 && s.S == 1 && s.Stride == 1:
		return ConvShape{s.N * s.H * s.W, 1, 1, s.C, s.K, 1, 1, 1, 0}
	}
	return s
}

// Conv is a planned convolution: everything that depends on the shape alone is decided and
// tabulated once. A linear layer is the case R=H, S=W, Pad=0.
//
// Activations are [N, H, W, C], weights [R, S, C, K] and bias [K], without gaps. Outputs must not
// overlap inputs or scratch. The calls are deterministic for any number of threads, do not allocate,
// and panic if a slice is too short. Each costs FLOPs() at most: taps that fall on padding are left
// out on maps up to 8x8. Rounding errors grow like the square root of the number of terms.
//
// Unless Config.Math is Exact, some 3x3 convolutions of stride 1 are computed by Winograd's algorithm
// F(4x4, 3x3), chosen by the shape, N included (winogradForms): 2 to 4 times fewer products, rounding errors
// 1.9 to 3.6 times as large, and an infinite or NaN value reaches more pixels. Padded maps of 2x2 pixels have
// a form of their own: 1.8 times fewer products, errors 1.1 to 1.5 times as large. If Config.Math is Fast,
// some of stride 2 have one too: 1.4 to 1.8 times fewer products, errors 1.3 to 2.8 times as large
// (results/winograd_accuracy.md).
//
// If Config.Math is Fast, linear layers and convolutions of one pixel with at least 256 channels and filters,
// multiples of 128, are computed by Strassen's algorithm where there are at least 384 rows: seven eighths of
// the products. An element meets those of the neighbouring row and of the other half of the channels:
// rounding errors are up to twice as large where all are of one size, else relative to the largest, so that
// what is zero directly may not be. Infinite and NaN values reach as far, and sums of two operands may
// overflow.
type Conv struct {
	cpu     *CPU
	shape   ConvShape
	each    int // images of the folded shape per image
	forward rowsPlan
	data    rowsPlan
	weights weightsPlan
}

// rowsPlan computes one map from another, forward or for the gradient of the data: a product with the
// weights.
type rowsPlan interface {
	// run computes dst, or with the flag TileAdd adds to it; the other flag is TileReLU. A nil bias counts as
	// zeros. The Finisher of then, if any, is called for the rows of dst.
	run(dst, src, w, bias []float32, flags int, then finishing, scratch []float32)
	scratchFloats() int
	// resize sets the number of images that run computes, at most the number planned.
	resize(images int)
}

// weightsPlan is a way to compute the gradient of the weights.
type weightsPlan interface {
	run(dw, x, dy, scratch []float32)
	scratchFloats() int
	resize(images int)
}

// NewConv plans the convolution s. It panics on a shape that has no output.
func (c *CPU) NewConv(s ConvShape) *Conv {
	s.check()
	f := s.fold()
	v := &Conv{cpu: c, shape: s, each: f.N / s.N}
	if forward, data := c.winogradForms(s); forward != nil {
		v.forward = newWinograd(c, forward, s.N, s.in(), s.out(), false)
		v.data = newWinograd(c, data, s.N, s.out(), s.in(), true)
		v.weights = newWinogradWeights(c, forward, s)
		return v
	}
	v.forward, v.data, v.weights = planForward(c, f), planData(c, f), planWeights(c, f)
	c.planStrided(v)
	return v
}

// PartsForward reports whether Forward computes products of parts (compute.Math); PartsBackward reports it of
// BackwardData and of BackwardWeights. Winograd's algorithm, narrow products and short sums do not.
func (v *Conv) PartsForward() bool {
	_, ofParts := v.forward.(*splitGather)
	return ofParts
}

// PartsBackward: see PartsForward.
func (v *Conv) PartsBackward() (data, weights bool) {
	plan := v.data
	if t, ok := plan.(*stridedData); ok {
		plan = t.plan
	}
	_, data = plan.(*splitGather)
	_, weights = v.weights.(*splitOuter)
	return data, weights
}

// Resize makes the calls compute n images, from 1 to the number planned. The results are those of a
// convolution planned for n. It panics if Winograd's algorithm is used, which cannot be resized.
func (v *Conv) Resize(n int) {
	if n == v.shape.N {
		return
	}
	v.forward.resize(n * v.each)
	v.data.resize(n * v.each)
	v.weights.resize(n * v.each)
	v.shape.N = n
}

// back returns the convolution that computes the gradient of the data, for stride 1 and a square filter. It
// convolves the gradient of the output with the filters turned round, padded so that the result has the
// size of the input.
func (s ConvShape) back() ConvShape {
	return ConvShape{s.N, s.OutH(), s.OutW(), s.K, s.C, s.R, s.S, 1, s.R - 1 - s.Pad}
}

// ScratchFloats returns how many floats of scratch each of the three calls needs at most. The contents
// of the scratch need not be kept between calls.
func (v *Conv) ScratchFloats() int {
	return asm.LineFloats +
		max(v.forward.scratchFloats(), v.data.scratchFloats(), v.weights.scratchFloats())
}

// FinishRows returns how many rows of y, [N*OutH*OutW, K], make a block for a Finisher.
func (v *Conv) FinishRows() int { return FinishRows(v.shape.OutH()*v.shape.OutW(), v.shape.K) }

// Forward computes y[n,p,q,k] = bias[k] + sum_rsc x[n, p*Stride+r-Pad, q*Stride+s-Pad, c] w[r,s,c,k],
// then the maximum of that and zero if relu is set. A nil bias counts as zeros.
//
// Directly, the channels c are cut into chunks by the shape. Each chunk is summed over r, s, c in this
// order, the first from the bias and the others from zero, and the chunks' sums are added in order. For the
// order of Winograd's algorithm see the types winograd and winogradWeights, for that of Strassen's strassen
// and strassenWeights, for that of products of parts splitGather and splitOuter.
//
// If then is not nil, it is called for every block of FinishRows rows of y, mostly while they are in the
// cache.
func (v *Conv) Forward(y, x, w, bias []float32, relu bool, then Finisher, scratch []float32) {
	f := finishing{then: then, rows: v.shape.rows(), blockRows: v.FinishRows()}
	v.run(y, x, w, bias, relu, 0, f, scratch)
}

// run computes y, or with TileAdd adds to it.
func (v *Conv) run(y, x, w, bias []float32, relu bool, flags int, f finishing, scratch []float32) {
	v.checkLengths("conv forward", x, y, w, scratch)
	if bias != nil {
		checkLen("conv forward", "bias", bias, v.shape.K)
	}
	if relu {
		flags |= asm.TileReLU
	}
	v.forward.run(y, x, w, bias, flags, f, Aligned(scratch))
}

// BackwardData computes the gradient of the input, the sum over all r, s, k, p, q with
// h = p*Stride+r-Pad and w = q*Stride+s-Pad: dx[n,h,w,c] = sum dy[n,p,q,k] w[r,s,c,k].
//
// Directly, the order of the sum is Forward's with r and s descending and k in place of c. With add it
// is added to dx instead, chunk by chunk, or by Winograd's and Strassen's algorithms as a whole.
func (v *Conv) BackwardData(dx, dy, w []float32, add bool, scratch []float32) {
	v.BackwardDataThen(dx, dy, w, add, nil, 0, scratch)
}

// BackwardDataThen is BackwardData, which calls then for every block of blockRows rows of dx, mostly while
// they are in a cache; the last block may be shorter.
func (v *Conv) BackwardDataThen(dx, dy, w []float32, add bool, then Finisher, blockRows int,
	scratch []float32) {
	v.checkLengths("conv backward data", dx, dy, w, scratch)
	f := finishing{then: then, rows: v.shape.N * v.shape.H * v.shape.W, blockRows: blockRows}
	if r, ok := then.(reader); ok {
		f.reads = r.Reads()
	}
	folded := v.shape.fold()
	_, inTiles := v.data.(*winograd)
	if inTiles || folded.Stride == 1 && folded.N*folded.H*folded.W == f.rows { // rows are computed in order
		v.data.run(dx, dy, w, nil, addFlag(add), f, Aligned(scratch))
		return
	}
	v.data.run(dx, dy, w, nil, addFlag(add), finishing{}, Aligned(scratch))
	v.cpu.finish(f)
}

// BackwardWeights computes the gradient of the weights,
// dw[r,s,c,k] = sum_npq x[n, p*Stride+r-Pad, q*Stride+s-Pad, c] dy[n,p,q,k].
//
// Directly, the pixels n, p, q are cut into parcels by the shape. Each parcel is summed in order from zero
// and the parcels' sums are added in order. For the orders of the other algorithms see the types
// winogradWeights, strassenWeights, laneWeights and splitOuter.
func (v *Conv) BackwardWeights(dw, x, dy, scratch []float32) {
	v.checkLengths("conv backward weights", x, dy, dw, scratch)
	v.weights.run(dw, x, dy, Aligned(scratch))
}

// checkLengths panics unless the slices have the lengths that the shape demands.
func (v *Conv) checkLengths(call string, x, y, w, scratch []float32) {
	s := &v.shape
	checkLen(call, "x", x, s.N*s.H*s.W*s.C)
	checkLen(call, "y", y, s.N*s.OutH()*s.OutW()*s.K)
	checkLen(call, "w", w, s.R*s.S*s.C*s.K)
	if want := v.ScratchFloats(); len(scratch) < want {
		panic(fmt.Sprintf("kernel: %s: len(scratch)=%d, want at least %d", call, len(scratch), want))
	}
}

// checkLen panics unless s has want elements.
func checkLen(call, name string, s []float32, want int) {
	if len(s) != want {
		panic(fmt.Sprintf("kernel: %s: len(%s)=%d, want %d", call, name, len(s), want))
	}
}

// mergeDepth is the number of channels up to which a filter row is multiplied as one tap. Changing it changes
// results (docs/design/0047).
const mergeDepth = 16

// planForward plans y = x * w.
func planForward(c *CPU, s ConvShape) rowsPlan {
	p, q := s.OutH(), s.OutW()
	g := gatherShape{taps: s.R * s.S, depth: s.C, width: s.K, merge: 1, side: 1, shift: 1,
		srcImage: s.H * s.W * s.C, dstImage: p * q * s.K}
	m := mapping{from: s.from}
	if c.usesSplit(s, s.rows(), s.C, s.K) {
		m.pixels = [][]int{raster(0, 1, p, 0, 1, q)}
		return newSplitGather(c, s.N, g, m)
	}
	pad := s.padder()
	if pad != nil {
		g.merge, g.shift, g.srcImage = s.S, s.Stride, pad.image()
		g.side = sides(&c.ops.Gemm, q, &g)
		m.from = s.fromPadded
	}
	m.pixels = [][]int{raster(0, 1, p, 0, g.side, q)}
	plan := newGather(c, s.N, g, pad, m)
	switch {
	case pad != nil && c.usesLanes(s):
		return newLanewise(c, s, plan, false)
	case c.usesStrassen(s):
		return newStrassen(c, s.N, g, plan)
	}
	return plan
}

// sides returns how many neighbouring pixels of a row of pixels to compute at once: the number that
// takes the fewest steps per pixel while the outputs fit one vector and it divides the row.
func sides(o *asm.GemmOps, pixels int, s *gatherShape) int {
	best := 1
	for n := 2; n*s.width <= o.Lanes; n++ {
		if pixels%n == 0 && (s.merge+(n-1)*s.shift)*best < (s.merge+(best-1)*s.shift)*n {
			best = n
		}
	}
	return best
}

// from returns the float offset of the input pixel under tap t of output pixel i, or -1.
func (s ConvShape) from(i, t int) int {
	h, w := i/s.OutW()*s.Stride+t/s.S-s.Pad, i%s.OutW()*s.Stride+t%s.S-s.Pad
	if h < 0 || h >= s.H || w < 0 || w >= s.W {
		return -1
	}
	return (h*s.W + w) * s.C
}

// padder returns the padder of the input, or nil if the convolution is faster without one.
func (s ConvShape) padder() *padder {
	p, q := s.OutH(), s.OutW()
	if s.C > mergeDepth || s.S == 1 || p*q <= positionPixels || s.Pad >= min(s.R, s.S) {
		return nil
	}
	return &padder{h: s.H, w: s.W, c: s.C, ph: (p-1)*s.Stride + s.R, pw: (q-1)*s.Stride + s.S,
		top: s.Pad, left: s.Pad}
}

// fromPadded is from for the padded copy, where a tap is a whole filter row.
func (s ConvShape) fromPadded(i, r int) int {
	pw := (s.OutW()-1)*s.Stride + s.S
	return ((i/s.OutW()*s.Stride+r)*pw + i%s.OutW()*s.Stride) * s.C
}

// raster lists the pixels y, x of a map of the given width with y = y0, y0+step, ... < h, likewise x.
func raster(y0, step, h, x0, stepX, w int) []int {
	var list []int
	for y := y0; y < h; y += step {
		for x := x0; x < w; x += stepX {
			list = append(list, y*w+x)
		}
	}
	return list
}

// planData plans dx = dy * transposed w: a convolution of dy with the filter turned round, in which
// with a stride each dx pixel meets only the taps of its phase.
func planData(c *CPU, s ConvShape) rowsPlan {
	p, q := s.OutH(), s.OutW()
	g := gatherShape{taps: s.R * s.S, depth: s.K, width: s.C, merge: 1, side: 1, shift: 1, flip: true,
		srcImage: p * q * s.K, dstImage: s.H * s.W * s.C}
	m := mapping{pixels: s.phases(), from: s.fromOutput}
	if c.usesSplit(s, s.rows(), s.K, s.C) {
		return newSplitGather(c, s.N, g, m)
	}
	pad := s.outputPadder()
	if pad != nil {
		g.merge, g.srcImage = s.S, pad.image()
		g.side = sides(&c.ops.Gemm, s.W, &g)
		m = mapping{pixels: [][]int{raster(0, 1, s.H, 0, g.side, s.W)}, from: s.fromPaddedOutput}
	}
	plan := newGather(c, s.N, g, pad, m)
	if c.usesStrassen(s) {
		return newStrassen(c, s.N, g, plan)
	}
	if pad != nil && s.R == s.S && c.usesLanes(s.back()) {
		return newLanewise(c, s.back(), plan, true)
	}
	return plan
}

// phases lists the input pixels that meet the same taps: with a stride, every Stride-th in both directions.
func (s ConvShape) phases() (list [][]int) {
	for y := range min(s.Stride, s.H) {
		for x := range min(s.Stride, s.W) {
			list = append(list, raster(y, s.Stride, s.H, x, s.Stride, s.W))
		}
	}
	return list
}

// fromOutput returns the float offset of the output pixel that input pixel i reaches through tap t of
// the turned filter, or -1.
func (s ConvShape) fromOutput(i, t int) int {
	p := i/s.W + s.Pad - (s.R - 1 - t/s.S)
	q := i%s.W + s.Pad - (s.S - 1 - t%s.S)
	if p < 0 || q < 0 || p%s.Stride != 0 || q%s.Stride != 0 {
		return -1
	}
	p, q = p/s.Stride, q/s.Stride
	if p >= s.OutH() || q >= s.OutW() {
		return -1
	}
	return (p*s.OutW() + q) * s.K
}

// outputPadder returns the padder of the output's gradient, or nil.
func (s ConvShape) outputPadder() *padder {
	if s.Stride != 1 || s.K > mergeDepth || s.S == 1 || s.H*s.W <= positionPixels ||
		s.Pad >= min(s.R, s.S) {
		return nil
	}
	return &padder{h: s.OutH(), w: s.OutW(), c: s.K, ph: s.H + s.R - 1, pw: s.W + s.S - 1,
		top: s.R - 1 - s.Pad, left: s.S - 1 - s.Pad}
}

// fromPaddedOutput is fromOutput for the padded copy, where a tap is a whole filter row.
func (s ConvShape) fromPaddedOutput(i, r int) int {
	return ((i/s.W+r)*(s.W+s.S-1) + i%s.W) * s.K
}

// planWeights plans dw = x * dy, summed over pixels.
func planWeights(c *CPU, s ConvShape) weightsPlan {
	o := outerShape{taps: s.R * s.S, depth: s.C, width: s.K, xImage: s.H * s.W * s.C,
		pixels: s.OutH() * s.OutW()}
	if c.usesSplit(s, s.C, s.rows(), s.K) {
		return newSplitOuter(c, s.N, o, s.from)
	}
	pad := s.padder()
	if pad == nil {
		plan := newOuter(c, s.N, o, nil, s.from)
		if c.usesStrassen(s) {
			return newStrassenWeights(c, s.N, s.C, s.K, plan)
		}
		return plan
	}
	o.taps, o.depth, o.xImage = s.R, s.S*s.C, pad.image()
	plan := newOuter(c, s.N, o, pad, s.fromPadded)
	if s.suitsLanes() {
		return newLaneWeights(c, s, plan)
	}
	return plan
}
