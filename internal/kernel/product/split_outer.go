package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// splitOuter computes the gradient of the weights by products of parts,
//
//	dw[t, c, k] = sum over parcels, pixels p of x[from(p,t), c] * dy[p, k]
//
// Order of the sum: the pixels of the batch are cut into parcels of parcelSteps steps of 32; each parcel is
// summed from zero and added to dw.
//
// Threads share dw, and each packs its own operands: if they packed parcels for each other, they would wait
// for each other twice in each, and multiply tiles that lie in each other's caches.
type splitOuter struct {
	cpu    *CPU
	ops    *asm.SplitOps
	images int
	shape  outerShape
	steps  int     // of a parcel
	from   []int32 // [pixel][tap] float offset in an image of x, -1 for padding
	grid   grid    // of blocks and panels
	parts  []*splitOuterPart
	zero   []float32 // as long as rows of x and of dy

	// The call in progress.
	dw, x, dy []float32
}

// splitOuterPart holds what one thread hands to the inner loops.
type splitOuterPart struct {
	*splitPart
	blocks, panels [2]int         // of dw
	first, steps   int            // pixel and steps of the parcel
	x, dy          []uint32       // its tiles, [tap, block of x's channels][step] and [panel of dy's][step]
	coming         [2]splitComing // dy and x of the next parcel
	calls          int            // of the tiles that are left in the parcel
	least          int            // rows of the lowest of them
}

// parcelSteps returns the most steps of a parcel. Of one part they are half as many, so that the tiles of a
// parcel, dw, and the floats that the next parcel is packed from, which the tiles ask for, share the
// second-level cache: with 16 steps packing took two to three times as long (Zen 4). Changing it changes
// results.
func parcelSteps(c *CPU) int {
	if c.Math().Parts() == 1 {
		return splitSteps / 2
	}
	return splitSteps
}

// packedProducts is how many products take as long as packing a float: of 64 and 256 channels packing takes a
// quarter of the time (Zen 4).
const packedProducts = 20

