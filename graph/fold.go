package graph

import "slices"

// folding is an op that can apply a ReLU to its only result as it writes it.
type folding interface{ withReLU() Op }

// foldAdd lets a normalisation add a residual as it writes its result, if nobody else reads that result: y
// = normalize(x) + r in one pass. The folded op runs in the place of the addition, where r is known.
func foldAdd(c *code) {
	for _, a := range c.calls {
		if _, ok := a.op.(AddOp); !ok {
			continue
		}
		for i, n := range a.in {
			if n.call == nil || c.onlyReader(n) != a {
				continue
			}
			o, ok := n.call.op.(NormalizeOp)
			if !ok || o.Residual || o.ReLU {
				continue
			}
			o.Residual = true
			producer, residual := n.call, a.in[1-i]
			a.op, a.label = o, producer.label
			a.in = append(slices.Clone(producer.in), residual)
			c.remove(producer)
			break
		}
	}
}

// foldReLU lets a convolution, a linear layer or a normalisation apply the ReLU that follows it, if
// nobody else reads the result in between: y = max(op(x), 0) in one pass. The arithmetic is the
// same.
func foldReLU(c *code) {
	for _, r := range c.calls {
		if _, ok := r.op.(ReLUOp); !ok || r.in[0].call == nil {
			continue
		}
		producer := r.in[0].call
		f, ok := producer.op.(folding)
		if !ok || c.onlyReader(producer.out[0]) != r {
			continue
		}
		producer.op = f.withReLU()
		c.replace(r.out[0], producer.out[0])
		c.remove(r)
	}
}

// foldGELU lets a linear layer compute the GELU that follows it block by block, while its rows are in
// the cache. Its own result stays, for the gradient. The arithmetic is the same.
func foldGELU(c *code) {
	for _, g := range c.calls {
		if _, ok := g.op.(GELUOp); !ok || g.in[0].call == nil {
			continue
		}
		producer, y := g.in[0].call, g.out[0]
		l, ok := producer.op.(LinearOp)
		if !ok || l.ReLU || l.GELU {
			continue
		}
		l.GELU = true
		producer.op, producer.out = l, append(producer.out, y)
		y.call, y.number = producer, 1
		c.remove(g)
	}
}

// foldSlope lets a linear layer with a GELU leave the derivative of GELU in place of its own result, and the
// product that computes GELU's gradient multiply by it, in place of an op that computes the derivative anew.
// The arithmetic is the same.
func foldSlope(c *code) {
	for _, g := range c.calls {
		if _, ok := g.op.(GELUBackwardOp); !ok || g.in[0].call == nil || g.in[1].call == nil {
			continue
		}
		dy, x := g.in[0], g.in[1]
		l, isLinear := x.call.op.(LinearOp)
		d, isProduct := dy.call.op.(ConvBackwardDataOp)
		if !isLinear || !l.GELU || !isProduct || c.onlyReader(dy) != g || c.onlyReader(x) != g {
			continue
		}
		l.Slope = true
		x.call.op = l
		dy.call.op, dy.call.in = ConvBackwardDataMulOp{d}, append(dy.call.in, x)
		c.replace(g.out[0], dy)
		c.remove(g)
	}
}

// foldMask lets batch norm's backward op apply the mask of the ReLU that was folded into its
// forward op, instead of reading a masked gradient: dy where y > 0, else 0, is formed on the fly
// from a y computed anew. The arithmetic is the same.
func foldMask(c *code) {
	for _, m := range c.calls {
		if _, ok := m.op.(ReLUBackwardOp); !ok || m.in[1].call == nil {
			continue
		}
		forward, reader := m.in[1].call, c.onlyReader(m.out[0])
		n, isNorm := forward.op.(NormalizeOp)
		if !isNorm || !n.ReLU || reader == nil || reader.in[0] != m.out[0] {
			continue
		}
		b, ok := reader.op.(BatchNormBackwardOp)
		if !ok || !slices.Equal(reader.in[1:], forward.in) {
			continue
		}
		b.ReLU = true
		reader.op, reader.in[0] = b, m.in[0]
		c.remove(m)
	}
}

