package row

import (
	"fmt"
	"math"
	"unsafe"

	"lockstep/internal/kernel/asm"
)

// BatchNorm is the plan of batch normalisation over x of the shape [rows, channels], where rows runs
// over N, H, W. All slices of that shape are contiguous; mean, variance, gamma and beta have one
// element per channel. The methods give the same bits for any number of threads and on every ISA, and
// allocate nothing.
type BatchNorm struct {
	cpu *CPU
	columns
	narrow []float32    // one constant per channel, before it is spread
	consts [5][]float32 // constants as wide rows
	lean   int          // floats in a row of the passes without sums; wide is a multiple of it

	out, grad, x []float32 // operands of the call in progress
	r, z, g      []float32 // of one with a residual
	relu         bool
	past         bool         // out goes to memory past the caches
	begun        []begunBlock // by thread, of sums by the producer
}

// pastFloats is the size from which a map is written past the caches: 32 MiB, which few hold beside what is
// read. Written through them, each line would be read first.
const pastFloats = 8 << 20

// leanFloats is the aimed length of a row where no sums are taken: constants so short stay in the first-level
// cache beside what streams past them.
const leanFloats = 256

// leanRow returns the longest row of about leanFloats into which wide rows can be cut between pixels, of
// whole cache lines if possible.
func leanRow(wide, channels int) int {
	pixels, best := wide/channels, 0
	for n := min(max(leanFloats/channels, 1), pixels); n > 0; n-- {
		if pixels%n > 0 {
			continue
		}
		if n*channels%asm.LineFloats == 0 {
			return n * channels
		}
		best = max(best, n*channels)
	}
	if wide%asm.LineFloats == 0 { // as writing past the caches wants them
		return wide
	}
	return best
}

// constants returns those of a run of n floats, whole wide rows or a short one, cut to the length of a row.
func (p *BatchNorm) constants(n int) (mean, scale, shift, slope, offset []float32) {
	row := p.lean
	if n%row > 0 {
		row = n
	}
	c := &p.consts
	return c[wideMean][:row], c[wideScale][:row], c[wideShift][:row], c[wideSlope][:row], c[wideOffset][:row]
}

// goesPast reports whether out is large enough to go past the caches, and lies as that takes.
func (p *BatchNorm) goesPast(out []float32) bool {
	return len(out) >= pastFloats && p.lean%asm.LineFloats == 0 &&
		uintptr(unsafe.Pointer(unsafe.SliceData(out)))%(4*asm.LineFloats) == 0
}

// Places in BatchNorm.consts.
const (
	wideMean = iota
	wideScale
	wideShift
	wideSlope
	wideOffset
)

// NewBatchNorm plans batch normalisation of [rows, channels], both at least 1.
func (c *CPU) NewBatchNorm(rows, channels int) *BatchNorm {
	mustShape("batch norm", rows, channels)
	p := &BatchNorm{cpu: c, columns: newColumns(rows, channels, 2, c.Threads())}
	p.lean = leanRow(p.wide, channels)
	p.narrow = make([]float32, channels)
	p.begun = make([]begunBlock, c.Threads())
	for i := range p.consts {
		p.consts[i] = make([]float32, p.wide)
	}
	return p
}

// Normalize computes, with the biased variance,
//
//	y[i,c] = (x[i,c]-mean[c]) * (gamma[c]/sqrt(variance[c]+eps)) + beta[c]
//
// then y = max(y, 0) if relu. y may be x. One pass: 4 bytes read and 4 written per element.
func (p *BatchNorm) Normalize(y, x, mean, variance, gamma, beta []float32, eps float32, relu bool) {
	p.mustChannels("normalize", mean, variance, gamma, beta)
	MustLen("batch norm normalize", "x", len(x), p.rows*p.cols)
	MustLen("batch norm normalize", "y", len(y), len(x))
	p.prepare(mean, variance, gamma, beta, eps)
	p.out, p.x, p.relu, p.past = y, x, relu, p.goesPast(y)
	p.cpu.Share((*normApply)(p), len(x))
	p.out, p.x = nil, nil
}

