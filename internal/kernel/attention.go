package kernel

import (
	"fmt"
	"math"
)

// Attention is the plan of scaled dot-product attention (Vaswani et al. 2017) within texts of different
// lengths. For each text of T tokens and each head of D features, with the head's parts of q, k and v:
//
//	s[i,j] = sum_d q[i,d] k[j,d] / sqrt(D)
//	p[i,j] = exp(s[i,j]) / sum_j exp(s[i,j])
//	y[i,d] = sum_j p[i,j]*factor[i,j] v[j,d]
//
// factor being dropout's. Matrices are [tokens, heads*D], the texts' tokens one after another; tokens of
// other texts are never looked at. A text's head is computed in the second-level cache, attentionRows
// queries at a time, so no [T, T] matrix is kept: Backward computes p again from each row's maximum and
// sum, bit for bit.
//
// Threads share texts and heads; each is computed in one order, so the bits depend on the ISA alone. Cost:
// 4 T^2 D FLOPs a head forward, 10 T^2 D backward.
type Attention struct {
	cpu               *CPU
	heads, size, most int // heads, features of a head, tokens of a text at most
	features          []block
	parts             []*attentionPart
	partFloats        int

	// The call in progress.
	rows                Rows
	drop                Dropout
	y, q, k, v, moments []float32
	dq, dk, dv, dy      []float32
	scratch             []float32
	total               int // sum of the squares of the lengths, times heads
}

// attentionPart is what one thread computes with.
type attentionPart struct {
	*product
	keys                       []block // of the text's tokens
	kTurned, vTurned, kv       []float32
	p, dropped, dp             matrix
	factors                    []float32
	start, length, text, first int // of the text, the head's first feature
	head                       int
}

// attentionRows is how many queries are computed at a time. Changing it changes results.
const attentionRows = 128

// NewAttention plans attention with heads of size features, a multiple of 16, over texts of at most most
// tokens.
func (c *CPU) NewAttention(heads, size, most int) *Attention {
	if min(heads, size, most) < 1 || size%rowLanes != 0 {
		panic(fmt.Sprintf("kernel: attention: %d heads of %d features, texts of %d tokens; want at least 1 "+
			"and a multiple of 16", heads, size, most))
	}
	a := &Attention{cpu: c, heads: heads, size: size, most: most}
	a.features, _ = c.ops.gemm.cutBlocks(size)
	for range c.Threads() {
		p := &attentionPart{product: newProduct(&c.ops.gemm, attentionRows)}
		p.keys, _ = c.ops.gemm.cutBlocks(most)
		for range c.ops.gemm.widths { // a shorter text may be cut into more blocks
			p.keys = append(p.keys, block{})
		}
		a.parts = append(a.parts, p)
	}
	a.partFloats = 2*c.ops.gemm.panelFloats(size, most) + c.ops.gemm.panelFloats(most, size) +
		3*attentionRows*lineUp(most) + lineUp(most)
	return a
}

// lineUp rounds a number of floats up to whole cache lines.
func lineUp(n int) int { return (n + lineFloats - 1) / lineFloats * lineFloats }

// ScratchFloats returns how many floats of scratch each call needs.
func (a *Attention) ScratchFloats() int { return len(a.parts)*a.partFloats + lineFloats }

// Forward computes y and moments, [tokens, heads, 2]: the maximum of q k and the inverse of the sum of each
// row, which Backward wants.
func (a *Attention) Forward(y, moments, q, k, v []float32, r Rows, d Dropout, scratch []float32) {
	r.Cols = a.heads * a.size
	for _, x := range [][]float32{y, q, k, v} {
		r.check("attention", "rows", x)
	}
	a.y, a.moments, a.q, a.k, a.v = y, moments, q, k, v
	a.run((*attentionForward)(a), r, d, scratch)
}

// Backward computes the gradients of q, k and v from that of y and Forward's moments.
func (a *Attention) Backward(dq, dk, dv, dy, moments, q, k, v []float32, r Rows, d Dropout,
	scratch []float32) {
	r.Cols = a.heads * a.size
	for _, x := range [][]float32{dq, dk, dv, dy, q, k, v} {
		r.check("attention backward", "rows", x)
	}
	a.dq, a.dk, a.dv, a.dy, a.moments, a.q, a.k, a.v = dq, dk, dv, dy, moments, q, k, v
	a.run((*attentionBackward)(a), r, d, scratch)
}

// run does t on all threads.
func (a *Attention) run(t Task, r Rows, d Dropout, scratch []float32) {
	mustLen("attention", "moments", len(a.moments), r.rows()*a.heads*2)
	if len(scratch) < a.ScratchFloats() {
		panic(fmt.Sprintf("kernel: attention: len(scratch)=%d, want %d", len(scratch), a.ScratchFloats()))
	}
	a.rows, a.drop, a.scratch, a.total = r, d, aligned(scratch), 0
	for n := range r.samples() {
		length := int(r.Starts[n+1] - r.Starts[n])
		if length > a.most {
			panic(fmt.Sprintf("kernel: attention: text of %d tokens, want at most %d", length, a.most))
		}
		a.total += length * length * a.heads
	}
	a.cpu.share(t, a.total*a.size)
	a.rows, a.drop, a.scratch = Rows{}, Dropout{}, nil
	a.y, a.q, a.k, a.v, a.moments = nil, nil, nil, nil, nil
	a.dq, a.dk, a.dv, a.dy = nil, nil, nil, nil
}

