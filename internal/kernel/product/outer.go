package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// outer computes the gradient of the weights as sums of outer products,
//
//	dw[t, c, k] = sum over parcels, pixels p of x[from(p,t), c] * dy[p, k]
//
// Order of the sum: the pixels of the batch are cut into parcels, whole images or parts of one;
// within a parcel pixels ascend. Each parcel's sum starts from zero and is added to dw. Parcels follow
// from the shape alone. Threads share the tiles of dw, so no sum crosses threads.
type outer struct {
	cpu     *CPU
	images  int
	shape   outerShape
	blocks  []block
	columns int // of all blocks together
	pad     *padder
	// A tile has rows of x's channels and vectors of dy's, or, if turned, the other way round: where
	// channels are few, a whole filter row of x fills vectors better.
	turned bool
	// x is read in strips, each the rows of one tile for all pixels of a parcel under one tap: in x they lie
	// too far apart for the processor's prefetching. Tiles fetch the next strip, or, where the rows also lie
	// too far apart for the first-level cache, read a copy.
	inStrips bool
	strip    int // floats of a thread's copy, whole cache lines; 0: none
	band     int // blocks whose panels of dy are kept, so that a strip serves all of them
	// parcels holds the parts of an image, or one parcel of many images.
	parcels []parcel
	many    int // images in a parcel
	tiles   []outerTile
	parts   []*outerPart // several per thread, or just one if there is little to do

	// The call in progress.
	dw, x, dy, source []float32
	work              []float32 // the threads' panels of dy or, if turned, the sums
}

// outerShape says what is multiplied.
type outerShape struct {
	taps, depth, width int // filter taps, input channels of a tap, output channels
	xImage, pixels     int // floats in an image of x (or its padded copy); pixels in an image of dy
}

// outerPart holds one thread's share of the tiles and its arguments.
type outerPart struct {
	lo, hi int // tiles
	outer  asm.OuterArgs
	pack   asm.PackArgs
	strip  asm.StripArgs

	// What is left to fetch: the first and the last channel of the next strip, and the next parcel.
	next, parcel [2][]float32
}

// outerTile is a tile of dw: rows channels from first of one tap, in one block of the other channels.
type outerTile struct{ block, tap, first, rows int32 }

// parcel is a run of pixels of dy. For each tap it lists the pixels that have a source: float offset
// in x and pixel number in the parcel; if turned, float offset in dy and float offset in x.
type parcel struct {
	first, pixels int // in an image, for parts of one
	pairs         [][]int32
	copied        [][asm.TileRows + 1][]int32 // for tiles of copied strips, by tap and height
}

// parcelPixels is about how many pixels a parcel has: with 64 channels its panel of dy is 64 KiB, and
// a tile does enough products to pay for reading and writing its sums. Changing it changes results.
const parcelPixels = 256

// stripProducts is the number of weights from which strips pay for being copied, or fetched; with several
// taps only of pixels at least apartFloats apart, 2 KiB, which share two sets of the first-level cache
// (docs/design/0047).
const stripProducts, apartFloats = 64 << 10, 512

// bandColumns bounds the columns of a band: its panels for 256 terms are half a MiB (docs/design/0047).
const bandColumns = 512

// newOuter plans the sum; from gives the float offset in an image of x of each pixel and tap, -1 for
// padding.
func newOuter(c *CPU, images int, s outerShape, pad *padder, from func(pixel, t int) int) *outer {
	o := &outer{cpu: c, images: images, shape: s, pad: pad, many: 1}
	ops := &c.ops.Gemm
	// Vectors of x may read beyond a filter row, which only a padded copy has room for.
	o.turned = pad != nil && outerCost(ops, s.width, s.depth) < outerCost(ops, s.depth, s.width)
	o.blocks, o.columns = cutBlocks(ops, s.width)
	if o.turned {
		o.blocks, o.columns = cutBlocks(ops, s.depth)
	}
	if s.pixels*2 <= parcelPixels {
		o.many = min(images, parcelPixels/s.pixels)
		o.parcels = []parcel{o.newParcel(0, s.pixels, from)}
	} else {
		n := (s.pixels + parcelPixels - 1) / parcelPixels
		for i := range n {
			lo, hi := compute.Span(s.pixels, i, n)
			o.parcels = append(o.parcels, o.newParcel(lo, hi, from))
		}
	}
	o.band = 1
	isApart := s.pixels > 1 && from(1, s.taps/2)-from(0, s.taps/2) >= apartFloats
	if pad == nil && s.depth*s.width >= stripProducts && (s.taps == 1 || isApart) {
		o.planStrips()
	}
	o.cutTiles()
	o.cutParts()
	return o
}

