package attend

import "lockstep/internal/kernel/product"

// backward is Backward's task.
type backward Plan

// Do computes some texts and heads.
func (t *backward) Do(thread, part, parts int) {
	(*Plan)(t).each(thread, part, parts, (*Plan).backwardBlock)
}

// backwardBlock goes through the queries that meet a block of keys.
func (a *Plan) backwardBlock(p *headPart) {
	k, v, rows := a.turned(p, p.kTurned, a.k), a.turned(p, p.vTurned, a.v), a.packed(p, a.k)
	for i := a.firstQuery(p); i < p.length; i += queryRows {
		n := min(queryRows, p.length-i)
		q, dy := a.near(p, p.query, a.q, i, n), a.near(p, p.gradient, a.dy, i, n)
		for r := 0; r < n; r += a.group {
			m := min(a.group, n-r)
			span := a.seen(p, i+r+m-1)
			s, d := p.p.From(r, 0), p.dp.From(r, 0)
			p.Times(s, q.From(r, 0), m, a.Size, k.Within(span), false)
			p.Times(d, dy.From(r, 0), m, a.Size, v.Within(span), false)
			a.scoreGradients(p, s, d, dy.From(r, 0), i+r, m, product.WholeSteps(span))
			p.Times(a.of(p, a.dq, i+r), d, m, span, rows, p.first > 0)
		}
		a.keyGradients(p, q, dy, i, n)
	}
}

// scoreGradients turns n rows of scores into probabilities times dropout's factors, and the gradients of
// these into those of the scores, from row i of the text on; what a row does not see of its first span keys
// becomes zero.
func (a *Plan) scoreGradients(p *headPart, s, d, dy product.Matrix, i, n, span int) {
	o := &a.ops.Row
	for r := range n { // apart from what follows, so that these chains overlap
		row, m, seen := s.Row(r, span), a.rowStats(p, i+r), a.seen(p, i+r)
		o.Exps(row[:seen], row[:seen], a.scale, m[0], m[1])
		clear(row[seen:])
		clear(d.Row(r, span)[seen:])
	}
	for r := range n {
		seen := a.seen(p, i+r)
		s, d, f := s.Row(r, seen), d.Row(r, seen), p.factors[:seen]
		if a.drop.Limit > 0 {
			a.drop.Row(o, f, p.text, p.head, i+r, p.first)
			o.Mul(d, d, f)
		}
		flow := float32(0)
		if p.length > keyRows {
			flow = o.Dot(dy.Row(r, a.Size), a.of(p, a.y, i+r).Row(0, a.Size))
		} else {
			flow = o.Dot(s, d)
		}
		o.SoftmaxGrad(d, s, d, flow, a.scale)
		if a.drop.Limit > 0 {
			o.Mul(s, s, f)
		}
	}
}

// keyGradients adds to the gradients of the block's keys and values what n queries give them, from row i of
// the text on. On the diagonal, a group of keys at a time meet the queries from the first one on that attends
// to one of them.
func (a *Plan) keyGradients(p *headPart, q, dy product.Matrix, i, n int) {
	span, step := a.seen(p, i+n-1), p.width
	if a.Causal && i < p.first+p.width {
		step = a.group
	}
	for j := 0; j < span; j += step {
		keys, earliest, from := min(step, span-j), 0, 0
		if a.Causal {
			earliest, from = p.first+j/queryRows*queryRows, max(0, p.first+j-i)
		}
		dk, dv := a.of(p, a.dk, p.first+j), a.of(p, a.dv, p.first+j)
		p.Transposed(dk, p.dp.From(from, j), q.From(from, 0), keys, n-from, i > earliest, a.features)
		p.Transposed(dv, p.p.From(from, j), dy.From(from, 0), keys, n-from, i > earliest, a.features)
	}
}
