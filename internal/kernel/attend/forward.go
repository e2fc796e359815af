package attend

import (
	"math"

	"lockstep/internal/kernel/product"
)

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
		// A row's chain of operations overlaps with that of the next in loops of their own.
		for r := range n {
			p.tops[r] = a.ops.Row.Top(p.p.Row(r, a.seen(p, i+r)))
		}
		for r := range n {
			p.keeps[r] = a.exponentials(p, p.p.Row(r, a.seen(p, i+r)), i+r, p.tops[r])
		}
		for r := range n {
			s, seen := p.p.Row(r, product.WholeSteps(span)), a.seen(p, i+r)
			clear(s[seen:])
			a.weigh(p, s[:seen], i+r, p.keeps[r])
		}
		p.Times(a.of(p, a.y, i), p.p, n, span, v, p.first > 0)
	}
}

// exponentials makes exponentials of the scores of row i of the text, of which top is the largest, and makes
// the row's maximum and sum those of the blocks up to this one. It returns what the sum before was multiplied
// by for that.
func (a *Plan) exponentials(p *headPart, s []float32, i int, top float32) float32 {
	o, m, keep := &a.ops.Row, a.rowStats(p, i), float32(1)
	if p.first > 0 {
		top = max(top, m[0])
	}
	base := top
	if !a.isLast(p, i) {
		base = max(top, -math.MaxFloat32) // -Inf less -Inf would be NaN, whatever the blocks to come
	}
	if p.first > 0 && top > m[0] {
		o.Exps(p.one[:], m[:1], a.scale, base, 1)
		keep = p.one[0]
	}
	sum := o.ExpSum(s, s, a.scale, base)
	if p.first > 0 {
		sum += float32(m[1] * keep)
	}
	m[0], m[1] = top, sum
	return keep
}

// weigh turns the exponentials of row i of the text into what the values of the block are weighted by, and
// multiplies the row's y of the blocks before by keep. In the row's last block both are divided by its sum.
func (a *Plan) weigh(p *headPart, s []float32, i int, keep float32) {
	o, m := &a.ops.Row, a.rowStats(p, i)
	if a.isLast(p, i) {
		m[1] = 1 / m[1]
		a.ops.Element.Scale(s, s, m[1])
		keep *= m[1]
	}
	if p.first > 0 && keep != 1 {
		y := a.of(p, a.y, i).Row(0, a.Size)
		a.ops.Element.Scale(y, y, keep)
	}
	if a.drop.Limit > 0 {
		a.drop.Row(o, p.factors[:len(s)], p.text, p.head, i, p.first)
		o.Mul(s, s, p.factors[:len(s)])
	}
}
