package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// strided serves convolutions of one pixel with a stride, which read one pixel in Stride*Stride: these are
// copied side by side, so that the rest is a linear layer of rows, by any of its algorithms. The gradient of
// the data is computed side by side and then spread.
//
// Order of the sum: that of the linear layer.
type strided struct {
	cpu   *CPU
	shape ConvShape

	// The call in progress.
	side []float32 // [N*OutH*OutW, C] pixels side by side
	x    []float32 // [N, H, W, C]
	add  bool      // to x
}

// planStrided replaces plans of a convolution of one pixel with a stride. Products of parts find their rows
// as fast where they lie, but for the gradient of the data; exact math keeps its parcels of pixels.
func (c *CPU) planStrided(v *Conv) {
	s := v.shape
	if c.Math() == compute.Exact || s.fold().Stride == 1 || s.R*s.S > 1 || s.Pad > 0 {
		return
	}
	t := strided{cpu: c, shape: s}
	points := ConvShape{s.rows(), 1, 1, s.C, s.K, 1, 1, 1, 0}
	v.data = &stridedData{t, planData(c, points)}
	if c.Math() == compute.Fast {
		v.forward = &stridedForward{t, planForward(c, points)}
		v.weights = &stridedWeights{t, planWeights(c, points)}
	}
}

// sideFloats returns the floats of the pixels, to the end of a line.
func (t *strided) sideFloats() int { return LineUp(t.shape.rows() * t.shape.C) }

// resize sets the number of images and returns the number of points.
func (t *strided) resize(images int) int {
	t.shape.N = images
	return t.shape.rows()
}

// copied returns the pixels of x side by side, and what is left of the scratch.
func (t *strided) copied(x, scratch []float32) (side, rest []float32) {
	t.side, t.x = take(&scratch, t.sideFloats()), x
	t.cpu.Share((*stridedCopy)(t), t.shape.rows()*t.shape.C)
	side = t.side[:t.shape.rows()*t.shape.C]
	t.side, t.x = nil, nil
	return side, scratch
}

// stridedForward computes y of pixels that are copied.
type stridedForward struct {
	strided
	plan rowsPlan // of points
}

func (t *stridedForward) run(y, x, w, bias []float32, flags int, then finishing, scratch []float32) {
	side, rest := t.copied(x, scratch)
	t.plan.run(y, side, w, bias, flags, then, rest)
}

func (t *stridedForward) scratchFloats() int { return t.sideFloats() + t.plan.scratchFloats() }

func (t *stridedForward) resize(images int) { t.plan.resize(t.strided.resize(images)) }

// stridedData computes dx of pixels side by side.
type stridedData struct {
	strided
	plan rowsPlan // of points
}

func (t *stridedData) run(dx, dy, w, bias []float32, flags int, then finishing, scratch []float32) {
	t.side, t.x, t.add = take(&scratch, t.sideFloats()), dx, flags&asm.TileAdd != 0
	t.plan.run(t.side[:t.shape.rows()*t.shape.C], dy, w, bias, 0, finishing{}, scratch)
	t.cpu.Share((*stridedSpread)(&t.strided), len(dx))
	t.side, t.x = nil, nil
	t.cpu.finish(then)
}

func (t *stridedData) scratchFloats() int { return t.sideFloats() + t.plan.scratchFloats() }

func (t *stridedData) resize(images int) { t.plan.resize(t.strided.resize(images)) }

// stridedWeights computes dw of pixels that are copied.
type stridedWeights struct {
	strided
	plan weightsPlan // of points
}

func (t *stridedWeights) run(dw, x, dy, scratch []float32) {
	side, rest := t.copied(x, scratch)
	t.plan.run(dw, side, dy, rest)
}

func (t *stridedWeights) scratchFloats() int { return t.sideFloats() + t.plan.scratchFloats() }

func (t *stridedWeights) resize(images int) { t.plan.resize(t.strided.resize(images)) }

type (
	stridedCopy   strided
	stridedSpread strided
)

// Do copies a run of rows of pixels from x.
func (t *stridedCopy) Do(_, part, parts int) {
	s := t.shape
	width := s.OutW() * s.C
	lo, hi := compute.Span(s.N*s.OutH(), part, parts)
	for i := lo; i < hi; i++ {
		row := t.x[(i/s.OutH()*s.H+i%s.OutH()*s.Stride)*s.W*s.C:]
		side := t.side[i*width : (i+1)*width]
		for q := 0; q < width; q += s.C {
			copy(side[q:q+s.C], row[q*s.Stride:])
		}
	}
}

// Do spreads a run of rows of pixels over x, or adds them, and clears what lies between.
func (t *stridedSpread) Do(_, part, parts int) {
	s, add := t.shape, t.cpu.ops.Element.Add
	lo, hi := compute.Span(s.N*s.H, part, parts)
	for i := lo; i < hi; i++ {
		row := t.x[i*s.W*s.C : (i+1)*s.W*s.C]
		n, h := i/s.H, i%s.H
		if h%s.Stride > 0 {
			if !t.add {
				clear(row)
			}
			continue
		}
		side := t.side[(n*s.OutH()+h/s.Stride)*s.OutW()*s.C:]
		for q := range s.OutW() {
			x := row[q*s.Stride*s.C : min((q+1)*s.Stride*s.C, len(row))] // a point and those before the next
			point := side[q*s.C : (q+1)*s.C]
			if t.add {
				add(x[:s.C], x[:s.C], point)
			} else {
				clear(x[copy(x, point):])
			}
		}
	}
}
