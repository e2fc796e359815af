package optim

import (
	"lockstep/compute"
	"lockstep/internal/kernel/product"
	"lockstep/internal/kernel/row"
)

// orthogonal performs Newton-Schulz steps on a matrix X of rows by cols: X is divided by its norm,
// and then five times
//
//	A = X'X  (or XX' if there are fewer rows than columns)
//	B = b*A + c*A*A
//	X = a*X + X*B  (or a*X + B*X)
//
// which brings every singular value near 1, to between about 0.7 and 1.2 (Jordan et al. 2024).
// PyTorch computes in bfloat16, this package in float32. Transposing X or permuting its columns
// does the same to the result, so any stored order of weights will do.
type orthogonal struct {
	cpu     *row.CPU
	isWide  bool
	norm    norm
	gram    *product.Conv // A
	square  *product.Conv // A*A
	apply   *product.Conv // X*B or B*X
	a, b    []float32     // of the square of the smaller side
	next    []float32     // the size of X
	scratch []float32
}

// The authors' coefficients, number of steps and least norm.
const (
	schulzA     = 3.4445
	schulzB     = -4.7750
	schulzC     = 2.0315
	schulzSteps = 5
	schulzEps   = 1e-7
)

// newOrthogonal plans for matrices of rows by cols.
func newOrthogonal(cpu *compute.CPU, rows, cols int) *orthogonal {
	least, products := min(rows, cols), product.On(cpu)
	// A product [n, c] x [c, k] is a convolution of one pixel.
	plan := func(n, c, k int) *product.Conv {
		return products.NewConv(product.ConvShape{N: n, H: 1, W: 1, C: c, K: k, R: 1, S: 1, Stride: 1})
	}
	o := &orthogonal{cpu: row.On(cpu), isWide: rows < cols,
		square: plan(least, least, least),
		a:      make([]float32, least*least), b: make([]float32, least*least),
		next: make([]float32, rows*cols)}
	o.norm = norm{o.cpu.NewSquares(rows * cols)}
	if o.isWide {
		o.gram, o.apply = plan(rows, rows, cols), plan(rows, rows, cols)
	} else {
		o.gram, o.apply = plan(rows, cols, cols), plan(rows, cols, cols)
	}
	room := max(o.gram.ScratchFloats(), o.square.ScratchFloats(), o.apply.ScratchFloats())
	o.scratch = make([]float32, room)
	return o
}

// planMatrices makes plans for the layers that are matrices, one plan for each size. It returns the
// plans by layer, nil for other layers, and their size in bytes.
func planMatrices(cpu *compute.CPU, layers []layer) (plans []*orthogonal, bytes int64) {
	plans = make([]*orthogonal, len(layers))
	bySize := map[[2]int]*orthogonal{}
	for i, l := range layers {
		if l.Kind != Matrix {
			continue
		}
		size := [2]int{l.Rows, l.Cols}
		if bySize[size] == nil {
			bySize[size] = newOrthogonal(cpu, l.Rows, l.Cols)
			bytes += bySize[size].bytes()
		}
		plans[i] = bySize[size]
	}
	return plans, bytes
}

// bytes returns the size of intermediate values.
func (o *orthogonal) bytes() int64 {
	return 4 * int64(len(o.a)+len(o.b)+len(o.next)+len(o.scratch))
}

// run replaces x, which holds X row by row, with the result.
func (o *orthogonal) run(x []float32) {
	o.cpu.Scale(x, x, float32(1/max(o.norm.of(x), schulzEps)))
	for range schulzSteps {
		if o.isWide {
			o.gram.BackwardData(o.a, x, x, false, o.scratch) // x x'
		} else {
			o.gram.BackwardWeights(o.a, x, x, o.scratch) // x' x
		}
		o.square.Forward(o.b, o.a, o.a, nil, false, nil, o.scratch)
		o.cpu.Scale(o.b, o.b, schulzC)
		o.cpu.AddScaled(o.b, o.b, o.a, schulzB)
		if o.isWide {
			o.apply.Forward(o.next, o.b, x, nil, false, nil, o.scratch)
		} else {
			o.apply.Forward(o.next, x, o.b, nil, false, nil, o.scratch)
		}
		o.cpu.AddScaled(x, o.next, x, schulzA)
	}
}
