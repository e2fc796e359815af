package graph

import "math"

// Note: constants
//
// A program for inference may take the weights as constants. Then a batch norm behind a convolution is no op:
//
//	(conv(x, w) + b - mean) / sqrt(variance + eps) * gamma + beta
//	= conv(x, w * scale) + (b - mean) * scale + beta
//
// with scale = gamma / sqrt(variance + eps). It saves a pass over the map and rounds otherwise. A
// normalisation that adds a residual stays: it is one pass, as the addition alone would be.

// Constants are values that programs for inference compute once from weights that no longer change, and
// share.
type Constants struct {
	of     *Variables
	folded map[layers]*folded
}

// layers are a convolution and a batch norm, by the numbers of the weights and of the mean.
type layers struct{ weights, mean int }

// folded are the weights of a convolution with the batch norm behind it.
type folded struct{ weights, bias []float32 }

// NewConstants returns constants of v, which must not change as long as a program uses them.
func NewConstants(v *Variables) *Constants { return &Constants{of: v, folded: map[layers]*folded{}} }

// constant is a value of a code that is known when it is compiled.
type constant struct {
	node   *Node
	values []float32
}

// foldNorm replaces batch norms behind convolutions by weights, if weights are constants.
func foldNorm(c *code) {
	if c.known == nil {
		return
	}
	for _, n := range c.calls {
		norm, ok := n.op.(NormalizeOp)
		if !ok || norm.Residual || n.in[0].call == nil {
			continue
		}
		producer := n.in[0].call
		conv, ok := producer.op.(ConvOp)
		if !ok || conv.ReLU || c.onlyReader(n.in[0]) != n || !areKnown(producer.in[1:]) ||
			!areKnown(n.in[1:]) {
			continue
		}
		f := c.fold(producer.in[1:], n.in[1:], norm.Eps)
		conv.ReLU = norm.ReLU
		producer.op, producer.in = conv, []*Node{producer.in[0],
			c.constant(producer.in[1].typ, f.weights), c.constant(float(len(f.bias)), f.bias)}
		c.replace(n.out[0], producer.out[0])
		c.remove(n)
	}
}

// areKnown reports whether nodes are parameters and states.
func areKnown(nodes []*Node) bool {
	for _, n := range nodes {
		if n.origin != parameter && n.origin != state {
			return false
		}
	}
	return true
}

// constant adds a value that is known.
func (c *code) constant(t Type, values []float32) *Node {
	n := &Node{graph: c.Graph, typ: t, origin: computed}
	c.constants = append(c.constants, constant{n, values})
	return n
}

// fold returns the weights and the bias of a convolution with these, followed by a batch norm of mean,
// variance, gamma and beta.
func (c *code) fold(conv, norm []*Node, eps float32) *folded {
	v := c.known.of
	value := func(n *Node) []float32 {
		if n.origin == state {
			return v.StateOf(n.number)
		}
		return v.of(v.Weights, n.number)
	}
	key := layers{conv[0].number, norm[0].number}
	if f := c.known.folded[key]; f != nil {
		return f
	}
	w, mean, variance, gamma, beta := value(conv[0]), value(norm[0]), value(norm[1]), value(norm[2]),
		value(norm[3])
	f := &folded{alignedFloats(len(w)), alignedFloats(len(mean))}
	scale := make([]float64, len(mean))
	for k := range scale {
		scale[k] = float64(gamma[k]) / math.Sqrt(float64(variance[k])+float64(eps))
		shift := -float64(mean[k])
		if len(conv) > 1 {
			shift += float64(value(conv[1])[k])
		}
		f.bias[k] = float32(shift*scale[k] + float64(beta[k]))
	}
	for i, x := range w {
		f.weights[i] = float32(float64(x) * scale[i%len(scale)])
	}
	c.known.folded[key] = f
	return f
}
