package attend

import (
	"fmt"
	"math"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
	"lockstep/internal/kernel/product"
	"lockstep/internal/kernel/row"
)

// Plan is the plan of scaled dot-product attention (Vaswani et al. 2017) within texts of different
// lengths. For each text of T tokens and each head of D features, with the head's parts of q, k and v:
//
//	s[i,j] = sum_d q[i,d] k[j,d] / sqrt(D)
//	p[i,j] = exp(s[i,j]) / sum_j exp(s[i,j])
//	y[i,d] = sum_j p[i,j]*factor[i,j] v[j,d]
//
// where factor is dropout's. Matrices are [tokens, heads*D], the texts' tokens one after another; a token
// attends to its own text only. Each head of a text is computed in the second-level cache, queryRows
// queries at a time, and no [T, T] matrix is kept: Backward recomputes p from each row's maximum and sum,
// bit for bit.
//
// Threads share texts and heads; each is computed in one order, so the bits depend on math alone.
// With math bf16 the operands of its products are rounded in texts of at least 64 tokens, if D is a multiple
// of 32. Cost: 4 T^2 D FLOPs a head forward, 10 T^2 D backward.
type Plan struct {
	cpu               *compute.CPU
	ops               asm.Ops
	heads, size, most int // heads, features of a head, tokens of a text at most
	features          product.Columns
	parts             []*headPart
	partFloats        int

	// The call in progress.
	rows              row.Rows
	drop              row.Dropout
	y, q, k, v, stats []float32
	dq, dk, dv, dy    []float32
	scratch           []float32
	total             int // sum of the squares of the lengths, times heads
}

// headPart is what one thread computes with.
type headPart struct {
	products // floats or rounded, by the text
	floats   *product.Small
	rounded  *product.SmallParts // nil if nothing is rounded

	keys                       product.Columns // the text's tokens
	kTurned, vTurned, kv       []float32
	p, dropped, dp             product.Matrix
	factors                    []float32
	start, length, text, first int // of the text, the head's first feature
	head                       int
}

// queryRows is how many queries are computed at a time. Changing it changes results.
const queryRows = 128

// roundedLength is the least tokens of a text whose products are of operands rounded to bf16, if such are
// asked for: shorter texts leave steps unfilled. Changing it changes results.
const roundedLength = 64

// New plans attention with heads of size features, a multiple of 16, over texts of at most most
// tokens.
func New(c *compute.CPU, heads, size, most int) *Plan {
	if min(heads, size, most) < 1 || size%asm.RowLanes != 0 {
		panic(fmt.Sprintf("kernel: attention: %d heads of %d features, texts of %d tokens; want at least 1 "+
			"and a multiple of 16", heads, size, most))
	}
	a := &Plan{cpu: c, ops: asm.OpsFor(c.ISA(), c.Math()), heads: heads, size: size, most: most}
	a.features = product.NewColumns(&a.ops.Gemm, size)
	for range c.Threads() {
		a.parts = append(a.parts, a.newPart())
	}
	a.partFloats = a.floatsOf(a.parts[0])
	return a
}

// newPart returns what a thread computes with.
func (a *Plan) newPart() *headPart {
	p := &headPart{floats: product.NewSmall(&a.ops.Gemm, queryRows),
		keys: product.NewColumns(&a.ops.Gemm, a.most)}
	if a.cpu.Math().Parts() == 1 && a.size%asm.SplitSide == 0 && a.most >= roundedLength {
		p.rounded = product.NewSmallParts(&a.ops.Split, max(a.most, a.size))
	}
	return p
}

// floatsOf returns the most scratch of a thread: what divide takes for the longest text.
func (a *Plan) floatsOf(p *headPart) int {
	floats := a.panelFloats(p.floats, a.most)
	if p.rounded != nil {
		floats = max(floats, a.panelFloats(p.rounded, a.most)+a.roundedFloats(p, a.most))
	}
	return floats + 3*queryRows*product.WholeSteps(a.most) + product.LineUp(a.most)
}

// OfParts reports whether a text of full length is multiplied by products of parts.
func (a *Plan) OfParts() bool { return a.parts[0].rounded != nil }

// products multiplies the matrices of a head.
type products interface {
	PanelFloats(depth, width int) int
	Turned(panels, src []float32, stride, depth int, c product.Columns)
	Packed(panels, src []float32, stride, depth int, c product.Columns)
	Times(dst, src product.Matrix, rows, depth int, panels []float32, c product.Columns)
	Transposed(dst, a, b product.Matrix, rows, terms int, add bool, c product.Columns)
}

