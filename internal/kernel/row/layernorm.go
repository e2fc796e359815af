package row

import (
	"math"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// LayerNorm is the plan of layer normalisation (Ba, Kiros and Hinton 2016) over rows of cols features,
// with an optional residual: a second input, some of whose elements are dropped, is added first.
//
//	s = x + a*factor       (s = x without a)
//	y = (s-mean)/sqrt(variance+eps) * gamma + beta
//
// mean and variance (biased) are those of each row. The same bits for any number of threads and on every
// ISA: sums over a row are those of the note "sums over a row"; sums over rows are taken in blocks of rows
// cut by their number.
type LayerNorm struct {
	cpu  *CPU
	cols int
	eps  float32
	// factors holds a row of dropout for each thread, partial the sums of blocks of rows.
	factors, partial []float32

	// The call in progress.
	rows                  Rows
	drop                  Dropout
	y, s, x, a            []float32
	stats, gamma, beta    []float32
	dx, da, dy            []float32
	blocks                int
	isBackward, isDropped bool
}

// maxNormBlocks is how many blocks of rows there are at most, normRows how many rows a block has at least.
// Changing either changes results.
const (
	maxNormBlocks = 64
	normRows      = 32
)

// NewLayerNorm plans rows of cols features, at least 1.
func (c *CPU) NewLayerNorm(cols int, eps float32) *LayerNorm {
	mustShape("layer norm", 1, cols)
	return &LayerNorm{cpu: c, cols: cols, eps: eps,
		factors: make([]float32, c.Threads()*cols),
		partial: make([]float32, maxNormBlocks*2*cols)}
}

// Forward computes y and stats, [rows, 2]: the mean and 1/sqrt(variance+eps) of each row. Unless a is nil,
// s receives x + a*factor; s may be a, and d drops from a. Without a, s must be x. One pass.
func (p *LayerNorm) Forward(y, s, stats, x, a, gamma, beta []float32, r Rows, d Dropout) {
	r.Cols = p.cols
	p.check("layer norm", r, y, s, x)
	MustLen("layer norm", "stats", len(stats), 2*r.Rows())
	p.y, p.s, p.x, p.a, p.stats, p.gamma, p.beta = y, s, x, a, stats, gamma, beta
	p.run(r, d)
}

// Backward computes, from Forward's s and stats, the gradients of x (dx), of a (da = dx*factor; nil if it
// is not wanted), gamma and beta. dx may be dy. With xh = (s-mean)*inverse and g = dy*gamma:
//
//	dx = inverse * (g - mean(g) - xh*mean(g*xh))      dgamma = sum dy*xh      dbeta = sum dy
func (p *LayerNorm) Backward(dx, da, dgamma, dbeta, dy, s, stats, gamma []float32, r Rows, d Dropout) {
	r.Cols = p.cols
	p.check("layer norm backward", r, dx, dy, s)
	MustLen("layer norm backward", "stats", len(stats), 2*r.Rows())
	p.dx, p.da, p.dy, p.s, p.stats, p.gamma = dx, da, dy, s, stats, gamma
	p.isBackward = true
	p.run(r, d)
	asm.Halve(p.partial, p.blocks, 2*p.cols, p.cpu.ops.Element.Add)
	copy(dgamma, p.partial)
	copy(dbeta, p.partial[p.cols:2*p.cols])
	p.isBackward = false
}

func (p *LayerNorm) check(op string, r Rows, x ...[]float32) {
	for _, v := range x {
		r.Check(op, "rows", v)
	}
}

// run does the call's rows on all threads.
func (p *LayerNorm) run(r Rows, d Dropout) {
	p.rows, p.drop, p.isDropped = r, d, d.Limit > 0
	p.blocks = min(max(r.Rows()/normRows, 1), maxNormBlocks)
	p.cpu.Share(p, r.Rows()*p.cols*4)
	p.rows, p.drop = Rows{}, Dropout{}
	p.y, p.s, p.x, p.a, p.dx, p.da, p.dy = nil, nil, nil, nil, nil, nil, nil
	p.stats, p.gamma, p.beta = nil, nil, nil
}

// Do normalises some blocks of rows.
func (p *LayerNorm) Do(thread, part, parts int) {
	first, last := compute.Span(p.blocks, part, parts)
	factors := p.factors[thread*p.cols : (thread+1)*p.cols]
	n := 0
	for b := first; b < last; b++ {
		lo, hi := compute.Span(p.rows.Rows(), b, p.blocks)
		sums := p.partial[b*2*p.cols : (b+1)*2*p.cols]
		if p.isBackward {
			clear(sums)
		}
		for i := lo; i < hi; i++ {
			if p.isDropped {
				n = p.rows.sampleOf(n, i)
				p.drop.Row(&p.cpu.ops.Row, factors, n, 0, i-int(p.rows.Starts[n]), 0)
			}
			if p.isBackward {
				p.backwardRow(i, sums, factors)
			} else {
				p.forwardRow(i, factors)
			}
		}
	}
}

// forwardRow normalises row i.
func (p *LayerNorm) forwardRow(i int, factors []float32) {
	o, lo, hi := &p.cpu.ops.Row, i*p.cols, (i+1)*p.cols
	s := p.s[lo:hi]
	switch {
	case p.a != nil && p.isDropped:
		o.MulAdd(s, p.x[lo:hi], p.a[lo:hi], factors)
	case p.a != nil:
		p.cpu.ops.Element.Add(s, p.x[lo:hi], p.a[lo:hi])
	}
	mean := o.Sum(s) / float32(p.cols)
	variance := o.Squares(s, mean) / float32(p.cols)
	inverse := float32(1 / math.Sqrt(float64(variance)+float64(p.eps)))
	p.stats[2*i], p.stats[2*i+1] = mean, inverse
	o.LayerNorm(p.y[lo:hi], s, p.gamma, p.beta, mean, inverse)
}

// backwardRow computes row i of the gradients and adds to the sums of its block.
func (p *LayerNorm) backwardRow(i int, sums, factors []float32) {
	o, lo, hi := &p.cpu.ops.Row, i*p.cols, (i+1)*p.cols
	mean, inverse := p.stats[2*i], p.stats[2*i+1]
	dy, s, n := p.dy[lo:hi], p.s[lo:hi], float32(p.cols)
	a, b := o.LayerNormSums(dy, s, p.gamma, mean, inverse)
	dx := p.dx[lo:hi]
	o.LayerNormGrad(dx, sums[:p.cols], sums[p.cols:], dy, s, p.gamma, mean, inverse, a/n, b/n)
	switch {
	case p.da != nil && p.isDropped:
		o.Mul(p.da[lo:hi], dx, factors)
	case p.da != nil:
		copy(p.da[lo:hi], dx)
	}
}