// planStrips plans strips of x: the pairs of copies of every height, and bands of blocks. Threads share the
// bands if there are more output than input channels, else each band's rows.
func (o *outer) planStrips() {
	o.inStrips = true
	if o.shape.taps > 1 || !o.cpu.ops.Gemm.ReadsApart {
		o.strip = LineUp(o.parcelRows()*asm.TileRows + asm.TurnLanes)
		for i := range o.parcels {
			o.parcels[i].planCopies()
		}
	}
	bands := (o.columns + bandColumns - 1) / bandColumns
	if o.shape.width > o.shape.depth {
		bands = (bands + o.cpu.Threads() - 1) / o.cpu.Threads() * o.cpu.Threads()
	}
	o.band = max(1, (len(o.blocks)+bands-1)/bands)
}

// planCopies lists the pairs of copied strips.
func (p *parcel) planCopies() {
	p.copied = make([][asm.TileRows + 1][]int32, len(p.pairs))
	for t, pairs := range p.pairs {
		for _, h := range asm.TileHeights() {
			for i := 0; i < len(pairs); i += 2 {
				p.copied[t][h] = append(p.copied[t][h], int32(i/2*h), pairs[i+1])
			}
		}
	}
}

// parcelRows returns the pixels of the longest parcel.
func (o *outer) parcelRows() int {
	most := 0
	for _, p := range o.parcels {
		most = max(most, p.pixels*o.many)
	}
	return most
}

// outerCost estimates the half cycles that one pixel of one tap takes: two vector operations or two
// loads go on at a time, and a sum is ready for the next addition after four cycles.
func outerCost(o *asm.GemmOps, rows, width int) int {
	cost := 0
	blocks, _ := cutBlocks(o, width)
	for _, b := range blocks {
		for left := rows; left > 0; left -= asm.TileHeight(left) {
			h := asm.TileHeight(left)
			cost += max(8, h*b.vectors, h+b.vectors+2)
		}
	}
	return cost
}

// rows returns the number of channels that tiles take as rows.
func (o *outer) rows() int {
	if o.turned {
		return o.shape.width
	}
	return o.shape.depth
}

// newParcel lists pixels [lo, hi) of each of o.many images.
func (o *outer) newParcel(lo, hi int, from func(pixel, t int) int) parcel {
	s := &o.shape
	p := parcel{first: lo, pixels: hi - lo, pairs: make([][]int32, s.taps)}
	for t := range s.taps {
		for i := range o.many {
			for q := lo; q < hi; q++ {
				at, pixel := from(q, t), i*(hi-lo)+q-lo
				switch {
				case at < 0:
				case o.turned:
					p.pairs[t] = append(p.pairs[t], int32(pixel*s.width), int32(i*s.xImage+at))
				default:
					p.pairs[t] = append(p.pairs[t], int32(i*s.xImage+at), int32(pixel))
				}
			}
		}
	}
	return p
}

// cutTiles lists the tiles in the order in which they are computed.
func (o *outer) cutTiles() {
	for band := 0; band < len(o.blocks); band += o.band {
		for tap := range o.shape.taps {
			for first := 0; first < o.rows(); {
				rows := asm.TileHeight(o.rows() - first)
				for b := band; b < min(band+o.band, len(o.blocks)); b++ {
					o.tiles = append(o.tiles, outerTile{int32(b), int32(tap), int32(first), int32(rows)})
				}
				first += rows
			}
		}
	}
}

// partRows is the least number of rows, under all taps, in a part of the tiles, since each part packs its
// own copy of dy. threadParts is the largest number of parts per thread (docs/design/0016 and 0047).
const (
	partRows    = 16 * asm.TileRows
	threadParts = 4
)

// cutParts cuts the tiles into runs with about the same number of rows.
func (o *outer) cutParts() {
	threads := o.cpu.Threads()
	parts := threads * min(max(o.rows()*o.shape.taps/(threads*partRows), 1), threadParts)
	total := len(o.blocks) * o.rows() * o.shape.taps
	work := o.images * o.shape.pixels * o.shape.taps * o.rows() * o.columns
	if threads == 1 || o.cpu.isSmall(work) {
		parts = 1
	}
	rows, tile := 0, 0
	for part := range parts {
		p := &outerPart{lo: tile}
		for tile < len(o.tiles) && (rows+int(o.tiles[tile].rows)/2)*parts < total*(part+1) {
			rows += int(o.tiles[tile].rows)
			tile++
		}
		p.hi = tile
		o.parts = append(o.parts, p)
	}
	o.parts[parts-1].hi = len(o.tiles)
}

