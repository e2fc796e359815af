package row

// GELU computes y = x Phi(x), Phi being the normal distribution function: Hendrycks and Gimpel 2016, the
// form with the error function. Absolute error 2e-7 relative to |x|; the same bits on every ISA. y may be x.
func (c *CPU) GELU(y, x []float32) {
	MustLen("gelu", "x", len(x), len(y))
	c.each(elementwise{n: len(y), dst: y, a: x, weight: geluWeight, loop: func(e *elementwise, lo, hi int) {
		e.row.Gelu(e.dst[lo:hi], e.a[lo:hi])
	}})
}

// GELUBackward computes dx = dy (Phi(x) + x phi(x)). dx may be dy or x.
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
	y, x      []float32
}

// NewGELURows plans the Finisher of a product whose blocks have blockSize floats.
func (c *CPU) NewGELURows(blockSize int) *GELURows { return &GELURows{cpu: c, blockSize: blockSize} }

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
		g.cpu.ops.Row.Gelu(g.y[lo:end], g.x[lo:end])
	}
}

// Tanh computes y = tanh(x) = 1 - 2/(exp(2x)+1) in float64, rounded once. y may be x. It is meant for
// small layers: a few tens of nanoseconds per element.
func (c *CPU) Tanh(y, x []float32) {
	MustLen("tanh", "x", len(x), len(y))
	for i, v := range x {
		y[i] = float32(1 - 2/(exp(2*float64(v))+1))
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