// foldResidualMask is foldMask for a normalisation with a residual. The residual's gradient is the masked
// gradient, which is computed once, in the pass that sums it for batch norm.
func foldResidualMask(c *code) {
	for _, m := range c.calls {
		if _, ok := m.op.(ReLUBackwardOp); !ok || m.in[1].call == nil {
			continue
		}
		forward := m.in[1].call
		n, ok := forward.op.(NormalizeOp)
		if !ok || !n.ReLU || !n.Residual {
			continue
		}
		b := c.backwardOf(forward.in[:5], m.out[0])
		if b == nil {
			continue
		}
		m.op, m.label = ResidualBackwardOp{Eps: n.Eps}, b.label
		m.in, m.out = slices.Concat(m.in, forward.in[:5]), slices.Concat(m.out, b.out)
		for i, o := range m.out {
			o.call, o.number = m, i
		}
		c.remove(b)
	}
}

// backwardOf returns the call that computes batch norm's gradients from dy and the inputs of the
// normalisation, if there is one.
func (c *code) backwardOf(inputs []*Node, dy *Node) *call {
	for _, r := range c.readers(dy) {
		if b, ok := r.op.(BatchNormBackwardOp); ok && !b.ReLU && r.in[0] == dy &&
			slices.Equal(r.in[1:], inputs) {
			return r
		}
	}
	return nil
}

// foldPool fuses batch norm, ReLU and 2x2 max pooling. The pooling normalises and rectifies its input as it
// reads it; batch norm's backward op routes the gradient to the maxima as it reads the gradient. Neither
// the map in between nor its gradient is written. The arithmetic is the same.
func foldPool(c *code) {
	for _, p := range c.calls {
		pool, ok := p.op.(MaxPoolOp)
		if !ok || p.in[0].call == nil || !pool.shape(p.in[0].typ).Pairs() {
			continue
		}
		producer := p.in[0].call
		n, ok := producer.op.(NormalizeOp)
		if !ok || !n.ReLU || n.Residual {
			continue
		}
		fused := NormPoolOp{Eps: n.Eps, Pool: pool}
		switch readers := c.readers(p.in[0]); len(readers) {
		case 1:
		case 2: // the other one is in the backward pass
			if !c.foldPoolBackward(fused, readers[1], producer.in) {
				continue
			}
		default:
			continue
		}
		p.op, p.in, p.label = fused, producer.in, producer.label
		c.remove(producer)
	}
}

// foldPoolBackward folds p into the backward op of a normalisation with a ReLU and these inputs, if p is
// max-pool-backward and only that op reads its result.
func (c *code) foldPoolBackward(fused NormPoolOp, p *call, inputs []*Node) bool {
	if p.op != (MaxPoolBackwardOp{Of: fused.Pool}) {
		return false
	}
	reader := c.onlyReader(p.out[0])
	if reader == nil || reader.op != (BatchNormBackwardOp{Eps: fused.Eps, ReLU: true}) ||
		!slices.Equal(reader.in[1:], inputs) {
		return false
	}
	reader.op = NormPoolBackwardOp{fused}
	reader.in = append([]*Node{p.in[0]}, inputs...)
	c.remove(p)
	return true
}

// foldPoolMask lets max pooling's backward op apply the mask of the ReLU before the pooling, since it reads
// that ReLU's output anyway.
func foldPoolMask(c *code) {
	for _, m := range c.calls {
		if _, ok := m.op.(ReLUBackwardOp); !ok || m.in[0].call == nil {
			continue
		}
		p := m.in[0].call
		b, ok := p.op.(MaxPoolBackwardOp)
		if !ok || p.in[1] != m.in[1] || c.onlyReader(p.out[0]) != m {
			continue
		}
		b.ReLU = true
		p.op = b
		c.replace(m.out[0], p.out[0])
		c.remove(m)
	}
}

// foldStatistics lets a convolution take the batch statistics of its result, while that is in the
// cache. The arithmetic is the same.
func foldStatistics(c *code) {
	for _, s := range c.calls {
		if _, ok := s.op.(BatchStatisticsOp); !ok || s.in[0].call == nil {
			continue
		}
		producer := s.in[0].call
		if o, ok := producer.op.(ConvOp); ok {
			producer.op = ConvStatisticsOp{o}
			producer.out = append(producer.out, s.out...)
			for _, n := range s.out {
				n.call = producer
			}
			c.remove(s)
		}
	}
}

