//go:build cuda && linux && amd64

package gpu

import (
	"fmt"

	"lockstep/graph"
	"lockstep/internal/cuda"
)

// Letters: N batch, H W map, C channels, K filters, R S filter; N rows, C features and K results for linear
// layers.

// pass says which of x, y and w is computed from the other two.
type pass int

const (
	forward         pass = iota // y from x and w
	backwardData                // x from y and w
	backwardWeights             // w from x and y
)

// product is a pass of a convolution, or of a linear layer, which is one of maps of one pixel.
type product struct {
	graph.ConvShape
	pass pass
	// isHalf and toHalf say that the maps it reads, and its result, are bf16. Weights are float32.
	isHalf, toHalf bool
	// bias adds a bias to the result and relu takes the maximum with 0; add adds the result to what is there.
	bias, relu, add bool
}

// newProduct describes a pass of a convolution of shape s.
func newProduct(a graph.Application, s graph.ConvShape, pass pass) product {
	return product{ConvShape: folded(s), pass: pass, isHalf: isHalf(a.In[0]), toHalf: isHalf(a.Out[0])}
}

// folded turns convolutions with a filter as large as the map, or of one pixel, into products of rows.
func folded(s graph.ConvShape) graph.ConvShape {
	switch {
	case s.Pad == 0 && s.R == s.H && s.S == s.W:
		return graph.ConvShape{N: s.N, H: 1, W: 1, C: s.H * s.W * s.C, K: s.K, R: 1, S: 1, Stride: 1}
	case s.Pad == 0 && s.R == 1 && s.S == 1 && s.Stride == 1:
		return graph.ConvShape{N: s.N * s.H * s.W, H: 1, W: 1, C: s.C, K: s.K, R: 1, S: 1, Stride: 1}
	}
	return s
}

// isOfRows reports whether p is a product of matrices without a window.
func (p product) isOfRows() bool { return p.H == 1 && p.W == 1 && p.R == 1 && p.S == 1 && p.Pad == 0 }

// outH and outW return the size of y.
func (p product) outH() int { return (p.H+2*p.Pad-p.R)/p.Stride + 1 }
func (p product) outW() int { return (p.W+2*p.Pad-p.S)/p.Stride + 1 }

// size returns the number of elements of the result for n samples.
func (p product) size(n int) int {
	switch p.pass {
	case forward:
		return n * p.outH() * p.outW() * p.K
	case backwardData:
		return n * p.H * p.W * p.C
	}
	return p.R * p.S * p.C * p.K
}

// String describes the product for logs.
func (p product) String() string {
	pass := [...]string{"forward", "data", "weights"}[p.pass]
	return fmt.Sprintf("%s %+v, half %t to %t", pass, p.ConvShape,
		p.isHalf, p.toHalf)
}

// columns returns the last axis of the result.
func (p product) columns() int {
	if p.pass == backwardData {
		return p.C
	}
	return p.K
}

// operands are the addresses of a product: right is w, or y for the gradient of w; left is the other one. The
// bias may be 0.
type operands struct{ result, left, right, bias, scratch cuda.Pointer }

// method computes a product.
type method interface {
	// name describes it for logs.
	name() string
	// scratch is how many elements of 4 bytes it needs besides the operands.
	scratch() int
	// run computes the product for n samples, at most those of the shape.
	run(n int, o operands)
}

// productTile is a variant of our kernel: the part of the result that a block computes, and its threads.
type productTile struct {
	suffix              string
	rows, cols, threads int
	// blocks is how many fill a large GPU. It is a constant because the order of sums depends on it.
	blocks int
	// depth is what is multiplied at once.
	depth int
}

// The tiles of product.cu.
var (
	largeTile = productTile{suffix: "_large", rows: 128, cols: 128, threads: 256, blocks: 2 * 132, depth: 8}
	deepTile  = productTile{suffix: "_deep", rows: 128, cols: 128, threads: 256, blocks: 2 * 132, depth: 16}
	tallTile  = productTile{suffix: "_tall", rows: 128, cols: 64, threads: 128, blocks: 3 * 132, depth: 16}
	smallTile = productTile{suffix: "_small", rows: 64, cols: 64, threads: 128, blocks: 4 * 132, depth: 16}
	anyTile   = productTile{suffix: "_any", rows: 64, cols: 64, threads: 128, blocks: 4 * 132, depth: 16}
)

// sharedBytes is the shared memory of a block: two steps of both matrices, with four floats behind each row.
func (t productTile) sharedBytes() int { return 2 * 4 * t.depth * (t.rows + 4 + t.cols + 4) }

// plain is a product with our own kernel; see product.cu.
type plain struct {
	product
	productTile
	parts        int
	main, finish *launch
}

// Scalars of the kernel that differ from run to run, and those of the kernel that adds the parts.
const (
	plainSamples = 0
	plainSize    = 12
	finishSize   = 2
)

// Bits of the kernel's argument flags.
const (
	flagReLU = 1 << iota
	flagAdd
	flagHalf
)