// panelFloats is the size of all panels of a text.
func (a *Plan) panelFloats(p products, length int) int {
	return 2*p.PanelFloats(a.size, length) + p.PanelFloats(length, a.size)
}

// roundedFloats is the scratch of products of rounded operands.
func (a *Plan) roundedFloats(p *headPart, length int) int {
	return p.rounded.ScratchFloats(queryRows, max(length, a.size), a.size)
}

// ScratchFloats returns how many floats of scratch each call needs.
func (a *Plan) ScratchFloats() int { return len(a.parts)*a.partFloats + asm.LineFloats }

// Forward computes y and stats, [tokens, heads, 2]: each row's maximum of q k and its inverse sum of
// exponentials, which Backward needs.
func (a *Plan) Forward(y, stats, q, k, v []float32, r row.Rows, d row.Dropout, scratch []float32) {
	r.Cols = a.heads * a.size
	for _, x := range [][]float32{y, q, k, v} {
		r.Check("attention", "rows", x)
	}
	a.y, a.stats, a.q, a.k, a.v = y, stats, q, k, v
	a.run((*forward)(a), r, d, scratch)
}

// Backward computes the gradients of q, k and v from the gradient of y and Forward's stats.
func (a *Plan) Backward(dq, dk, dv, dy, stats, q, k, v []float32, r row.Rows, d row.Dropout,
	scratch []float32) {
	r.Cols = a.heads * a.size
	for _, x := range [][]float32{dq, dk, dv, dy, q, k, v} {
		r.Check("attention backward", "rows", x)
	}
	a.dq, a.dk, a.dv, a.dy, a.stats, a.q, a.k, a.v = dq, dk, dv, dy, stats, q, k, v
	a.run((*backward)(a), r, d, scratch)
}

// run does t on all threads.
func (a *Plan) run(t compute.Task, r row.Rows, d row.Dropout, scratch []float32) {
	row.MustLen("attention", "stats", len(a.stats), r.Rows()*a.heads*2)
	if len(scratch) < a.ScratchFloats() {
		panic(fmt.Sprintf("kernel: attention: len(scratch)=%d, want %d", len(scratch), a.ScratchFloats()))
	}
	a.rows, a.drop, a.scratch, a.total = r, d, product.Aligned(scratch), 0
	for n := range r.Samples() {
		length := int(r.Starts[n+1] - r.Starts[n])
		if length > a.most {
			panic(fmt.Sprintf("kernel: attention: text of %d tokens, want at most %d", length, a.most))
		}
		a.total += length * length * a.heads
	}
	a.cpu.Share(t, a.total*a.size)
	a.rows, a.drop, a.scratch = row.Rows{}, row.Dropout{}, nil
	a.y, a.q, a.k, a.v, a.stats = nil, nil, nil, nil, nil
	a.dq, a.dk, a.dv, a.dy = nil, nil, nil, nil
}

// each calls do for every text and head of a part, on a thread. Parts are cut to have equal sums of squared
// lengths.
func (a *Plan) each(thread, part, parts int, do func(a *Plan, p *headPart)) {
	p, before := a.parts[thread], 0
	for n := range a.rows.Samples() {
		p.text, p.start = n, int(a.rows.Starts[n])
		p.length = int(a.rows.Starts[n+1]) - p.start
		for h := range a.heads {
			if before*parts/a.total == part {
				p.head, p.first = h, p.start*a.rows.Cols+h*a.size
				a.divide(p, a.scratch[thread*a.partFloats:][:a.partFloats])
				do(a, p)
			}
			before += p.length * p.length
		}
	}
}

// divide assigns buffers for the text to a part.
func (a *Plan) divide(p *headPart, scratch []float32) {
	take := func(n int) []float32 {
		s := scratch[:n:n]
		scratch = scratch[n:]
		return s
	}
	p.keys.Cut(&a.ops.Gemm, p.length)
	p.products = p.floats
	if p.rounded != nil && p.length >= roundedLength {
		p.products = p.rounded
		p.rounded.Use(take(a.roundedFloats(p, p.length)), queryRows, max(p.length, a.size), a.size)
	}
	p.kTurned, p.vTurned = take(p.PanelFloats(a.size, p.length)), take(p.PanelFloats(a.size, p.length))
	p.kv = take(p.PanelFloats(p.length, a.size))
	stride := product.WholeSteps(p.length)
	p.p = product.Matrix{Floats: take(queryRows * stride), Stride: stride}
	p.dropped = product.Matrix{Floats: take(queryRows * stride), Stride: stride}
	p.dp = product.Matrix{Floats: take(queryRows * stride), Stride: stride}
	p.factors = take(p.length)
}

