package product

import (
	"unsafe"

	"lockstep/internal/kernel/asm"
)

// lineBytes is the size of a cache line, to which scratch is aligned.
const lineBytes = 64

// Aligned returns scratch from the first float that starts a cache line, or from its start if that
// leaves too little. Only speed depends on it.
func Aligned(scratch []float32) []float32 {
	address := uintptr(unsafe.Pointer(unsafe.SliceData(scratch)))
	skip := int(-address % lineBytes / 4)
	if skip > len(scratch) {
		return scratch
	}
	return scratch[skip:]
}

// LineUp rounds a number of floats up to whole cache lines.
func LineUp(n int) int { return (n + asm.LineFloats - 1) / asm.LineFloats * asm.LineFloats }

// packBlock copies rows rows of block b's channels, which start at src and are stride floats apart, to a
// panel.
func packBlock(p *asm.PackArgs, o *asm.GemmOps, dst, src []float32, rows, stride int, b *block) {
	*p = asm.PackArgs{Dst: dst, Src: src, Rows: rows, Stride: stride, Tail: b.tail}
	o.Pack[b.vectors](p)
}

// turnBlock fills a panel of rows rows with the channels of block b, dst[d*columns + j] = src[j*stride + d],
// and zeros beyond the last channel.
func turnBlock(t *asm.TurnArgs, o *asm.GemmOps, dst, src []float32, rows, stride int, b *block) {
	turnCopy(t, o, dst, src, rows, b.channels(), stride, b.columns)
	if b.channels() < b.columns {
		for d := range rows {
			clear(dst[d*b.columns:][b.channels():b.columns])
		}
	}
}

// turnCopy copies dst[d*width + j] = src[j*stride + d] for d < rows and j < columns. The last squares of a
// number that is no multiple of TurnLanes overlap those before.
func turnCopy(t *asm.TurnArgs, o *asm.GemmOps, dst, src []float32, rows, columns, stride, width int) {
	if rows < asm.TurnLanes || columns < asm.TurnLanes {
		for d := range rows {
			for j := range columns {
				dst[d*width+j] = src[j*stride+d]
			}
		}
		return
	}
	d, j := rows%asm.TurnLanes, columns%asm.TurnLanes
	*t = asm.TurnArgs{Dst: dst, Src: src, Rows: rows - d, Columns: columns - j, Stride: stride, Width: width}
	o.Turn(t)
	if d > 0 {
		d = rows - asm.TurnLanes
		turnCopy(t, o, dst[d*width:], src[d:], asm.TurnLanes, columns, stride, width)
	}
	if j > 0 {
		j = columns - asm.TurnLanes
		turnCopy(t, o, dst[j:], src[j*stride:], rows, asm.TurnLanes, stride, width)
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
