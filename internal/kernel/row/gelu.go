package row

import "lockstep/internal/elementary"

// GELU computes y = x Phi(x), Phi being the normal distribution function: Hendrycks and Gimpel 2016, the
// form with the error function. The error is at most 4e-7 |x|; the same bits on every ISA. y may be x.
func (c *CPU) GELU(y, x []float32) {
	MustLen("gelu", "x", len(x), len(y))
	c.each(elementwise{n: len(y), dst: y, a: x, weight: geluWeight, loop: func(e *elementwise, lo, hi int) {
		e.row.Gelu(e.dst[lo:hi], e.a[lo:hi])
	}})
}

// GELUBackward computes dx = dy (Phi(x) + x phi(x)), with an error of at most 4e-7 |dy|. dx may be dy or x.
func (c *CPU) GELUBackward(dx, dy, x []float32) {
	MustLen("gelu backward", "dy", len(dy), len(dx))
	MustLen("gelu backward", "x", len(x), len(dx))
	c.each(elementwise{n: len(dx), dst: dx, a: dy, b: x, weight: geluWeight,
		loop: func(e *elementwise, lo, hi int) {
			e.row.GeluBackward(e.dst[lo:hi], e.a[lo:hi], e.b[lo:hi])
		}})
}

// geluWeight is the time of an element of GELU, in additions.
const geluWeight = 8

// GELURows is a Finisher that writes GELU of the rows of a product to a second matrix.
type GELURows struct {
	cpu       *CPU
	blockSize int
	slope     bool
	y, x      []float32
}

// NewGELURows plans the Finisher of a product whose blocks have blockSize floats. With slope the derivative,
// Phi(x) + x phi(x), takes the place of the product's result.
func (c *CPU) NewGELURows(blockSize int, slope bool) *GELURows {
	return &GELURows{cpu: c, blockSize: blockSize, slope: slope}
}

// Of makes Finish write GELU(x) to y. x is the product's result; y has its length.
func (g *GELURows) Of(y, x []float32) *GELURows {
	MustLen("gelu rows", "x", len(x), len(y))
	g.y, g.x = y, x
	return g
}

// Finish implements Finisher.
func (g *GELURows) Finish(_, block int) {
	lo := block * g.blockSize
	hi := min(lo+g.blockSize, len(g.x))
	for ; lo < hi; lo += callFloats {
		end := min(lo+callFloats, hi)
		y, x := g.y[lo:end], g.x[lo:end]
		if g.slope {
			g.cpu.ops.Row.GeluSlope(y, x, x)
		} else {
			g.cpu.ops.Row.Gelu(y, x)
		}
	}
}

// MulRows is a Finisher that multiplies the rows of a product, element by element, by those of another
// matrix.
type MulRows struct {
	cpu       *CPU
	blockSize int
	y, by     []float32
}

// NewMulRows plans the Finisher of a product whose blocks have blockSize floats.
func (c *CPU) NewMulRows(blockSize int) *MulRows { return &MulRows{cpu: c, blockSize: blockSize} }

// Of makes Finish compute y *= by. y is the product's result; by has its length.
func (m *MulRows) Of(y, by []float32) *MulRows {
	MustLen("mul rows", "by", len(by), len(y))
	m.y, m.by = y, by
	return m
}

// Finish implements Finisher.
func (m *MulRows) Finish(_, block int) {
	lo := block * m.blockSize
	y := m.y[lo:min(lo+m.blockSize, len(m.y))]
	m.cpu.ops.Row.Mul(y, y, m.by[lo:lo+len(y)])
}

// Reads returns the other matrix, which products ask for while they multiply.
func (m *MulRows) Reads() [2][]float32 { return [2][]float32{m.by} }

// Tanh computes y = tanh(x) = 1 - 2/(exp(2x)+1) in float64, to within 4e-16, rounded once: below
// an |x| of 1e-8 fewer digits are right than a float32 has. y may be x. It is meant for small layers: a few
// tens of nanoseconds per element.
func (c *CPU) Tanh(y, x []float32) {
	MustLen("tanh", "x", len(x), len(y))
	for i, v := range x {
		y[i] = float32(1 - 2/(elementary.Exp(2*float64(v))+1))
	}
}

// TanhBackward computes dx = dy (1 - y^2) from y = tanh(x). dx may be dy or y.
func (c *CPU) TanhBackward(dx, dy, y []float32) {
	MustLen("tanh backward", "dy", len(dy), len(dx))
	MustLen("tanh backward", "y", len(y), len(dx))
	for i, v := range y {
		dx[i] = dy[i] * (1 - float32(v*v))
	}
}