// NormalizeAdd computes Normalize of x plus the residual r, then y = max(y, 0) if relu. y may be x or
// r. One pass: 8 bytes read and 4 written per element.
func (p *BatchNorm) NormalizeAdd(y, x, r, mean, variance, gamma, beta []float32, eps float32,
	relu bool) {
	MustLen("batch norm normalize", "r", len(r), len(x))
	p.r = r
	p.Normalize(y, x, mean, variance, gamma, beta, eps, relu)
	p.r = nil
}

// Backward computes the gradients of Normalize where mean and variance are x's own. With
// xh = (x-mean)/sqrt(variance+eps) and g = dy, or if relu g = dy where the output is above 0 or NaN,
// else 0:
//
//	dbeta[c]  = sum_i g[i,c]
//	dgamma[c] = sum_i g[i,c]*xh[i,c]
//	dx = gamma/sqrt(variance+eps) * (g - dbeta/rows - xh*dgamma/rows)
//
// The output is recomputed from x, bit for bit as Normalize did, so it need not be kept. dx may be dy
// or x. Two passes: 16 bytes read and 4 written per element.
func (p *BatchNorm) Backward(dx, dgamma, dbeta, dy, x, mean, variance, gamma, beta []float32,
	eps float32, relu bool) {
	p.mustChannels("backward", dgamma, dbeta, mean, variance, gamma, beta)
	MustLen("batch norm backward", "x", len(x), p.rows*p.cols)
	MustLen("batch norm backward", "dy", len(dy), len(x))
	MustLen("batch norm backward", "dx", len(dx), len(x))
	p.prepare(mean, variance, gamma, beta, eps)
	p.out, p.grad, p.x, p.relu, p.past = dx, dy, x, relu, p.goesPast(dx)
	p.cpu.Share((*normSums)(p), len(x))
	p.finish(p.total(p.cpu.ops.Element.Add), dgamma, dbeta, variance, eps)
	p.cpu.Share((*normGrad)(p), len(x))
	p.out, p.grad, p.x = nil, nil, nil
}

// BackwardAdd computes the gradients of NormalizeAdd with a ReLU, whose output is z: that of the
// residual,
//
//	g = dz where z is above 0 or NaN, else 0
//
// and those of Backward for g without a ReLU. g may be dz, dx may be x. Two passes: 20 bytes read and
// 8 written per element.
func (p *BatchNorm) BackwardAdd(g, dx, dgamma, dbeta, dz, z, x, mean, variance, gamma, beta []float32,
	eps float32) {
	p.mustChannels("backward", dgamma, dbeta, mean, variance, gamma, beta)
	MustLen("batch norm backward", "x", len(x), p.rows*p.cols)
	MustLen("batch norm backward", "z", len(z), len(x))
	MustLen("batch norm backward", "dz", len(dz), len(x))
	MustLen("batch norm backward", "dx", len(dx), len(x))
	MustLen("batch norm backward", "g", len(g), len(x))
	p.prepare(mean, variance, gamma, beta, eps)
	p.out, p.grad, p.x, p.relu, p.past = dx, dz, x, false, p.goesPast(dx)
	p.z, p.g = z, g
	p.cpu.Share((*normSums)(p), len(x))
	p.finish(p.total(p.cpu.ops.Element.Add), dgamma, dbeta, variance, eps)
	p.grad, p.z, p.g = g, nil, nil
	p.cpu.Share((*normGrad)(p), len(x))
	p.out, p.grad, p.x = nil, nil, nil
}

// finish computes the gradients of gamma and beta from sums, [2, channels], and the coefficients of the
// gradient of x.
func (p *BatchNorm) finish(sums, dgamma, dbeta, variance []float32, eps float32) {
	n := float64(p.rows)
	slope, offset := p.consts[wideSlope], p.consts[wideOffset]
	for c := range dgamma {
		inv := inverse(variance[c], eps)
		scale := float64(p.consts[wideScale][c])
		s, q := float64(sums[c]), float64(sums[p.cols+c])*inv
		dbeta[c], dgamma[c] = sums[c], float32(q)
		offset[c] = float32(-scale * s / n)
		slope[c] = float32(-scale * q * inv / n)
	}
	p.spread(slope, slope[:p.cols])
	p.spread(offset, offset[:p.cols])
}

