package kernel

import "fmt"

// PoolShape is the geometry of a pooling over [N, H, W, C] by windows of Size x Size, Stride apart,
// the first of which begins Pad pixels outside the map. What lies outside takes no part.
type PoolShape struct{ N, H, W, C, Size, Stride, Pad int }

// OutH returns the height of the output, (H+2*Pad-Size)/Stride + 1.
func (s PoolShape) OutH() int { return (s.H+2*s.Pad-s.Size)/s.Stride + 1 }

// OutW returns the width of the output, (W+2*Pad-Size)/Stride + 1.
func (s PoolShape) OutW() int { return (s.W+2*s.Pad-s.Size)/s.Stride + 1 }

// MaxPool is the plan of a max pooling. Its methods give the same bits for any number of threads and
// on every ISA, and allocate nothing.
//
// Ties and NaN are PyTorch's: the first of equal maxima in scan order gets the gradient; a NaN wins
// over everything, the last one over the others.
type MaxPool struct {
	cpu   *CPU
	shape PoolShape
	y, dy []float32 // operands of the call in progress
	x, dx []float32
}

// NewMaxPool plans a max pooling. Windows must fit into the padded map, and the padding is at most
// half a window, so that every window meets the map.
func (c *CPU) NewMaxPool(s PoolShape) *MaxPool {
	if min(s.N, s.C, s.Size, s.Stride) < 1 || s.Size > min(s.H, s.W)+2*s.Pad ||
		s.Pad < 0 || s.Pad > s.Size/2 {
		panic(fmt.Sprintf("kernel: max pool: impossible shape %+v", s))
	}
	return &MaxPool{cpu: c, shape: s}
}

// Forward computes y[n,h,w,c], the maximum of x over the window at (h*Stride, w*Stride).
func (p *MaxPool) Forward(y, x []float32) {
	p.must("max pool", y, x)
	p.y, p.x = y, x
	p.cpu.share((*poolForward)(p), len(x))
	p.y, p.x = nil, nil
}

// Backward computes dx, the gradient dy of every output given to the maximum of its window, which is
// found anew in x. Windows that overlap add up in scan order. dx must not overlap dy or x.
func (p *MaxPool) Backward(dx, dy, x []float32) {
	p.must("max pool backward", dy, x)
	mustLen("max pool backward", "dx", len(dx), len(x))
	p.dx, p.dy, p.x = dx, dy, x
	p.cpu.share((*poolBackward)(p), 2*len(x))
	p.dx, p.dy, p.x = nil, nil, nil
}

func (p *MaxPool) must(op string, y, x []float32) {
	s := p.shape
	mustLen(op, "x", len(x), s.N*s.H*s.W*s.C)
	mustLen(op, "y", len(y), s.N*s.OutH()*s.OutW()*s.C)
}

// pairs reports whether the windows are 2x2, 2 apart and unpadded, which have loops of their own.
func (s PoolShape) pairs() bool { return s.Size == 2 && s.Stride == 2 && s.Pad == 0 }

// The two directions, each a Task over rows of output.
type (
	poolForward  MaxPool
	poolBackward MaxPool
)

// Do pools a run of output rows.
func (p *poolForward) Do(part, parts int) {
	s := p.shape
	in, out := s.W*s.C, s.OutW()*s.C
	lo, hi := span(s.N*s.OutH(), part, parts)
	for i := lo; i < hi; i++ {
		y := p.y[i*out : (i+1)*out]
		if s.pairs() {
			x := p.x[s.inputRow(i)*in:]
			p.cpu.ops.element.maxPool(y, x[:in], x[in:2*in], s.C)
			continue
		}
		n, h := i/s.OutH(), i%s.OutH()
		x := p.x[n*s.H*in : (n+1)*s.H*in]
		for j := range y {
			y[j] = x[s.best(x, h, j)]
		}
	}
}

// inputRow returns the first input row, counted over all images, of output row i, without padding.
func (s PoolShape) inputRow(i int) int {
	n, h := i/s.OutH(), i%s.OutH()
	return n*s.H + h*s.Stride
}

// best returns the place in the image x of the maximum of output i of output row h.
func (s PoolShape) best(x []float32, h, i int) int {
	top, left := h*s.Stride-s.Pad, i/s.C*s.Stride-s.Pad
	firstRow, firstCol := max(top, 0), max(left, 0)
	best := (firstRow*s.W+firstCol)*s.C + i%s.C
	for r := firstRow; r < min(top+s.Size, s.H); r++ {
		for q := firstCol; q < min(left+s.Size, s.W); q++ {
			if j := (r*s.W+q)*s.C + i%s.C; beats(x[j], x[best]) {
				best = j
			}
		}
	}
	return best
}

// Do hands back the gradient of a run of images. Images share no input, windows may.
func (p *poolBackward) Do(part, parts int) {
	s := p.shape
	in, out := s.W*s.C, s.OutW()*s.C
	lo, hi := span(s.N, part, parts)
	if !s.pairs() || s.H%2+s.W%2 > 0 {
		clear(p.dx[lo*s.H*in : hi*s.H*in])
	}
	for i := lo * s.OutH(); i < hi*s.OutH(); i++ {
		dy := p.dy[i*out : (i+1)*out]
		if s.pairs() {
			at := s.inputRow(i) * in
			x, dx := p.x[at:], p.dx[at:]
			p.cpu.ops.element.maxPoolBackward(dx[:in], dx[in:2*in], dy, x[:in], x[in:2*in], s.C)
			continue
		}
		n, h := i/s.OutH(), i%s.OutH()
		x, dx := p.x[n*s.H*in:(n+1)*s.H*in], p.dx[n*s.H*in:(n+1)*s.H*in]
		for j, d := range dy {
			dx[s.best(x, h, j)] += d
		}
	}
}
