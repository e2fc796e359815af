package graph

import (
	"math"

	"lockstep/internal/kernel/product"
)

// Note: constants
//
// A program for inference may take the weights as constants. Then a batch norm behind a convolution is no op:
//
//	(conv(x, w) + b - mean) / sqrt(variance + eps) * gamma + beta
//	= conv(x, w * scale) + (b - mean) * scale + beta
//
// with scale = gamma / sqrt(variance + eps). It saves a pass over the map and rounds otherwise. A residual
// behind the batch norm is then what the convolution adds to.
//
// Weights are also laid out once as kernels read them, if those would copy them in each pass; their bits, and
// those of results, stay.

// Constants are values that programs for inference compute once from weights that no longer change, and
// share. Beside the weights they take about as much memory as these, and as much again for folded ones.
type Constants struct {
	of     *Variables
	folded map[layers]*folded
	kept   map[keptKey][]float32
	blocks []Memory
	room   []float32 // what is left of the last block
}

// keptKey says which weights, by their first element, are kept in which layout.
type keptKey struct {
	weights *float32
	layout  product.Layout
}

// layers are a convolution and a batch norm, by the numbers of the weights and of the mean.
type layers struct{ weights, mean int }

// folded are the weights of a convolution with the batch norm behind it.
type folded struct{ weights, bias []float32 }

// NewConstants returns constants of v, which must not change as long as a program uses them.
func NewConstants(v *Variables) *Constants {
	return &Constants{of: v, folded: map[layers]*folded{}, kept: map[keptKey][]float32{}}
}

// Close frees the memory. Programs with these constants must not be used afterwards.
func (k *Constants) Close() {
	for _, m := range k.blocks {
		if m.Release != nil {
			m.Release()
		}
	}
	*k = *NewConstants(k.of)
}

// constantsBlock is the least floats of a block of constants: 8 MiB.
const constantsBlock = 2 << 20

// take returns memory for n floats.
func (k *Constants) take(n int) []float32 {
	all := alignUp(n)
	if all > len(k.room) {
		m, err := allocate(max(all, constantsBlock))
		if err != nil {
			m = fromHeap(all)
		}
		k.blocks, k.room = append(k.blocks, m), m.Floats
	}
	floats := k.room[:n:n]
	k.room = k.room[all:]
	return floats
}

// keep lays the weights of an op's plan out, if they are constants and the plan can keep them.
func (c *code) keep(of *call, v *product.Conv) {
	layout := v.Layout()
	if layout.Floats() == 0 {
		return
	}
	w := c.valueOf(of.in[1])
	if w == nil {
		return
	}
	key := keptKey{&w[0], layout}
	if c.known.kept[key] == nil {
		c.known.kept[key] = c.known.take(layout.Floats())
		v.Keep(c.known.kept[key], w)
	}
	v.Use(c.known.kept[key])
}

// valueOf returns the value of a parameter, a state or a constant; nil: it is not known.
func (c *code) valueOf(n *Node) []float32 {
	switch n.origin {
	case parameter:
		return c.known.of.of(c.known.of.Weights, n.number)
	case state:
		return c.known.of.StateOf(n.number)
	}
	for _, k := range c.constants {
		if k.node == n {
			return k.values
		}
	}
	return nil
}

// constant is a value of a code that is known when it is compiled.
type constant struct {
	node   *Node
	values []float32
}

// foldNorm replaces batch norms behind convolutions by weights, if weights are constants. One that adds a
// residual becomes a convolution in the place of the addition, where the residual is known.
func foldNorm(c *code) {
	if c.known == nil {
		return
	}
	for _, n := range c.calls {
		norm, ok := n.op.(NormalizeOp)
		if !ok || n.in[0].call == nil {
			continue
		}
		producer := n.in[0].call
		conv, ok := producer.op.(ConvOp)
		if !ok || conv.ReLU || c.onlyReader(n.in[0]) != n || !areKnown(producer.in[1:]) ||
			!areKnown(n.in[1:5]) {
			continue
		}
		if norm.Residual && viewed(n.in[5]) == viewed(producer.in[0]) {
			continue // what it adds to is overwritten
		}
		f := c.fold(producer.in[1:], n.in[1:5], norm.Eps)
		conv.ReLU = norm.ReLU
		in := []*Node{producer.in[0], c.constant(producer.in[1].typ, f.weights),
			c.constant(float(len(f.bias)), f.bias)}
		if norm.Residual {
			n.op, n.label, n.in = ConvAddOp{conv}, producer.label, append(in, n.in[5])
			c.remove(producer)
			continue
		}
		producer.op, producer.in = conv, in
		c.replace(n.out[0], producer.out[0])
		c.remove(n)
	}
}

// viewed returns the value whose memory n shows.
func viewed(n *Node) *Node {
	for n.call != nil {
		if _, ok := n.call.op.(view); !ok {
			break
		}
		n = n.call.in[0]
	}
	return n
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
	value := c.valueOf
	key := layers{conv[0].number, norm[0].number}
	if f := c.known.folded[key]; f != nil {
		return f
	}
	w, mean, variance, gamma, beta := value(conv[0]), value(norm[0]), value(norm[1]), value(norm[2]),
		value(norm[3])
	f := &folded{c.known.take(len(w)), c.known.take(len(mean))}
	scale := make([]float64, len(mean))
	for k := range scale {
		scale[k] = float64(gamma[k]) / math.Sqrt(float64(variance[k])+float64(eps))
		shift := -float64(mean[k])
		if len(conv) > 1 {
			shift += float64(value(conv[1])[k])
		}
		f.bias[k] = float32(float64(shift*scale[k]) + float64(beta[k]))
	}
	for i, x := range w {
		f.weights[i] = float32(float64(x) * scale[i%len(scale)])
	}
	c.known.folded[key] = f
	return f
}
