package kernel

// outer computes the gradient of the weights as sums of outer products,
//
//	dw[t, c, k] = sum over parcels, pixels p of x[from(p,t), c] * dy[p, k]
//
// Order of the sum: the pixels of the batch are cut into parcels, whole images or parts of one;
// within a parcel pixels ascend. Each parcel's sum starts from zero and is added to dw. Parcels follow
// from the shape alone. Threads share the tiles of dw, so no sum crosses threads.
type outer struct {
	cpu    *CPU
	images int
	shape  outerShape
	blocks []block
	pad    *padder
	// parcels holds the parts of an image, or one parcel of many images.
	parcels []parcel
	many    int // images in a parcel
	tiles   []outerTile
	parts   []*outerPart // one per thread

	// The call in progress.
	dw, x, dy, source, panels []float32
}

// outerShape says what is multiplied.
type outerShape struct {
	taps, depth, width int // filter taps, input channels of a tap, output channels
	xImage, pixels     int // floats in an image of x (or its padded copy); pixels in an image of dy
}

// outerPart holds one thread's share of the tiles and its arguments.
type outerPart struct {
	lo, hi int // tiles
	outer  outerArgs
	pack   packArgs
}

// outerTile is a tile of dw: rows channels from first of one tap, in one block of output channels.
type outerTile struct{ block, tap, first, rows int32 }

// parcel is a run of pixels of dy. For each tap it lists the pixels that have a source: float offset
// in x and pixel number in the parcel.
type parcel struct {
	first, pixels int // in an image, for parts of one
	pairs         [][]int32
}

// parcelPixels is about how many pixels a parcel has: with 64 channels its panel of dy is 64 KiB, and
// a tile does enough products to pay for reading and writing its sums. Changing it changes results.
const parcelPixels = 256

// outerGroup is how many input channels all taps are computed for before the next ones, so that those
// of a parcel stay in the second-level cache.
const outerGroup = 8 * tileRows

// newOuter plans the sum; from gives the float offset in an image of x of each pixel and tap, -1 for
// padding.
func newOuter(c *CPU, images int, s outerShape, pad *padder, from func(pixel, t int) int) *outer {
	o := &outer{cpu: c, images: images, shape: s, pad: pad, many: 1}
	o.blocks, _ = c.ops.gemm.cutBlocks(s.width)
	if s.pixels*2 <= parcelPixels {
		o.many = min(images, parcelPixels/s.pixels)
		o.parcels = []parcel{newParcel(s, 0, s.pixels, o.many, from)}
	} else {
		n := (s.pixels + parcelPixels - 1) / parcelPixels
		for i := range n {
			lo, hi := span(s.pixels, i, n)
			o.parcels = append(o.parcels, newParcel(s, lo, hi, 1, from))
		}
	}
	o.cutTiles()
	o.cutParts()
	return o
}

// newParcel lists pixels [lo, hi) of each of images images.
func newParcel(s outerShape, lo, hi, images int, from func(pixel, t int) int) parcel {
	p := parcel{first: lo, pixels: hi - lo, pairs: make([][]int32, s.taps)}
	for t := range s.taps {
		for i := range images {
			for q := lo; q < hi; q++ {
				if at := from(q, t); at >= 0 {
					p.pairs[t] = append(p.pairs[t], int32(i*s.xImage+at), int32(i*(hi-lo)+q-lo))
				}
			}
		}
	}
	return p
}

// cutTiles lists the tiles in the order in which they are computed.
func (o *outer) cutTiles() {
	for b := range o.blocks {
		for group := 0; group < o.shape.depth; group += outerGroup {
			end := min(group+outerGroup, o.shape.depth)
			for tap := range o.shape.taps {
				for first := group; first < end; {
					rows := tileHeight(end - first)
					o.tiles = append(o.tiles,
						outerTile{int32(b), int32(tap), int32(first), int32(rows)})
					first += rows
				}
			}
		}
	}
}

// cutParts gives each thread a run of tiles with about the same number of rows.
func (o *outer) cutParts() {
	parts := o.cpu.Threads()
	total := len(o.blocks) * o.shape.depth * o.shape.taps
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

// panelFloats returns the floats of one thread's panel of dy.
func (o *outer) panelFloats() int {
	most := 0
	for _, p := range o.parcels {
		most = max(most, p.pixels*o.many)
	}
	return most * o.blocks[0].lanes
}

// scratch returns the floats that the threads' panels and the padded copy take.
func (o *outer) scratch() int {
	n := len(o.parts) * o.panelFloats()
	if o.pad != nil {
		n += o.images * o.shape.xImage
	}
	return n
}

// run computes dw.
func (o *outer) run(dw, x, dy, scratch []float32) {
	o.dw, o.x, o.dy, o.source = dw, x, dy, x
	n := len(o.parts) * o.panelFloats()
	o.panels, scratch = scratch[:n], scratch[n:]
	if o.pad != nil {
		o.source = scratch[:o.images*o.shape.xImage]
		o.cpu.Run((*outerPrepare)(o))
	}
	o.cpu.Run((*outerCompute)(o))
	o.dw, o.x, o.dy, o.source, o.panels = nil, nil, nil, nil, nil
}

// outerPrepare pads x.
type outerPrepare outer

// Do pads some images.
func (t *outerPrepare) Do(part, parts int) {
	lo, hi := span(t.images, part, parts)
	t.pad.run(t.source, t.x, lo, hi)
}

// outerCompute multiplies.
type outerCompute outer

// Do computes one thread's tiles.
func (t *outerCompute) Do(part, _ int) {
	o, p := (*outer)(t), t.parts[part]
	n := o.panelFloats()
	panel := o.panels[part*n : (part+1)*n]
	for image := 0; image < o.images; image += o.many {
		for i := range o.parcels {
			o.parcel(p, panel, image, i)
		}
	}
}

// parcel adds parcel i of the images from image on to the tiles of part p.
func (o *outer) parcel(p *outerPart, panel []float32, image, i int) {
	a, s, q := &p.outer, &o.shape, &o.parcels[i]
	images := min(o.many, o.images-image)
	dy := o.dy[(image*s.pixels+q.first)*s.width:]
	x := o.source[image*s.xImage:]
	a.flags, a.stride = tileAdd, s.width
	if image == 0 && i == 0 {
		a.flags = 0
	}
	packed := int32(-1)
	for t := p.lo; t < p.hi; t++ {
		tile := o.tiles[t]
		b := &o.blocks[tile.block]
		if tile.block != packed {
			packed = tile.block
			a.tail = b.tail
			a.b, a.bStride = panel, b.lanes
			if s.width == b.lanes { // already a panel
				a.b = dy
			} else {
				p.pack.run(&o.cpu.ops.gemm, panel, dy[b.first:], images*q.pixels, s.width, b)
			}
		}
		pairs := q.pairs[tile.tap]
		a.pairs = pairs[:len(pairs)/o.many*images]
		a.a = x[tile.first:]
		a.dst = o.dw[(int(tile.tap)*s.depth+int(tile.first))*s.width+b.first:]
		a.rows = int(tile.rows)
		o.cpu.ops.gemm.outer[a.rows][b.vectors](a)
	}
}