// of returns the part's rows of x from row i of the text on.
func (a *Plan) of(p *headPart, x []float32, i int) product.Matrix {
	return product.Matrix{Floats: x[p.first+i*a.rows.Cols:], Stride: a.rows.Cols}
}

// rowStats returns the maximum and the inverse sum of row i of the text.
func (a *Plan) rowStats(p *headPart, i int) []float32 {
	return a.stats[((p.start+i)*a.heads+p.head)*2:][:2]
}

// scale returns 1/sqrt(D).
func (a *Plan) scale() float32 { return float32(1 / math.Sqrt(float64(a.size))) }

// forward is Forward's task.
type forward Plan

// Do computes some texts and heads.
func (t *forward) Do(thread, part, parts int) {
	a := (*Plan)(t)
	a.each(thread, part, parts, (*Plan).forwardHead)
}

// forwardHead computes one head of one text.
func (a *Plan) forwardHead(p *headPart) {
	o, scale := &a.ops.Row, a.scale()
	p.Turned(p.kTurned, a.of(p, a.k, 0).Floats, a.rows.Cols, a.size, p.keys)
	p.Packed(p.kv, a.of(p, a.v, 0).Floats, a.rows.Cols, p.length, a.features)
	for from := 0; from < p.length; from += queryRows {
		n := min(queryRows, p.length-from)
		p.Times(p.p, a.of(p, a.q, from), n, a.size, p.kTurned, p.keys)
		for i := range n {
			s, m := p.p.Row(i, p.length), a.rowStats(p, from+i)
			m[0] = o.Top(s)
			m[1] = 1 / o.ExpSum(s, s, scale, m[0])
			a.ops.Element.Scale(s, s, m[1])
			if a.drop.Limit > 0 {
				a.drop.Row(o, p.factors, p.text, p.head, from+i)
				o.Mul(s, s, p.factors)
			}
		}
		p.Times(a.of(p, a.y, from), p.p, n, p.length, p.kv, a.features)
	}
}

// backward is Backward's task.
type backward Plan

// Do computes some texts and heads.
func (t *backward) Do(thread, part, parts int) {
	a := (*Plan)(t)
	a.each(thread, part, parts, (*Plan).backwardHead)
}

// backwardHead computes one head of one text.
func (a *Plan) backwardHead(p *headPart) {
	p.Turned(p.kTurned, a.of(p, a.k, 0).Floats, a.rows.Cols, a.size, p.keys)
	p.Turned(p.vTurned, a.of(p, a.v, 0).Floats, a.rows.Cols, a.size, p.keys)
	p.Packed(p.kv, a.of(p, a.k, 0).Floats, a.rows.Cols, p.length, a.features)
	for from := 0; from < p.length; from += queryRows {
		n := min(queryRows, p.length-from)
		q, dy := a.of(p, a.q, from), a.of(p, a.dy, from)
		p.Times(p.p, q, n, a.size, p.kTurned, p.keys)
		p.Times(p.dp, dy, n, a.size, p.vTurned, p.keys)
		dropped := p.p
		if a.drop.Limit > 0 {
			dropped = p.dropped
		}
		for i := range n {
			a.backwardRow(p, i, from)
		}
		p.Times(a.of(p, a.dq, from), p.dp, n, p.length, p.kv, a.features)
		p.Transposed(a.of(p, a.dk, 0), p.dp, q, p.length, n, from > 0, a.features)
		p.Transposed(a.of(p, a.dv, 0), dropped, dy, p.length, n, from > 0, a.features)
	}
}

// backwardRow turns scores into probabilities and the gradient of the probabilities into that of the
// scores, for row i of the rows from query from on.
func (a *Plan) backwardRow(p *headPart, i, from int) {
	o, scale := &a.ops.Row, a.scale()
	s, d, m := p.p.Row(i, p.length), p.dp.Row(i, p.length), a.rowStats(p, from+i)
	o.Exps(s, s, scale, m[0], m[1])
	if a.drop.Limit > 0 {
		a.drop.Row(o, p.factors, p.text, p.head, from+i)
		o.Mul(p.dropped.Row(i, p.length), s, p.factors)
		o.Mul(d, d, p.factors)
	}
	o.SoftmaxGrad(d, s, d, o.Dot(s, d), scale)
}
