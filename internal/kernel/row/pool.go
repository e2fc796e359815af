package row

import (
	"fmt"
	"math"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// PoolShape is the geometry of a pooling over [N, H, W, C] by windows of Size x Size, Stride apart. Pad
// pixels around the map are never the maximum.
type PoolShape struct{ N, H, W, C, Size, Stride, Pad int }

// OutH returns the height of the output, (H+2*Pad-Size)/Stride + 1.
func (s PoolShape) OutH() int { return (s.H+2*s.Pad-s.Size)/s.Stride + 1 }

// OutW returns the width of the output, (W+2*Pad-Size)/Stride + 1.
func (s PoolShape) OutW() int { return (s.W+2*s.Pad-s.Size)/s.Stride + 1 }

// maxSize bounds windows: a float32 numbers their pixels.
const maxSize = 4096

// Possible reports whether the sizes are positive, a window has at most 4096 x 4096 pixels and fits
// into the padded map, and the padding is at most half of it, so that every window has pixels of the
// map in it.
func (s PoolShape) Possible() bool {
	return min(s.N, s.H, s.W, s.C, s.Size, s.Stride) >= 1 && s.Pad >= 0 && 2*s.Pad <= s.Size &&
		s.Size <= min(s.H+2*s.Pad, s.W+2*s.Pad, maxSize)
}

// Pairs reports whether the windows are 2x2, 2 apart and without padding. These have loops of their
// own.
func (s PoolShape) Pairs() bool { return s.Size == 2 && s.Stride == 2 && s.Pad == 0 }

// MaxPool is the plan of a max pooling. Its methods give the same bits for any number of threads and
// on every ISA, and allocate nothing.
//
// Ties and NaN are PyTorch's: the first of equal maxima in scan order gets the gradient; a NaN wins
// over everything, the last one over the others.
type MaxPool struct {
	cpu   *CPU
	ops   *asm.PoolOps
	shape PoolShape
	row   []float32 // [threads][3][OutW*C] of windows in progress: maxima, their taps, gradients
	y, dy []float32 // operands of the call in progress
	x, dx []float32
	relu  bool
}

// NewMaxPool plans a max pooling. The shape must be possible.
func (c *CPU) NewMaxPool(s PoolShape) *MaxPool {
	if !s.Possible() {
		panic(fmt.Sprintf("kernel: max pool: impossible shape %+v", s))
	}
	p := &MaxPool{cpu: c, ops: c.ops.Element.Pool(s.C), shape: s}
	if !s.Pairs() {
		p.row = make([]float32, c.Threads()*3*s.OutW()*s.C)
	}
	return p
}

// Forward computes y[n,h,w,c], the maximum of x over the part of the window at (h*Stride-Pad,
// w*Stride-Pad) that lies in the map.
func (p *MaxPool) Forward(y, x []float32) {
	p.must("max pool", y, x)
	p.y, p.x = y, x
	p.cpu.Share((*poolForward)(p), len(x))
	p.y, p.x = nil, nil
}

// Backward computes dx: it adds the gradient dy of every output at the maximum of its window, which it
// finds again in x. If relu, x is the output of a ReLU and dx the gradient of its input: 0 where x is not
// above 0 nor NaN. Windows that overlap add up in scan order. dx must not overlap dy or x.
func (p *MaxPool) Backward(dx, dy, x []float32, relu bool) {
	p.must("max pool backward", dy, x)
	MustLen("max pool backward", "dx", len(dx), len(x))
	p.dx, p.dy, p.x, p.relu = dx, dy, x, relu
	p.cpu.Share((*poolBackward)(p), 2*len(x))
	p.dx, p.dy, p.x = nil, nil, nil
}

func (p *MaxPool) must(op string, y, x []float32) {
	s := p.shape
	MustLen(op, "x", len(x), s.N*s.H*s.W*s.C)
	MustLen(op, "y", len(y), s.N*s.OutH()*s.OutW()*s.C)
}

// The two directions, each a Task.
type (
	poolForward  MaxPool
	poolBackward MaxPool
)

// Do pools a run of output rows.
func (p *poolForward) Do(_, part, parts int) {
	s, ops := p.shape, p.ops
	in, out := s.W*s.C, s.OutW()*s.C
	lo, hi := compute.Span(s.N*s.OutH(), part, parts)
	for i := lo; i < hi; i++ {
		y := p.y[i*out : (i+1)*out]
		if s.Pairs() {
			x := p.x[s.inputRow(i)*in:]
			ops.MaxPool(y, x[:in], x[in:2*in], s.C)
			continue
		}
		p.cpu.ops.Element.Fill(y, float32(math.Inf(-1)))
		s.taps(i, false, func(_, from, to, at int) {
			ops.WindowMax(y[from:to], p.x[at:], s.C, s.Stride*s.C)
		})
	}
}

// inputRow returns the first input row, counted over all images, of output row i of pairs.
func (s PoolShape) inputRow(i int) int {
	n, h := i/s.OutH(), i%s.OutH()
	return n*s.H + 2*h
}

// taps calls do for each pixel of the windows of output row i, counted over all images, in scan order
// or, within each row of the windows, from right to left. The elements [from, to) of the output row are
// those whose windows have this tap in the map, the first at element at of the input.
func (s PoolShape) taps(i int, leftwards bool, do func(tap, from, to, at int)) {
	n, h := i/s.OutH(), i%s.OutH()*s.Stride-s.Pad
	for r := max(0, -h); r < min(s.Size, s.H-h); r++ {
		for q := range s.Size {
			if leftwards {
				q = s.Size - 1 - q
			}
			s.tap(r, q, (n*s.H+h+r)*s.W, do)
		}
	}
}

// tap calls do for the windows of a row that have column q of the input row at pixel start in the map.
func (s PoolShape) tap(r, q, start int, do func(tap, from, to, at int)) {
	first := max(0, (s.Pad-q+s.Stride-1)/s.Stride)
	last := min(s.OutW()-1, (s.W-1+s.Pad-q)/s.Stride)
	if s.W-1+s.Pad < q || last < first {
		return
	}
	do(r*s.Size+q, first*s.C, (last+1)*s.C, (start+first*s.Stride+q-s.Pad)*s.C)
}

// Do computes the gradient of a run of images. Windows may share inputs, images do not.
func (p *poolBackward) Do(thread, part, parts int) {
	s := p.shape
	in, rows := s.W*s.C, s.OutH()
	lo, hi := compute.Span(s.N, part, parts)
	for n := lo; n < hi; n++ {
		p.clear(p.dx[n*s.H*in:][:s.H*in])
		for i := n * rows; i < (n+1)*rows; i++ {
			if s.Pairs() {
				p.pairs(i)
			} else {
				p.windows(i, thread)
			}
		}
	}
}

// clear zeroes the elements of an image's gradient that are added to or never written.
func (p *poolBackward) clear(dx []float32) {
	s := p.shape
	if !s.Pairs() {
		clear(dx)
		return
	}
	if s.H%2 > 0 {
		clear(dx[(s.H-1)*s.W*s.C:])
	}
	if s.W%2 > 0 {
		for h := range s.H {
			clear(dx[h*s.W*s.C:][(s.W-1)*s.C : s.W*s.C])
		}
	}
}

// pairs routes the gradient of output row i to the maxima.
func (p *poolBackward) pairs(i int) {
	s, back := p.shape, p.ops.MaxPoolBackward
	if p.relu {
		back = p.ops.ReluPoolBackward
	}
	in, out := s.W*s.C, s.OutW()*s.C
	at := s.inputRow(i) * in
	x, dx := p.x[at:], p.dx[at:]
	back(dx[:in], dx[in:2*in], p.dy[i*out:(i+1)*out], x[:in], x[in:2*in], s.C)
}

// windows routes the gradient of output row i to the maxima: it finds their taps, then adds tap by tap. If
// two windows of the row share a pixel, it is a later tap of the left one. So taps go from right to left,
// to add in scan order.
func (p *poolBackward) windows(i, thread int) {
	s, ops := p.shape, &p.cpu.ops.Element
	out, step := s.OutW()*s.C, s.Stride*s.C
	row := p.row[thread*3*out : (thread+1)*3*out]
	y, place, dy := row[:out], row[out:2*out], p.dy[i*out:(i+1)*out]
	ops.Fill(y, float32(math.Inf(-1)))
	top := max(0, s.Pad-i%s.OutH()*s.Stride)
	for q := s.Pad; q >= 0; q-- { // each window starts at its first tap in the map
		s.tap(top, q, 0, func(tap, from, to, _ int) { ops.Fill(place[from:to], float32(tap)) })
	}
	s.taps(i, false, func(tap, from, to, at int) {
		p.ops.WindowPlace(y[from:to], place[from:to], p.x[at:], s.C, step, float32(tap))
	})
	if p.relu {
		gated := row[2*out:]
		ops.ReluBackward(gated, dy, y)
		dy = gated
	}
	s.taps(i, true, func(tap, from, to, at int) {
		p.ops.WindowGive(p.dx[at:], dy[from:to], place[from:to], s.C, step, float32(tap))
	})
}
