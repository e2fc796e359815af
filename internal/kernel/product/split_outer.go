package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// splitOuter computes the gradient of the weights by products of parts,
//
//	dw[t, c, k] = sum over parcels, pixels p of x[from(p,t), c] * dy[p, k]
//
// Order of the sum: the pixels of the batch are cut into parcels of splitSteps steps of 32; each parcel is
// summed from zero and added to dw.
type splitOuter struct {
	cpu    *CPU
	ops    *asm.SplitOps
	images int
	shape  outerShape
	from   []int32 // [pixel][tap] float offset in an image of x, -1 for padding
	parts  []*splitPart
	zero   []float32 // as long as rows of x and of dy

	// The call in progress.
	dw, x, dy   []float32
	left, right []uint32 // [tap, block of x's channels][step], [panel of dy's][step]
	first       int      // pixel of the parcel
}

// newSplitOuter plans the sum.
func newSplitOuter(c *CPU, images int, s outerShape, from func(pixel, t int) int) *splitOuter {
	o := &splitOuter{cpu: c, ops: &c.ops.Split, images: images, shape: s, parts: newSplitParts(c),
		zero: make([]float32, max(s.depth, s.width))}
	for _, p := range o.parts {
		p.next.inOrder(splitSteps)
	}
	for pixel := range s.pixels {
		for t := range s.taps {
			o.from = append(o.from, int32(from(pixel, t)))
		}
	}
	return o
}

// blocks returns the number of blocks of 32 rows of dw.
func (o *splitOuter) blocks() int { return o.shape.taps * o.shape.depth / asm.SplitSide }

// panels returns the number of panels of 32 columns of dw.
func (o *splitOuter) panels() int { return o.shape.width / asm.SplitSide }

// scratchFloats returns the floats that tiles and sums take.
func (o *splitOuter) scratchFloats() int {
	return (o.blocks()+o.panels())*splitSteps*o.ops.StepWords() + len(o.parts)*sumFloats
}

func (o *splitOuter) resize(images int) { o.images = images }

func (o *splitOuter) run(dw, x, dy, scratch []float32) {
	o.dw, o.x, o.dy = dw, x, dy
	o.left = words(take(&scratch, o.blocks()*splitSteps*o.ops.StepWords()))
	o.right = words(take(&scratch, o.panels()*splitSteps*o.ops.StepWords()))
	for _, p := range o.parts {
		p.sums = take(&scratch, sumFloats)
	}
	for o.first = 0; o.first < o.pixels(); o.first += splitSteps * asm.SplitSide {
		o.cpu.Run((*splitParcel)(o))
		o.cpu.RunParts((*splitTiles)(o), o.cpu.PartsOf(o.blocks(), splitBatch))
	}
	o.dw, o.x, o.dy, o.left, o.right = nil, nil, nil, nil, nil
}

// pixels returns the pixels of the batch.
func (o *splitOuter) pixels() int { return o.images * o.shape.pixels }

// steps returns the steps of the parcel.
func (o *splitOuter) steps() int {
	return min(splitSteps, (o.pixels()-o.first+asm.SplitSide-1)/asm.SplitSide)
}

// splitParcel packs the parcel.
type splitParcel splitOuter

// Do packs some steps.
func (t *splitParcel) Do(thread, part, parts int) {
	o, p, steps := (*splitOuter)(t), t.parts[thread], (*splitOuter)(t).steps()
	step := o.ops.StepWords()
	lo, hi := compute.Span(steps, part, parts)
	for i := lo; i < hi; i++ {
		first := o.first + i*asm.SplitSide
		for j := range p.table {
			p.table[j] = -1
			if first+j < o.pixels() {
				p.table[j] = int32((first + j) * o.shape.width)
			}
		}
		p.pack = asm.SplitArgs{Table: p.table[:], Src: o.dy, Zero: o.zero, Dst: o.right[i*step:],
			N:       o.panels(),
			DstStep: steps * step}
		o.ops.Pairs(&p.pack)
		for tap := range o.shape.taps {
			o.turnTap(p, tap, first, o.left[(tap*o.shape.depth/asm.SplitSide*steps+i)*step:])
		}
	}
}