// newSplitOuter plans the sum.
func newSplitOuter(c *CPU, images int, s outerShape, from func(pixel, t int) int) *splitOuter {
	o := &splitOuter{cpu: c, ops: &c.ops.Split, images: images, shape: s, steps: parcelSteps(c),
		zero: make([]float32, max(s.depth, s.width))}
	o.grid = newGrid(c.Threads(), o.blocks(), o.panels(), func(rows, columns float64) float64 {
		rows, columns = rows*float64(s.taps*s.depth), columns*float64(s.width)
		return (rows+columns)*packedProducts + rows*columns
	})
	for range c.Threads() {
		o.parts = append(o.parts, &splitOuterPart{splitPart: newSplitPart()})
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

// words returns the words of the largest part's tiles of x and of dy.
func (o *splitOuter) words() (x, dy int) {
	rows := (o.blocks() + o.grid.rows - 1) / o.grid.rows
	columns := (o.panels() + o.grid.columns - 1) / o.grid.columns
	return rows * o.steps * o.ops.StepWords(), columns * o.steps * o.ops.StepWords()
}

// scratchFloats returns the floats that tiles and sums take.
func (o *splitOuter) scratchFloats() int {
	x, dy := o.words()
	return len(o.parts) * (x + dy + sumFloats)
}

func (o *splitOuter) resize(images int) { o.images = images }

func (o *splitOuter) run(dw, x, dy, scratch []float32) {
	o.dw, o.x, o.dy = dw, x, dy
	xWords, dyWords := o.words()
	for _, p := range o.parts {
		p.x, p.dy = words(take(&scratch, xWords)), words(take(&scratch, dyWords))
		p.sums = take(&scratch, sumFloats)
	}
	o.cpu.RunParts((*splitTiles)(o), o.grid.parts())
	o.dw, o.x, o.dy = nil, nil, nil
}

// pixels returns the pixels of the batch.
func (o *splitOuter) pixels() int { return o.images * o.shape.pixels }

// parcel returns the pixels of a parcel.
func (o *splitOuter) parcel() int { return o.steps * asm.SplitSide }

// splitTiles computes dw.
type splitTiles splitOuter

// Do computes some parts of the grid.
func (t *splitTiles) Do(thread, part, parts int) {
	o, p := (*splitOuter)(t), t.parts[thread]
	lo, hi := compute.Span(o.grid.parts(), part, parts)
	for ; lo < hi; lo++ {
		p.blocks, p.panels = o.grid.share(lo, o.blocks(), o.panels())
		for p.first = 0; p.first < o.pixels(); p.first += o.parcel() {
			o.pack(p)
			o.multiply(p)
		}
	}
}

// pack packs a part's operands of the parcel.
func (o *splitOuter) pack(p *splitOuterPart) {
	step, deep := o.ops.StepWords(), o.shape.depth/asm.SplitSide
	p.steps = min(o.steps, (o.pixels()-p.first+asm.SplitSide-1)/asm.SplitSide)
	for i := range p.steps {
		first := p.first + i*asm.SplitSide
		listRows(p.table[:], first*o.shape.width, o.pixels()-first, o.shape.width)
		p.pack = asm.SplitArgs{Table: p.table[:], Src: o.dy[p.panels[0]*asm.SplitSide:], Zero: o.zero,
			Dst: p.dy[i*step:], N: p.panels[1] - p.panels[0], DstStep: p.steps * step}
		o.ops.Pairs(&p.pack)
		for lo, hi := p.blocks[0], 0; lo < p.blocks[1]; lo = hi {
			hi = min((lo/deep+1)*deep, p.blocks[1])
			o.turnTap(p, first, lo, hi, p.x[((lo-p.blocks[0])*p.steps+i)*step:])
		}
	}
}

// turnTap packs blocks [lo, hi), which are of one tap, of 32 pixels from pixel first on.
func (o *splitOuter) turnTap(p *splitOuterPart, first, lo, hi int, dst []uint32) {
	s, deep := &o.shape, o.shape.depth/asm.SplitSide
	for j := range p.table {
		p.table[j] = -1
		if image, pixel := (first+j)/s.pixels, (first+j)%s.pixels; image < o.images {
			if from := o.from[pixel*s.taps+lo/deep]; from >= 0 {
				p.table[j] = int32(image*s.xImage) + from
			}
		}
	}
	p.pack = asm.SplitArgs{Table: p.table[:], Zero: o.zero, N: hi - lo,
		DstStep: p.steps * o.ops.StepWords(), Work: p.work}
	for half := range 2 {
		p.pack.Src, p.pack.Dst = o.x[lo%deep*asm.SplitSide+half*asm.TileSide:], dst[half*asm.TileWords:]
		o.ops.Turn(&p.pack)
	}
}

// multiply adds the parcel to a part of dw.
func (o *splitOuter) multiply(p *splitOuterPart) {
	step := o.ops.StepWords()
	o.findComing(p)
	panels := p.dy[:(p.panels[1]-p.panels[0])*p.steps*step]
	for i := range p.batches() {
		lo, hi := compute.Span(p.blocks[1]-p.blocks[0], i, p.batches())
		rows := (hi - lo) * asm.SplitSide
		for i := range rows {
			p.out[i] = int32(((p.blocks[0]+lo)*asm.SplitSide + i) * o.shape.width)
		}
		p.left = p.x[lo*p.steps*step:]
		for j := p.panels[0]; j < p.panels[1]; j++ {
			p.splitPart.multiply(o.ops, panels[(j-p.panels[0])*p.steps*step:], p.steps*step, p.steps, rows,
				o.dw[j*asm.SplitSide:], o.zero, addFlag(p.first > 0), p.askComing(rows))
		}
	}
}

// batches returns the number of batches of a part's blocks, of about the same height.
func (p *splitOuterPart) batches() int {
	return (p.blocks[1] - p.blocks[0] + splitBatch - 1) / splitBatch
}

// splitComing is rows of floats that are packed next.
type splitComing struct {
	from   []float32
	stride int // floats from row to row
	across int // pieces in a row
	rows   int // of a piece, 32 floats of each
	pieces int
}

// newSplitComing returns n rows from row first on, of each the columns of some blocks or panels, to be asked
// for so many rows at a time.
func newSplitComing(s []float32, first, n, stride int, columns [2]int, rows int) splitComing {
	if n <= 0 {
		return splitComing{}
	}
	across := columns[1] - columns[0]
	return splitComing{s[first*stride+columns[0]*asm.SplitSide:], stride, across, rows,
		(n + rows - 1) / rows * across}
}

// findComing finds what a part packs of the next parcel: of dy, and of x unless its pixels lie apart.
func (o *splitOuter) findComing(p *splitOuterPart) {
	s, first := &o.shape, p.first+o.parcel()
	n := min(o.parcel(), o.pixels()-first)
	p.coming = [2]splitComing{newSplitComing(o.dy, first, n, s.width, p.panels, o.steps)}
	if s.taps == 1 && s.xImage == s.pixels*s.depth {
		p.coming[1] = newSplitComing(o.x, first, n, s.depth, p.blocks, o.steps)
	}
	p.calls = p.batches() * (p.panels[1] - p.panels[0])
	p.least = (p.blocks[1] - p.blocks[0]) / p.batches() * asm.SplitSide
}

// askComing returns what the tiles ask for during the next call, in which each of so many rows can ask for a
// piece: the last calls ask, so that what they ask for is in the cache still when it is packed. Parts of one
// block or one panel have too few rows to ask for everything.
func (p *splitOuterPart) askComing(rows int) *splitNext {
	left := p.calls
	p.calls--
	for i := range p.coming {
		c := &p.coming[len(p.coming)-1-i]
		calls := (c.pieces + p.least - 1) / p.least
		if left <= calls {
			c.fill(&p.next, (calls-left)*p.least, rows)
			return &p.next
		}
		left -= calls
	}
	return &nothing
}

// fill makes rows ask for so many pieces from number piece on; rows without one ask for the last.
func (c *splitComing) fill(n *splitNext, piece, rows int) {
	n.from, n.stride = c.from, c.stride
	for i := range rows {
		at := min(piece+i, c.pieces-1)
		n.rows[i] = int32(at/c.across*c.rows*c.stride + at%c.across*asm.SplitSide)
	}
}
