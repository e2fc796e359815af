package graph

import "slices"

// folding is an op that can apply a ReLU to its only result as it writes it.
type folding interface{ withReLU() Op }

// foldReLU lets a convolution, a linear layer or a normalisation apply the ReLU that follows it, if
// nobody else reads the result in between: y = max(op(x), 0) in one pass. The arithmetic is the
// same.
func foldReLU(c *code) {
	for _, r := range c.calls {
		if _, ok := r.op.(relu); !ok || r.in[0].call == nil {
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
		if _, ok := g.op.(gelu); !ok || g.in[0].call == nil {
			continue
		}
		producer, y := g.in[0].call, g.out[0]
		l, ok := producer.op.(linear)
		if !ok || l.relu || l.gelu {
			continue
		}
		l.gelu = true
		producer.op, producer.out = l, append(producer.out, y)
		y.call, y.number = producer, 1
		c.remove(g)
	}
}

// foldMask lets batch norm's backward op apply the mask of the ReLU that was folded into its
// forward op, instead of reading a masked gradient: dy where y > 0, else 0, is formed on the fly
// from a y computed anew. The arithmetic is the same.
func foldMask(c *code) {
	for _, m := range c.calls {
		if _, ok := m.op.(reluBackward); !ok || m.in[1].call == nil {
			continue
		}
		forward, reader := m.in[1].call, c.onlyReader(m.out[0])
		n, isNorm := forward.op.(normalize)
		if !isNorm || !n.relu || reader == nil || reader.in[0] != m.out[0] {
			continue
		}
		b, ok := reader.op.(batchNormBackward)
		if !ok || !slices.Equal(reader.in[1:], forward.in) {
			continue
		}
		b.relu = true
		reader.op, reader.in[0] = b, m.in[0]
		c.remove(m)
	}
}

// dropMultiplyByOne removes the scaling of a gradient by ones, which is what the gradient of a
// plain sum of losses starts from.
func dropMultiplyByOne(c *code) {
	for _, s := range c.calls {
		if _, ok := s.op.(scaleRows); !ok || s.in[1].call == nil {
			continue
		}
		isGradient := slices.Contains(c.gradients, s.out[0])
		if f, ok := s.in[1].call.op.(fill); ok && f.value == 1 && !isGradient {
			c.replace(s.out[0], s.in[0])
			c.remove(s)
		}
	}
}
