package row

import (
	"fmt"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// Note: bands.
//
// 2x2 max pooling takes two rows of a map at a time, a band. The output of batch norm and its ReLU is
// recomputed for each band, in a buffer that stays in a cache, and never written as a whole. The sums over
// the batch are those of the note "column sums". A wide row that lies in several bands is summed in pieces
// with the same bits, since each of its places has a sum of its own.

// NormPool is the plan of y = maxpool(max(normalize(x), 0)), pooled by 2x2, stride 2, and of its
// gradients. They are bit for bit those of BatchNorm and MaxPool one after the other, for any number
// of threads and on every ISA. The methods allocate nothing.
type NormPool struct {
	norm  *BatchNorm
	ops   *asm.PoolOps
	shape PoolShape
	bands int       // of the batch
	band  []float32 // [threads][2*W*C] the gradient of one
	y, dy []float32 // operands of the call in progress
	x, dx []float32
}

// NewNormPool plans the normalisation and pooling of maps [N, H, W, C]. The windows must be pairs.
func (c *CPU) NewNormPool(s PoolShape) *NormPool {
	if !s.Possible() || !s.Pairs() {
		panic(fmt.Sprintf("kernel: norm pool: impossible shape %+v", s))
	}
	return &NormPool{norm: c.NewBatchNorm(s.N*s.H*s.W, s.C), ops: c.ops.Element.Pool(s.C), shape: s,
		bands: s.N * ((s.H + 1) / 2), band: make([]float32, c.Threads()*2*s.W*s.C)}
}

// Forward computes y, a quarter of the size of x, with the statistics and parameters of
// BatchNorm.Normalize. One pass: 4 bytes read and 1 written per element of x.
func (p *NormPool) Forward(y, x, mean, variance, gamma, beta []float32, eps float32) {
	p.must("norm pool", y, x)
	p.norm.mustChannels("norm pool", mean, variance, gamma, beta)
	p.norm.prepare(mean, variance, gamma, beta, eps)
	p.y, p.x = y, x
	p.norm.cpu.Share((*normPoolForward)(p), len(x))
	p.y, p.x = nil, nil
}

// Backward computes dx, dgamma and dbeta: BatchNorm.Backward of the gradient that MaxPool.Backward computes
// from dy. dx may be x. Two passes: 10 bytes read and 4 written per element of x.
func (p *NormPool) Backward(dx, dgamma, dbeta, dy, x, mean, variance, gamma, beta []float32,
	eps float32) {
	p.must("norm pool backward", dy, x)
	MustLen("norm pool backward", "dx", len(dx), len(x))
	p.norm.mustChannels("norm pool backward", dgamma, dbeta, mean, variance, gamma, beta)
	p.norm.prepare(mean, variance, gamma, beta, eps)
	p.dx, p.dy, p.x = dx, dy, x
	p.norm.cpu.Share((*normPoolSums)(p), len(x))
	p.norm.finish(p.norm.total(p.norm.cpu.ops.Element.Add), dgamma, dbeta, variance, eps)
	p.norm.cpu.Share((*normPoolGrad)(p), len(x))
	p.dx, p.dy, p.x = nil, nil, nil
}

func (p *NormPool) must(op string, y, x []float32) {
	s := p.shape
	MustLen(op, "x", len(x), s.N*s.H*s.W*s.C)
	MustLen(op, "y", len(y), s.N*s.OutH()*s.OutW()*s.C)
}

// constants returns mean, scale and shift of one pixel.
func (p *NormPool) constants() (mean, scale, shift []float32) {
	c := &p.norm.consts
	return c[wideMean][:p.shape.C], c[wideScale][:p.shape.C], c[wideShift][:p.shape.C]
}

// The passes over the batch, each a Task.
type (
	normPoolForward NormPool
	normPoolSums    NormPool
	normPoolGrad    NormPool
)

// Do normalises and pools a run of output rows.
func (p *normPoolForward) Do(_, part, parts int) {
	s := p.shape
	in, out := s.W*s.C, s.OutW()*s.C
	mean, scale, shift := (*NormPool)(p).constants()
	lo, hi := compute.Span(s.N*s.OutH(), part, parts)
	for i := lo; i < hi; i++ {
		x := p.x[s.inputRow(i)*in:]
		p.ops.NormPool(p.y[i*out:(i+1)*out], x[:in], x[in:2*in], mean, scale, shift, s.C)
	}
}

// bandOf returns the elements [lo, hi) of band b and the output row that pools it, or -1 for the last
// row of an odd map.
func (p *NormPool) bandOf(b int) (lo, hi, row int) {
	s, in := p.shape, p.shape.W*p.shape.C
	each := (s.H + 1) / 2
	n, h := b/each, b%each
	lo, hi, row = (n*s.H+2*h)*in, (n*s.H+2*h+2)*in, n*s.OutH()+h
	if h == s.OutH() {
		return lo, lo + in, -1
	}
	return lo, hi, row
}

// bandAt returns the band of element at.
func (p *NormPool) bandAt(at int) int {
	row := at / (p.shape.W * p.shape.C)
	return row/p.shape.H*((p.shape.H+1)/2) + row%p.shape.H/2
}

// gradient writes the gradient of the normalised band to d.
func (p *NormPool) gradient(d []float32, lo, hi, row int) {
	s := p.shape
	in, out := s.W*s.C, s.OutW()*s.C
	if row < 0 || s.W%2 > 0 {
		clear(d[:hi-lo])
	}
	if row < 0 {
		return
	}
	mean, scale, shift := p.constants()
	p.ops.NormPoolBackward(d[:in], d[in:2*in], p.dy[row*out:(row+1)*out],
		p.x[lo:lo+in], p.x[lo+in:hi], mean, scale, shift, s.C)
}

// buffer returns the band of a thread.
func (p *NormPool) buffer(thread int) []float32 {
	n := 2 * p.shape.W * p.shape.C
	return p.band[thread*n : (thread+1)*n]
}

// Do sums the gradient and its product with the centred input over a run of blocks.
func (p *normPoolSums) Do(thread, part, parts int) {
	all, norm := (*NormPool)(p), p.norm
	ops, d, mean := &norm.cpu.ops.Element, all.buffer(thread), norm.consts[wideMean]
	from, to := 0, 0 // the band in d
	norm.sum(thread, part, parts, ops.Add, func(acc []float32, lo, hi int) {
		for at := lo; at < hi; {
			if at >= to || at < from {
				var row int
				from, to, row = all.bandOf(all.bandAt(at))
				all.gradient(d, from, to, row)
			}
			i := (at - lo) % norm.wide
			n := min(hi-at, to-at, norm.wide-i) // to the end of the wide row
			s, q := acc[i:i+n], acc[norm.wide+i:norm.wide+i+n]
			ops.NormSums(s, q, d[at-from:at-from+n], p.x[at:at+n], mean[i:i+n])
			at += n
		}
	})
}

// Do computes the gradient of a run of bands, from the first to the last, since the pooling loops ask for the
// rows behind those at hand.
func (p *normPoolGrad) Do(thread, part, parts int) {
	all, norm := (*NormPool)(p), p.norm
	ops, d, c := &norm.cpu.ops.Element, all.buffer(thread), &norm.consts
	first, last := compute.Span(p.bands, norm.cpu.Mirrored(part, parts), parts)
	for b := first; b < last; b++ {
		lo, hi, row := all.bandOf(b)
		all.gradient(d, lo, hi, row)
		for at := lo; at < hi; {
			k := min(hi-at, norm.lean)
			n := (hi - at) / k * k
			ops.NormGrad(p.dx[at:at+n], d[at-lo:at-lo+n], p.x[at:at+n],
				c[wideMean][:k], c[wideScale][:k], c[wideSlope][:k], c[wideOffset][:k])
			at += n
		}
	}
}
