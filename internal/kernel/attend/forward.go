package attend

import "lockstep/internal/kernel/product"

// forward is Forward's task.
type forward Plan

// Do computes some texts and heads.
func (t *forward) Do(thread, part, parts int) {
	(*Plan)(t).each(thread, part, parts, (*Plan).forwardBlock)
}

// forwardBlock goes through the queries that meet a block of keys.
func (a *Plan) forwardBlock(p *headPart) {
	k, v := a.turned(p, p.kTurned, a.k), a.packed(p, a.v)
	for i := a.firstQuery(p); i < p.length; i += a.group {
		n := min(a.group, p.length-i)
		span := a.seen(p, i+n-1)
		p.Times(p.p, a.of(p, a.q, i), n, a.Size, k.Within(span), false)
		for r := range n {
			s, seen := p.p.Row(r, product.WholeSteps(span)), a.seen(p, i+r)
			clear(s[seen:])
			a.weigh(p, s[:seen], i+r)
		}
		p.Times(a.of(p, a.y, i), p.p, n, span, v, p.first > 0)
	}
}

// weigh turns the scores of row i of the text into what the values of the block are weighted by, and makes
// the row's maximum, sum and y those of the blocks up to this one. In the row's last block weights and y are
// divided by the sum.
func (a *Plan) weigh(p *headPart, s []float32, i int) {
	o, m, keep := &a.ops.Row, a.rowStats(p, i), float32(1)
	top := o.Top(s)
	if p.first > 0 {
		if top = max(top, m[0]); top > m[0] {
			o.Exps(p.one[:], m[:1], a.scale, top, 1)
			keep = p.one[0]
		}
	}
	sum := o.ExpSum(s, s, a.scale, top)
	if p.first > 0 {
		sum += float32(m[1] * keep)
	}
	if isLast := p.first+p.width == p.length || a.Causal && i < p.first+p.width; isLast {
		sum = 1 / sum
		a.ops.Element.Scale(s, s, sum)
		keep *= sum
	}
	if p.first > 0 && keep != 1 {
		y := a.of(p, a.y, i).Row(0, a.Size)
		a.ops.Element.Scale(y, y, keep)
	}
	m[0], m[1] = top, sum
	if a.drop.Limit > 0 {
		a.drop.Row(o, p.factors[:len(s)], p.text, p.head, i, p.first)
		o.Mul(s, s, p.factors[:len(s)])
	}
}