// turnTap packs x under a tap of 32 pixels from pixel first on.
func (o *splitOuter) turnTap(p *splitPart, tap, first int, dst []uint32) {
	s := &o.shape
	for j := range p.table {
		p.table[j] = -1
		if image, pixel := (first+j)/s.pixels, (first+j)%s.pixels; image < o.images {
			if from := o.from[pixel*s.taps+tap]; from >= 0 {
				p.table[j] = int32(image*s.xImage) + from
			}
		}
	}
	p.pack = asm.SplitArgs{Table: p.table[:], Zero: o.zero, N: s.depth / asm.SplitSide,
		DstStep: o.steps() * o.ops.StepWords(), Work: p.work}
	for half := range 2 {
		p.pack.Src, p.pack.Dst = o.x[half*asm.TileSide:], dst[half*asm.TileWords:]
		o.ops.Turn(&p.pack)
	}
}

// splitTiles multiplies the parcel.
type splitTiles splitOuter

// Do computes some rows of dw.
func (t *splitTiles) Do(thread, part, parts int) {
	o, p, steps := (*splitOuter)(t), t.parts[thread], (*splitOuter)(t).steps()
	step, flags := o.ops.StepWords(), 0
	if o.first > 0 {
		flags = asm.TileAdd
	}
	lo, hi := compute.Span(o.blocks(), part, parts)
	c := o.coming(thread, part, parts, (hi-lo+splitBatch-1)/splitBatch)
	for next := lo; lo < hi; lo = next {
		next = min(lo+splitBatch, hi)
		for i := range (next - lo) * asm.SplitSide {
			p.out[i] = int32((lo*asm.SplitSide + i) * o.shape.width)
		}
		p.left = o.left[lo*steps*step:]
		for j := range o.panels() {
			rows := (next - lo) * asm.SplitSide
			p.multiply(o.ops, o.right[j*steps*step:], steps*step, steps, rows, o.dw[j*asm.SplitSide:], o.zero,
				flags, c.next(p, rows*rowNext))
		}
	}
}

// rowNext is the floats that the tiles ask for during a row of a whole parcel.
const rowNext = splitSteps * asm.SplitSide

// splitComing is what a thread packs of the next parcel: pixels of x, unless these lie apart, and of dy.
type splitComing struct {
	x, dy []float32
	calls int // of next that are left
}

// coming returns what a thread packs next. Its tiles call next in this part for so many batches of blocks
// and each panel.
func (o *splitOuter) coming(thread, part, parts, batches int) (c splitComing) {
	owns, _ := o.cpu.Owns(thread, part, parts)
	if !owns {
		return c
	}
	const parcel = splitSteps * asm.SplitSide
	s := &o.shape
	lo, hi := compute.Span(parcel, thread, o.cpu.Threads())
	lo, hi = min(o.first+parcel+lo, o.pixels()), min(o.first+parcel+hi, o.pixels())
	if s.taps == 1 && s.xImage == s.pixels*s.depth {
		c.x = o.x[lo*s.depth : hi*s.depth]
	}
	c.dy = o.dy[lo*s.width : hi*s.width]
	end := 1
	if parts > 1 {
		_, end = compute.Span(parts, thread, o.cpu.Threads())
	}
	c.calls = (end - part) * batches * o.panels()
	return c
}

// next returns what the tiles ask for during a call in which they can ask for so many floats: the last
// calls ask, so that what they ask for is in the cache still when it is packed.
func (c *splitComing) next(p *splitPart, floats int) *splitNext {
	at := len(c.dy) + len(c.x) - c.calls*floats
	c.calls--
	switch {
	case at <= -floats || c.dy == nil:
		return &nothing
	case at < len(c.dy):
		p.next.from = c.dy[max(at, 0):]
	default:
		p.next.from = c.x[min(at-len(c.dy), len(c.x)):]
	}
	return &p.next
}