// panelFloats returns the floats of one thread's panels of dy.
func (o *outer) panelFloats() int {
	return o.parcelRows() * min(o.band*o.blocks[0].columns, o.columns)
}

// workFloats returns the length of o.work.
func (o *outer) workFloats() int {
	if o.turned {
		return o.shape.taps * o.shape.width * o.columns
	}
	return o.cpu.Threads() * (o.panelFloats() + o.strip)
}

// slack returns the floats that vectors of x may read beyond the padded copy.
func (o *outer) slack() int {
	if o.turned {
		return o.columns
	}
	return 0
}

// scratchFloats returns the floats that the padded copy and o.work take.
func (o *outer) scratchFloats() int {
	n := o.workFloats()
	if o.pad != nil {
		n += o.images*o.shape.xImage + o.slack()
	}
	return n
}

func (o *outer) resize(images int) { o.images = images }

func (o *outer) run(dw, x, dy, scratch []float32) {
	o.dw, o.x, o.dy, o.source = dw, x, dy, x
	n := o.workFloats()
	o.work, scratch = scratch[:n], scratch[n:]
	if o.pad != nil {
		o.source = scratch[:o.images*o.shape.xImage+o.slack()]
		o.cpu.Share((*outerPrepare)(o), len(o.source))
	}
	if len(o.parts) == 1 {
		o.cpu.Alone((*outerCompute)(o))
	} else {
		o.cpu.RunParts((*outerCompute)(o), len(o.parts))
	}
	o.dw, o.x, o.dy, o.source, o.work = nil, nil, nil, nil, nil
}

// outerPrepare pads x.
type outerPrepare outer

// Do pads some images.
func (t *outerPrepare) Do(_, part, parts int) {
	lo, hi := compute.Span(t.images, part, parts)
	t.pad.run(t.source, t.x, lo, hi)
}

// outerCompute multiplies.
type outerCompute outer

// Do computes the tiles of a part.
func (t *outerCompute) Do(thread, part, _ int) {
	o, p := (*outer)(t), t.parts[part]
	for image := 0; image < o.images; image += o.many {
		for i := range o.parcels {
			if o.turned {
				o.turnedParcel(p, image, i)
			} else {
				o.parcel(p, thread, image, i)
			}
		}
	}
	if o.turned {
		o.turnBack(p)
	}
}

// operands returns x and dy from the first pixel of parcel i of the images from image on, the number
// of these images, and the flags of a tile.
func (o *outer) operands(image, i int) (x, dy []float32, images, flags int) {
	s := &o.shape
	return o.source[image*s.xImage:], o.dy[(image*s.pixels+o.parcels[i].first)*s.width:],
		min(o.many, o.images-image), addFlag(image > 0 || i > 0)
}

// parcel adds parcel i of the images from image on to the tiles of part p, on a thread.
func (o *outer) parcel(p *outerPart, thread, image, i int) {
	a, s, q := &p.outer, &o.shape, &o.parcels[i]
	x, dy, images, flags := o.operands(image, i)
	a.Flags, a.Stride = flags, s.width
	panels := o.work[thread*(o.panelFloats()+o.strip):]
	strip, panels := panels[:o.strip], panels[o.strip:]
	band, first, tap := int32(-1), int32(-1), int32(-1)
	p.parcel = o.fetches(image)
	for t := p.lo; t < p.hi; t++ {
		tile := &o.tiles[t]
		b := &o.blocks[tile.block]
		if now := tile.block / int32(o.band); now != band {
			band = now
			o.packBand(p, panels, dy, int(band)*o.band, images*q.pixels)
		}
		pairs := q.pairs[tile.tap]
		a.Pairs, a.A, a.Rows = pairs[:len(pairs)/o.many*images], x[tile.first:], int(tile.rows)
		isNew := tile.first != first || tile.tap != tap
		first, tap = tile.first, tile.tap
		if isNew && o.inStrips && s.xImage == s.depth {
			p.next = o.nextStrip(p, t, x)
		}
		if o.strip > 0 && len(a.Pairs) > 0 {
			if isNew {
				p.strip = asm.StripArgs{Pairs: a.Pairs, Dst: strip, Src: a.A, Rows: a.Rows}
				o.cpu.ops.Gemm.Strip(&p.strip)
			}
			a.Pairs, a.A = q.copied[tap][a.Rows][:len(a.Pairs)], strip
		}
		a.B, a.BStride, a.Tail = dy, b.columns, b.tail
		if s.width != b.columns { // else dy is a panel itself
			a.B = panels[(b.at-o.blocks[int(band)*o.band].at)*images*q.pixels:]
		}
		p.fetch(4 * s.depth)
		a.Dst = o.dw[(int(tile.tap)*s.depth+int(tile.first))*s.width+b.first:]
		o.cpu.ops.Gemm.Outer[a.Rows][b.vectors](a)
	}
}