// foldGradientSum lets a convolution's backward-data op add to another gradient of the same value,
// which it overwrites, instead of having the two added in another pass. Sums of several chunks of
// channels are then added to it one by one, so results may differ in rounding.
func foldGradientSum(c *code) {
	for _, s := range c.calls {
		if _, ok := s.op.(AddOp); !ok {
			continue
		}
		for i, d := range s.in {
			other := s.in[1-i]
			if d.call == nil || other.call == nil || c.onlyReader(d) != s {
				continue
			}
			o, ok := d.call.op.(ConvBackwardDataOp)
			if ok && c.isFreeBefore(other, d.call, s) {
				d.call.op, d.call.in = ConvBackwardDataAddOp{o}, append(d.call.in, other)
				c.replace(s.out[0], d)
				c.remove(s)
				break
			}
		}
	}
}

// foldNormSums lets a convolution's backward-data op take the sums that batch norm needs of its result, while
// that is in a cache, and apply the mask of the ReLU behind a residual. The arithmetic is the same.
func foldNormSums(c *code) {
	for _, b := range c.calls {
		switch o := b.op.(type) {
		case BatchNormBackwardOp:
			sums := ConvBackwardDataSumsOp{Eps: o.Eps, ReLU: o.ReLU}
			if n := c.takeSums(b, sums, b.in[1:]); n != nil {
				o.Summed = true
				b.op, b.in = o, append(slices.Clone(b.in), n)
			}
		case ResidualBackwardOp:
			dz, z, norm := b.in[0], b.in[1], b.in[2:]
			sums := ConvBackwardDataSumsOp{Eps: o.Eps, Residual: true}
			if n := c.takeSums(b, sums, append(slices.Clone(norm), z)); n != nil {
				c.replace(b.out[0], dz)
				b.op = BatchNormBackwardOp{Eps: o.Eps, Summed: true}
				b.in = slices.Concat([]*Node{dz}, norm, []*Node{n})
				b.out = b.out[1:]
				for i, d := range b.out {
					d.number = i
				}
			}
		}
	}
}

// takeSums lets the call that computes the gradient b reads take its sums with o from inputs, and returns
// them; nil if it cannot or others read that gradient too.
func (c *code) takeSums(b *call, o ConvBackwardDataSumsOp, inputs []*Node) *Node {
	dy := b.in[0]
	if dy.call == nil || c.onlyReader(dy) != b {
		return nil
	}
	producer := dy.call
	switch conv := producer.op.(type) {
	case ConvBackwardDataOp:
		o.ConvBackwardDataOp = conv
		producer.op = o
	case ConvBackwardDataAddOp:
		o.ConvBackwardDataOp = conv.ConvBackwardDataOp
		producer.op = ConvBackwardDataAddSumsOp{o}
	default:
		return nil
	}
	sums := &Node{graph: dy.graph, typ: float(2 * lastAxis(dy.typ)), call: producer, number: 1}
	producer.in, producer.out = slices.Concat(producer.in, inputs), append(producer.out, sums)
	return sums
}

// isFreeBefore reports whether n is computed before the call at, is no root, and is read from there on by
// reader alone.
func (c *code) isFreeBefore(n *Node, at, reader *call) bool {
	if slices.ContainsFunc(c.roots(), func(root **Node) bool { return *root == n }) {
		return false
	}
	from := slices.Index(c.calls, at)
	for _, later := range c.calls[from:] {
		if later == n.call || later != reader && slices.Contains(later.in, n) {
			return false
		}
	}
	return true
}

// dropMultiplyByOne removes the scaling of a gradient by ones, which is what the gradient of a
// plain sum of losses starts from.
func dropMultiplyByOne(c *code) {
	for _, s := range c.calls {
		if _, ok := s.op.(ScaleRowsOp); !ok || s.in[1].call == nil {
			continue
		}
		isGradient := slices.Contains(c.gradients, s.out[0])
		if f, ok := s.in[1].call.op.(FillOp); ok && f.Value == 1 && !isGradient {
			c.replace(s.out[0], s.in[0])
			c.remove(s)
		}
	}
}
