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
	full, even := b.channels()&^(turnLanes-1), rows&^(turnLanes-1)
	if even > 0 {
		*t = turnArgs{rows: even, stride: stride, width: b.lanes}
		for j := 0; j < full; j += turnLanes {
			t.dst, t.src = dst[j:], src[j*stride:]
			o.turn(t)
		}
	}
	for d := range rows {
		row := dst[d*b.lanes:][:b.lanes]
		first := 0
		if d < even {
			first = full
		}
		for j := first; j < b.channels(); j++ {
			row[j] = src[j*stride+d]
		}
		clear(row[b.channels():])
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