// each calls do for the texts and heads of a part, on a thread. They are cut by the squares of the lengths.
func (a *Attention) each(thread, part, parts int, do func(a *Attention, p *attentionPart)) {
	p, before := a.parts[thread], 0
	for n := range a.rows.samples() {
		p.text, p.start = n, int(a.rows.Starts[n])
		p.length = int(a.rows.Starts[n+1]) - p.start
		for h := range a.heads {
			if before*parts/a.total == part {
				p.head, p.first = h, p.start*a.rows.Cols+h*a.size
				a.divide(p, a.scratch[thread*a.partFloats:])
				do(a, p)
			}
			before += p.length * p.length
		}
	}
}

// divide gives a part its buffers for the text.
func (a *Attention) divide(p *attentionPart, scratch []float32) {
	take := func(n int) []float32 {
		s := scratch[:n:n]
		scratch = scratch[n:]
		return s
	}
	o := p.ops
	p.keys, _ = o.appendBlocks(p.keys[:0], p.length)
	p.kTurned, p.vTurned = take(o.panelFloats(a.size, p.length)), take(o.panelFloats(a.size, p.length))
	p.kv = take(o.panelFloats(p.length, a.size))
	stride := lineUp(p.length)
	p.p = matrix{take(attentionRows * stride), stride}
	p.dropped = matrix{take(attentionRows * stride), stride}
	p.dp = matrix{take(attentionRows * stride), stride}
	p.factors = take(p.length)
}

// of returns the part's rows of x from row i of the text on.
func (a *Attention) of(p *attentionPart, x []float32, i int) matrix {
	return matrix{x[p.first+i*a.rows.Cols:], a.rows.Cols}
}

// rowMoments returns the maximum and the inverse sum of row i of the text.
func (a *Attention) rowMoments(p *attentionPart, i int) []float32 {
	return a.moments[((p.start+i)*a.heads+p.head)*2:][:2]
}

// scale returns 1/sqrt(D).
func (a *Attention) scale() float32 { return float32(1 / math.Sqrt(float64(a.size))) }

// attentionForward is Forward's task.
type attentionForward Attention

// Do computes some texts and heads.
func (t *attentionForward) Do(thread, part, parts int) {
	a := (*Attention)(t)
	a.each(thread, part, parts, (*Attention).forward)
}

// forward computes one head of one text.
func (a *Attention) forward(p *attentionPart) {
	o, scale := &a.cpu.ops.row, a.scale()
	p.turned(p.kTurned, a.of(p, a.k, 0).floats, a.rows.Cols, a.size, p.keys)
	p.packed(p.kv, a.of(p, a.v, 0).floats, a.rows.Cols, p.length, a.features)
	for from := 0; from < p.length; from += attentionRows {
		n := min(attentionRows, p.length-from)
		p.times(p.p, a.of(p, a.q, from), n, a.size, p.kTurned, p.keys)
		for i := range n {
			s, m := p.p.row(i, p.length), a.rowMoments(p, from+i)
			m[0] = o.top(s)
			m[1] = 1 / o.expSum(s, s, scale, m[0])
			a.cpu.ops.element.scale(s, s, m[1])
			if a.drop.Limit > 0 {
				a.drop.row(o, p.factors, p.text, p.head, from+i)
				o.mul(s, s, p.factors)
			}
		}
		p.times(a.of(p, a.y, from), p.p, n, p.length, p.kv, a.features)
	}
}

// attentionBackward is Backward's task.
type attentionBackward Attention

// Do computes some texts and heads.
func (t *attentionBackward) Do(thread, part, parts int) {
	a := (*Attention)(t)
	a.each(thread, part, parts, (*Attention).backward)
}

// backward computes one head of one text.
func (a *Attention) backward(p *attentionPart) {
	p.turned(p.kTurned, a.of(p, a.k, 0).floats, a.rows.Cols, a.size, p.keys)
	p.turned(p.vTurned, a.of(p, a.v, 0).floats, a.rows.Cols, a.size, p.keys)
	p.packed(p.kv, a.of(p, a.k, 0).floats, a.rows.Cols, p.length, a.features)
	for from := 0; from < p.length; from += attentionRows {
		n := min(attentionRows, p.length-from)
		q, dy := a.of(p, a.q, from), a.of(p, a.dy, from)
		p.times(p.p, q, n, a.size, p.kTurned, p.keys)
		p.times(p.dp, dy, n, a.size, p.vTurned, p.keys)
		dropped := p.p
		if a.drop.Limit > 0 {
			dropped = p.dropped
		}
		for i := range n {
			a.backwardRow(p, i, from)
		}
		p.times(a.of(p, a.dq, from), p.dp, n, p.length, p.kv, a.features)
		p.transposed(a.of(p, a.dk, 0), p.dp, q, p.length, n, from > 0, a.features)
		p.transposed(a.of(p, a.dv, 0), dropped, dy, p.length, n, from > 0, a.features)
	}
}

// backwardRow turns row i of the scores, of those from query from on, into probabilities, and the gradient
// of the probabilities into that of the scores.
func (a *Attention) backwardRow(p *attentionPart, i, from int) {
	o, scale := &a.cpu.ops.row, a.scale()
	s, d, m := p.p.row(i, p.length), p.dp.row(i, p.length), a.rowMoments(p, from+i)
	o.exps(s, s, scale, m[0], m[1])
	if a.drop.Limit > 0 {
		a.drop.row(o, p.factors, p.text, p.head, from+i)
		o.mul(p.dropped.row(i, p.length), s, p.factors)
		o.mul(d, d, p.factors)
	}
	o.softmaxGrad(d, s, d, o.dot(s, d), scale)
}
