package kernel

import "unsafe"

// lineBytes is the size of a cache line, to which scratch is aligned.
const lineBytes = 64

// aligned returns scratch from the first float that starts a cache line, or from its start if that
// leaves too little. Only speed depends on it.
func aligned(scratch []float32) []float32 {
	address := uintptr(unsafe.Pointer(unsafe.SliceData(scratch)))
	skip := int(-address % lineBytes / 4)
	if skip > len(scratch) {
		return scratch
	}
	return scratch[skip:]
}

// run copies rows rows of block b's channels, which start at src and are stride floats apart, to a
// panel.
func (p *packArgs) run(o *gemmOps, dst, src []float32, rows, stride int, b *block) {
	*p = packArgs{dst: dst, src: src, rows: rows, stride: stride, tail: b.tail}
	o.pack[b.vectors](p)
}

// run fills a panel of rows rows with the channels of block b, dst[d*lanes + j] = src[j*stride + d],
// and zeros beyond the last channel.
func (t *turnArgs) run(o *gemmOps, dst, src []float32, rows, stride int, b *block) {
	t.copy(o, dst, src, rows, b.channels(), stride, b.lanes)
	if b.channels() < b.lanes {
		for d := range rows {
			clear(dst[d*b.lanes:][b.channels():b.lanes])
		}
	}
}

// copy copies dst[d*width + j] = src[j*stride + d] for d < rows and j < columns. The last squares of a
// number that is no multiple of turnLanes overlap those before.
func (t *turnArgs) copy(o *gemmOps, dst, src []float32, rows, columns, stride, width int) {
	if rows < turnLanes || columns < turnLanes {
		for d := range rows {
			for j := range columns {
				dst[d*width+j] = src[j*stride+d]
			}
		}
		return
	}
	d, j := rows%turnLanes, columns%turnLanes
	*t = turnArgs{dst: dst, src: src, rows: rows - d, columns: columns - j, stride: stride, width: width}
	o.turn(t)
	if d > 0 {
		d = rows - turnLanes
		t.copy(o, dst[d*width:], src[d:], turnLanes, columns, stride, width)
	}
	if j > 0 {
		j = columns - turnLanes
		t.copy(o, dst[j:], src[j*stride:], rows, turnLanes, stride, width)
	}
}

// padder copies images with a border of zeros, or crops them. A filter row of a copied image is one
// run of floats, so the taps of few channels each are multiplied as one of many.
type padder struct {
	h, w, c   int // source image
	ph, pw    int // copy
	top, left int // border
}

// image returns the floats in a copied image.
func (p *padder) image() int { return p.ph * p.pw * p.c }

// run copies images [lo, hi).
func (p *padder) run(dst, src []float32, lo, hi int) {
	row := p.pw * p.c
	width := min(p.w, p.pw-p.left) * p.c
	for i := lo * p.ph; i < hi*p.ph; i++ {
		out := dst[i*row:][:row]
		n, y := i/p.ph, i%p.ph-p.top
		if y < 0 || y >= p.h {
			clear(out)
			continue
		}
		clear(out[:p.left*p.c])
		copy(out[p.left*p.c:], src[(n*p.h+y)*p.w*p.c:][:width])
		clear(out[p.left*p.c+width:])
	}
}
