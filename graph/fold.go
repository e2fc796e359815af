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

// foldStatistics lets a convolution take the batch statistics of its result, while that is in the
// cache. The arithmetic is the same.
func foldStatistics(c *code) {
	for _, s := range c.calls {
		if _, ok := s.op.(batchStatistics); !ok || s.in[0].call == nil {
			continue
		}
		producer := s.in[0].call
		if o, ok := producer.op.(conv); ok {
			producer.op = convStatistics{o}
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
		if _, ok := s.op.(add); !ok {
			continue
		}
		for i, d := range s.in {
			other := s.in[1-i]
			if d.call == nil || other.call == nil || c.onlyReader(d) != s {
				continue
			}
			o, ok := d.call.op.(convBackwardData)
			if ok && c.isFreeBefore(other, d.call, s) {
				d.call.op, d.call.in = convBackwardDataAdd{o}, append(d.call.in, other)
				c.replace(s.out[0], d)
				c.remove(s)
				break
			}
		}
	}
}

// isFreeBefore reports whether n is computed before the call at and read by nobody from there on but by
// reader, and is no root.
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
