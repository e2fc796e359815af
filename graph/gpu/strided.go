//go:build cuda && linux && amd64

package gpu

import (
	"lockstep/graph"
	"lockstep/internal/cuda"
	"lockstep/internal/cuda/blas"
)

// strided is a convolution with filters of one pixel that skips pixels: a product of rows, with those pixels
// of x, or of dx, that it meets.
type strided struct {
	rows  method
	n     int // of rows
	pass  pass
	move  *launch // pixels of x to scratch, or dx from there
	words int     // of these pixels
}

// strided plans p; the name is that of the method for the rows. The error is blas.ErrUnsupported if p is of
// another kind.
func (e *Executor) strided(p product, name string) (method, error) {
	if p.R != 1 || p.S != 1 || p.Pad != 0 || p.C%4 != 0 {
		return nil, blas.ErrUnsupported
	}
	inner := p
	inner.ConvShape = graph.ConvShape{N: p.N * p.outH() * p.outW(), H: 1, W: 1, C: p.C, K: p.K, R: 1, S: 1,
		Stride: 1}
	kernel, isHalf, n, add := "gather_pixels", p.isHalf, inner.N*p.C, 0
	if p.pass == backwardData {
		kernel, isHalf, n = "scatter_pixels", p.toHalf, p.size(p.N)
		inner.add = false
		if p.add {
			add = 1
		}
	}
	rows, err := e.methodNamed(inner, name)
	if err != nil {
		return nil, err
	}
	move := e.groups(typed(kernel, isHalf), 2, n, p.H, p.W, p.C, p.Stride, p.outH(), p.outW(), add)
	return &strided{rows, inner.N, p.pass, move, words(inner.N*p.C, isHalf)}, nil
}

// name implements method.
func (m *strided) name() string { return rowsPrefix + m.rows.name() }

// scratch implements method.
func (m *strided) scratch() int { return m.words + m.rows.scratch() }

// run implements method. Maps are never ragged: n is always that of the shape.
func (m *strided) run(_ int, o operands) {
	pixels, result := o.scratch, o.result
	o.scratch += cuda.Pointer(4 * m.words)
	if m.pass == backwardData {
		o.result = pixels
		m.rows.run(m.n, o)
		m.move.run(result, pixels)
		return
	}
	m.move.run(pixels, o.left)
	o.left = pixels
	m.rows.run(m.n, o)
}