// flags returns what the kernel does besides the product.
func (p product) flags() int {
	flags := 0
	if p.relu {
		flags |= flagReLU
	}
	if p.add {
		flags |= flagAdd
	}
	if p.toHalf {
		flags |= flagHalf
	}
	return flags
}

func (e *Executor) plain(p product) *plain {
	m := &plain{product: p}
	m.productTile = m.tile()
	return e.plainWith(m)
}

// plainWith completes a plain product whose tile is chosen.
func (e *Executor) plainWith(m *plain) *plain {
	p := m.product
	m.parts = m.partsFor(m.productTile)
	name := [...]string{"product_forward", "product_data", "product_weights"}[p.pass] + m.suffix
	flags := p.flags()
	m.main = e.launch(typed(name, p.isHalf), 5, m.blocks(p.N), linear(m.threads), p.N, p.H, p.W, p.C, p.K,
		p.R, p.S, p.Stride, p.Pad, p.outH(), p.outW(), m.parts, p.size(p.N), flags).shared(m.sharedBytes())
	if m.parts > 1 {
		name := "product_finish"
		if p.columns()%4 != 0 {
			name += "_any"
		}
		m.finish = e.launch(name, 3, m.finishBlocks(p.N), linear(groupThreads), p.columns(), m.parts,
			p.size(p.N), flags)
	}
	return m
}

// rowsFor and depthOf return the size of the product of matrices that one class of pixels needs.
func (p product) rowsFor(n int) int {
	switch p.pass {
	case forward:
		return n * p.outH() * p.outW()
	case backwardData:
		return n * ceil(p.H, p.Stride) * ceil(p.W, p.Stride)
	}
	return p.R * p.S * p.C
}

func (p product) depthOf() int {
	switch p.pass {
	case forward:
		return p.R * p.S * p.C
	case backwardData:
		return ceil(p.R, p.Stride) * ceil(p.S, p.Stride) * p.K
	}
	return p.N * p.outH() * p.outW()
}

// classes returns how many classes of pixels there are.
func (p product) classes() int {
	if p.pass == backwardData {
		return p.Stride * p.Stride
	}
	return 1
}

// partDepth is the least depth that a part should have, and maxPartialSums bounds all parts together.
const (
	partDepth      = 256
	maxPartialSums = 32 << 20
)

// tile returns the tile for the shape: the largest one that does not leave much of a large GPU idle.
func (p *plain) tile() productTile {
	if p.C%4 != 0 || p.K%4 != 0 {
		return anyTile
	}
	for _, t := range [...]productTile{largeTile, tallTile} {
		isFilled := p.rowsFor(p.N) > t.rows/2 && p.columns() > t.cols/2
		if p.has(t) && isFilled && p.tiles(t, p.N)*max(p.depthOf()/partDepth, 1) >= t.blocks/2 {
			return t
		}
	}
	return smallTile
}

// has reports whether there is a kernel with the tile for p.
func (p *plain) has(t productTile) bool {
	switch t {
	case largeTile:
		return p.C%4 == 0 && p.K%4 == 0 && p.classes() == 1
	case deepTile, tallTile:
		return p.has(largeTile) && !p.isHalf
	case smallTile:
		return p.C%4 == 0 && p.K%4 == 0
	}
	return true
}

// partsFor returns the number of parts of the depth, which depends on the shape and the tile alone.
func (p *plain) partsFor(t productTile) int {
	return max(min(t.blocks/(p.tiles(t, p.N)*p.classes()), p.depthOf()/partDepth,
		maxPartialSums/p.size(p.N)), 1)
}

// tiles returns the number of tiles of a class.
func (p *plain) tiles(t productTile, n int) int {
	return ceil(p.rowsFor(n), t.rows) * ceil(p.columns(), t.cols)
}

func (p *plain) blocks(n int) cuda.Size {
	return cuda.Size{X: p.tiles(p.productTile, n), Y: 1, Z: p.parts * p.classes()}
}

func (p *plain) finishBlocks(n int) cuda.Size {
	if p.columns()%4 != 0 {
		return linear(ceil(p.size(n), groupThreads))
	}
	return linear(ceil(p.size(n), groupElements))
}

// name implements method.
func (p *plain) name() string { return plainName + p.suffix }

// scratch implements method.
func (p *plain) scratch() int {
	if p.parts == 1 {
		return 0
	}
	return p.parts * p.size(p.N)
}

// run implements method.
func (p *plain) run(n int, o operands) {
	p.main.setInt(plainSamples, n)
	p.main.setInt(plainSize, p.size(n))
	p.main.blocks = p.blocks(n)
	p.main.run(o.result, o.left, o.right, o.bias, o.scratch)
	if p.finish != nil {
		p.finish.setInt(finishSize, p.size(n))
		p.finish.blocks = p.finishBlocks(n)
		p.finish.run(o.result, o.scratch, o.bias)
	}
}