// nextStrip returns the first and the last channel of the strip that part p reads after that of tile t, from
// the parcel's first pixel on, where images are pixels. These lie in one cache line or in two, and those of
// the pixels so far apart that the processor does not foresee them.
func (o *outer) nextStrip(p *outerPart, t int, x []float32) (next [2][]float32) {
	first := o.tiles[t].first
	for ; t < p.hi; t++ {
		if tile := &o.tiles[t]; tile.first != first {
			return [2][]float32{x[tile.first:], x[tile.first+tile.rows-1:]}
		}
	}
	return next
}

// fetch sets what the tile of part p fetches: a channel of the next strip, whose pixels are stride bytes
// apart, or cache lines of the next parcel, or, if nothing is left, something that is near.
func (p *outerPart) fetch(stride int) {
	a := &p.outer
	switch {
	case p.next[0] != nil:
		a.Fetch, a.FetchStride = p.next[0], stride
		p.next = [2][]float32{p.next[1]}
	case len(p.parcel[0]) > 0:
		a.Fetch, a.FetchStride = p.parcel[0], lineBytes/2 // a line every other term, not to crowd memory
		p.parcel[0] = p.parcel[0][min(len(a.Pairs)/2*lineBytes/8, len(p.parcel[0])):]
		if len(p.parcel[0]) == 0 {
			p.parcel = [2][]float32{p.parcel[1]}
		}
	default:
		a.Fetch, a.FetchStride = a.A, lineBytes
	}
}

// fetches returns x and dy of the parcel after that at image, for tiles to prefetch, if images are pixels.
func (o *outer) fetches(image int) (next [2][]float32) {
	s := &o.shape
	from, to := image+o.many, min(image+2*o.many, o.images)
	if s.xImage != s.depth || from >= to {
		return next
	}
	return [2][]float32{o.source[from*s.depth : to*s.depth], o.dy[from*s.width : to*s.width]}
}

// packBand copies rows rows of the blocks from first on to panels.
func (o *outer) packBand(p *outerPart, panels, dy []float32, first, rows int) {
	for k := first; k < min(first+o.band, len(o.blocks)); k++ {
		b := &o.blocks[k]
		if o.shape.width != b.columns {
			panel := panels[(b.at-o.blocks[first].at)*rows:]
			packBlock(&p.pack, &o.cpu.ops.Gemm, panel, dy[b.first:], rows, o.shape.width, b)
		}
	}
}

// turnedParcel adds parcel i of the images from image on to the turned tiles of part p, which lie in
// o.work as [tap][channel of dy][channel of x].
func (o *outer) turnedParcel(p *outerPart, image, i int) {
	a, s := &p.outer, &o.shape
	x, dy, images, flags := o.operands(image, i)
	a.Flags, a.Stride, a.BStride, a.Tail = flags, o.columns, 1, o.cpu.ops.Gemm.Lanes
	a.FetchStride = lineBytes
	for t := p.lo; t < p.hi; t++ {
		tile := &o.tiles[t]
		b := &o.blocks[tile.block]
		pairs := o.parcels[i].pairs[tile.tap]
		a.Pairs = pairs[:len(pairs)/o.many*images]
		a.A, a.B = dy[tile.first:], x[b.first:]
		a.Dst = o.work[(int(tile.tap)*s.width+int(tile.first))*o.columns+b.at:]
		a.Rows, a.Fetch = int(tile.rows), a.A
		o.cpu.ops.Gemm.Outer[a.Rows][b.vectors](a)
	}
}

// turnBack copies the turned tiles of part p to dw.
func (o *outer) turnBack(p *outerPart) {
	s := &o.shape
	for t := p.lo; t < p.hi; t++ {
		tile := &o.tiles[t]
		b := &o.blocks[tile.block]
		for k := int(tile.first); k < int(tile.first+tile.rows); k++ {
			sums := o.work[(int(tile.tap)*s.width+k)*o.columns+b.at:][:b.channels()]
			dw := o.dw[(int(tile.tap)*s.depth+b.first)*s.width+k:]
			for c, sum := range sums {
				dw[c*s.width] = sum
			}
		}
	}
}