// inverse returns 1/sqrt(variance+eps).
func inverse(variance, eps float32) float64 {
	return 1 / math.Sqrt(float64(variance)+float64(eps))
}

// prepare spreads what Normalize needs over the wide rows.
func (p *BatchNorm) prepare(mean, variance, gamma, beta []float32, eps float32) {
	for c := range p.narrow {
		p.narrow[c] = float32(float64(gamma[c]) * inverse(variance[c], eps))
	}
	p.spread(p.consts[wideMean], mean)
	p.spread(p.consts[wideScale], p.narrow)
	p.spread(p.consts[wideShift], beta)
}

// The four passes over the batch, each a Task.
type (
	normApply BatchNorm
	normSums  BatchNorm
	normGrad  BatchNorm
)

// Do normalises a run of wide rows.
func (p *normApply) Do(_, part, parts int) {
	ops := &p.cpu.ops.Element
	apply, applyAdd := ops.Normalize, ops.NormalizeAdd
	switch {
	case p.relu && p.past:
		apply, applyAdd = ops.NormalizeReLUPast, ops.NormalizeAddReLUPast
	case p.relu:
		apply, applyAdd = ops.NormalizeReLU, ops.NormalizeAddReLU
	case p.past:
		apply, applyAdd = ops.NormalizePast, ops.NormalizeAddPast
	}
	p.walk(p.cpu, part, parts, func(lo, hi int) {
		mean, scale, shift, _, _ := (*BatchNorm)(p).constants(hi - lo)
		y, x := p.out[lo:hi], p.x[lo:hi]
		if p.r != nil {
			applyAdd(y, x, p.r[lo:hi], mean, scale, shift)
		} else {
			apply(y, x, mean, scale, shift)
		}
	})
}

// Do sums the gradient and its product with the centred input over a run of blocks.
func (p *normSums) Do(thread, part, parts int) {
	p.sum(thread, part, parts, p.cpu.ops.Element.Add, p.take)
}

// take adds the gradient and its product with the centred input of some wide rows to acc.
func (p *normSums) take(acc []float32, lo, hi int) {
	ops := &p.cpu.ops.Element
	mean, scale, shift := p.consts[wideMean], p.consts[wideScale], p.consts[wideShift]
	n := min(hi-lo, p.wide)
	s, q, dy, x := acc[:n], acc[p.wide:p.wide+n], p.grad[lo:hi], p.x[lo:hi]
	if p.z != nil {
		ops.NormSumsGate(p.g[lo:hi], s, q, dy, p.z[lo:hi], x, mean[:n])
	} else if p.relu {
		ops.NormSumsReLU(s, q, dy, x, mean[:n], scale[:n], shift[:n])
	} else {
		ops.NormSums(s, q, dy, x, mean[:n])
	}
}

// Do computes the gradient of a run of wide rows.
func (p *normGrad) Do(_, part, parts int) {
	ops := &p.cpu.ops.Element
	apply, applyReLU := ops.NormGrad, ops.NormGradReLU
	if p.past {
		apply, applyReLU = ops.NormGradPast, ops.NormGradReLUPast
	}
	p.walk(p.cpu, part, parts, func(lo, hi int) {
		mean, scale, shift, slope, offset := (*BatchNorm)(p).constants(hi - lo)
		dx, dy, x := p.out[lo:hi], p.grad[lo:hi], p.x[lo:hi]
		if p.relu {
			applyReLU(dx, dy, x, mean, scale, shift, slope, offset)
		} else {
			apply(dx, dy, x, mean, scale, slope, offset)
		}
	})
}

// mustChannels panics unless each slice has one element per channel.
func (p *BatchNorm) mustChannels(op string, slices ...[]float32) {
	for _, s := range slices {
		if len(s) != p.cols {
			panic(fmt.Sprintf("kernel: batch norm %s: slice of %d, want %d channels",
				op, len(s), p.cols))
		}
	}
}

// mustShape panics unless both sizes of a matrix are positive.
func mustShape(op string, rows, cols int) {
	if rows < 1 || cols < 1 {
		panic(fmt.Sprintf("kernel: %s: shape [%d, %d], want at least [1, 1]", op, rows, cols))
	}
}
