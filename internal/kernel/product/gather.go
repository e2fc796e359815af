package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// gather is one direction of a convolution as an indirect matrix product (Dukhan 2019, "The Indirect
// Convolution Algorithm"): the rows that a tile multiplies are found through a table of offsets, so
// neither im2col nor a copy of the activations is needed.
//
//	dst[p, k] = bias[k] + sum over chunks, taps t, channels d of src[from(p,t), d] * w[t, d, k]
//
// Order of the sum: the channels are cut into chunks; within a chunk taps ascend, within a tap
// channels. Each chunk's sum starts from zero (the first from the bias) and is added to dst. The
// chunks follow from the shape alone.
type gather struct {
	cpu     *CPU
	images  int
	shape   gatherShape
	blocks  []block
	columns int // of all panels together
	chunk   int // channels of one tap in a chunk
	pad     *padder
	// A tile's pixels lie in one image, or, if byPosition, are the same pixel of up to six images:
	// then no tap that falls on padding is computed at all.
	byPosition bool
	tiles      []gatherTile
	table      []int32
	batch      int           // items that one pass over the weights covers
	parts      []*gatherPart // one per thread
	alone      []rowRun      // of dst, by thread

	kept []float32 // panels of weights that do not change; nil: each call packs its own

	// The call in progress.
	dst, src, w, bias []float32
	flags             int
	panels, biasPanel []float32
	source            []float32 // src, or its padded copy
	then              finishing // of rows of dst, if any
}

// gatherShape says what is gathered.
type gatherShape struct {
	taps, depth, width int  // filter taps, channels to sum over, channels to produce
	srcImage, dstImage int  // floats in an image of the source (or its padded copy) and of dst
	flip               bool // weights are [taps reversed][width][depth]: the transposed convolution
	// With a padded copy, a step covers merge neighbouring taps of side neighbouring output pixels, whose
	// sources lie shift pixels apart. The step is as deep as all these taps, and the outputs fill one
	// vector; a pixel's weights for taps of other pixels are zero. Without a copy all three are 1.
	merge, side, shift int
}

// steps returns the number of steps of a full pixel.
func (s *gatherShape) steps() int { return s.taps / s.merge }

// stepPixels returns how many source pixels a step covers.
func (s *gatherShape) stepPixels() int { return s.merge + (s.side-1)*s.shift }

// gatherPart holds the arguments that one thread hands to the inner loops.
type gatherPart struct {
	tile asm.TileArgs
	pack asm.PackArgs
	turn asm.TurnArgs

	wanted [3][]float32 // to fetch: the next panel, what the Finisher of the batch reads
}

// gatherTile is a tile of the table of one image or one group of images.
type gatherTile struct{ at, taps, rows int32 }

// channels returns the number of channels in the block.
func (b *block) channels() int { return (b.vectors-1)*(b.columns/b.vectors) + b.tail }

// block is a run of output channels that are computed together.
type block struct {
	first   int // first channel
	vectors int
	columns int // of its panel: its channels, rounded up to whole vectors
	tail    int // lanes of the last vector that are channels
	at      int // columns of the panels before its own
}

// cutBlocks cuts width channels into blocks as wide as the tiles allow.
func cutBlocks(o *asm.GemmOps, width int) (list []block, columns int) {
	return appendBlocks(o, nil, width)
}

// appendBlocks is cutBlocks into a list that may have room.
func appendBlocks(o *asm.GemmOps, list []block, width int) (_ []block, columns int) {
	for first := 0; first < width; {
		need := (width - first + o.Lanes - 1) / o.Lanes
		for _, v := range o.Widths {
			if v <= need {
				channels := min(v*o.Lanes, width-first)
				list = append(list, block{first: first, vectors: v, columns: v * o.Lanes,
					tail: channels - (v-1)*o.Lanes, at: columns})
				first += channels
				columns += v * o.Lanes
				break
			}
		}
	}
	return list, columns
}

// Note: sizes of blocks (docs/design/0047)
//
// panelRows bounds the rows of a panel that is multiplied in one go (taps x channels of a chunk): at
// 64 columns 512 rows are 128 KiB, so panel, pixels and sums of a pass share a 1 MiB second-level
// cache, and no sum runs over more than 512 terms (docs/design/0002). batchFloats bounds the floats
// of the source and of dst that a batch reads and writes. Changing panelRows changes results.
//
// Panels of more than nearFloats together (256 KiB) leave the second-level cache between passes. So a batch
// then has panelTiles tiles at least, which fetch the next panel while they multiply this one: a tile
// fetches TileRows floats for a row of a panel, so eleven fetch one of 64 columns, and the rest what a
// Finisher reads.
const (
	panelRows   = 512
	batchFloats = 64 << 10
	nearFloats  = 64 << 10
	panelTiles  = 16
)

// positionPixels is the largest map that is tiled by position; larger ones have few padded taps. Changing it
// changes results (docs/design/0047).
const positionPixels = 64

// chunkOf returns the number of channels in a chunk for a sum over taps x depth.
func chunkOf(taps, depth int) int {
	if taps*depth <= panelRows {
		return depth
	}
	most := max(16, panelRows/taps&^15)
	chunks := (depth + most - 1) / most
	return ((depth+chunks-1)/chunks + 15) &^ 15
}

// newGather plans a gather over images.
func newGather(c *CPU, images int, s gatherShape, pad *padder, m mapping) *gather {
	g := &gather{cpu: c, images: images, shape: s, pad: pad, chunk: s.depth}
	g.blocks, g.columns = cutBlocks(&c.ops.Gemm, s.side*s.width)
	if pad == nil {
		g.chunk = chunkOf(s.taps, s.depth)
	}
	g.alone = make([]rowRun, c.Threads())
	zero := make([]float32, max(g.chunk, g.blocks[0].columns))
	for range c.Threads() {
		g.parts = append(g.parts, &gatherPart{tile: asm.TileArgs{Zero: zero}})
	}
	g.tabulate(m)
	return g
}

// mapping says where the pixels of a destination map come from.
type mapping struct {
	// pixels lists the destination pixels of one image (the first of each side by side) in phases
	// with the same taps.
	pixels [][]int
	from   func(pixel, step int) int // float offset in the source image, -1 for padding
}

// tabulate builds the table for a destination map.
func (g *gather) tabulate(m mapping) {
	count := 0
	for _, phase := range m.pixels {
		count += len(phase)
	}
	g.byPosition = count == 1 || count <= positionPixels && g.images >= asm.TileRows
	step := asm.TileRows
	if g.byPosition {
		step = 1
	}
	for _, phase := range m.pixels {
		for len(phase) > 0 {
			n := min(step, asm.TileHeight(len(phase)))
			g.addTile(phase[:n], m)
			phase = phase[n:]
		}
	}
	g.batch = max(1, batchFloats/(asm.TileRows*(g.chunk*g.shape.stepPixels()+g.shape.width)))
	if g.rows()*g.columns > nearFloats {
		g.batch = max(g.batch, panelTiles)
	}
	if g.byPosition { // whole groups, whose tiles share their pixels
		g.batch = max(1, g.batch/len(g.tiles)) * len(g.tiles)
	}
}

// addTile appends the tile of the given pixels (one, if byPosition), without the taps for which none of
// them has a source.
func (g *gather) addTile(pixels []int, m mapping) {
	s := g.shape
	t := gatherTile{at: int32(len(g.table)), rows: int32(len(pixels))}
	offset := func(list []int, i, image int, f func(int) int) int32 {
		if g.byPosition {
			if at := f(list[0]); at >= 0 {
				return int32(at + i*image)
			}
		} else if i < len(list) {
			return int32(f(list[i]))
		}
		return -1
	}
	for i := range asm.TileRows {
		out := offset(pixels, i, s.dstImage, func(p int) int { return p * s.width })
		g.table = append(g.table, max(out, 0))
	}
	for tap := range s.steps() {
		row := []int32{int32(tap)}
		most := int32(-1)
		for i := range asm.TileRows {
			from := offset(pixels, i, s.srcImage, func(p int) int { return m.from(p, tap) })
			row, most = append(row, from), max(most, from)
		}
		if most >= 0 {
			g.table = append(g.table, row...)
			t.taps++
		}
	}
	if g.byPosition {
		t.rows = asm.TileRows
	}
	g.tiles = append(g.tiles, t)
}

// rows returns the rows of a panel that holds all chunks.
func (g *gather) rows() int { return g.shape.steps() * g.shape.stepPixels() * g.shape.depth }

// scratchFloats returns the floats that panels, bias and padded copy take.
func (g *gather) scratchFloats() int {
	n := (g.rows() + 1) * g.columns
	if g.pad != nil {
		n += g.images * g.shape.srcImage
	}
	return n
}

func (g *gather) resize(images int) { g.images = images }

func (g *gather) run(dst, src, w, bias []float32, flags int, then finishing, scratch []float32) {
	g.dst, g.src, g.w, g.bias, g.flags, g.then = dst, src, w, bias, flags, then
	rows := g.rows()
	g.panels = take(&scratch, rows*g.columns)
	if g.kept != nil {
		g.panels = g.kept
	}
	g.biasPanel, scratch = scratch[:g.columns], scratch[g.columns:]
	g.source = src
	if g.pad != nil {
		g.source = scratch[:g.images*g.shape.srcImage]
	}
	prepared := g.scratchFloats()
	if g.kept != nil {
		prepared -= len(g.kept)
	}
	g.cpu.Share((*gatherPrepare)(g), prepared)
	clear(g.alone)
	g.then.alone = g.alone
	switch {
	case g.cpu.isSmall(g.items() * asm.TileRows * g.rows() * g.columns):
		g.cpu.Alone((*gatherCompute)(g))
	case g.sharesBlocks():
		g.cpu.Run((*gatherCompute)(g))
	default:
		g.cpu.RunParts((*gatherCompute)(g), g.cpu.PartsOf(g.items(), g.batch))
	}
	g.cpu.finish(g.then)
	g.dst, g.src, g.w, g.bias, g.source, g.then = nil, nil, nil, nil, nil, finishing{}
}

// gatherPrepare packs the weights and pads the source.
type gatherPrepare gather

// Do does a part of the preparation.
func (t *gatherPrepare) Do(thread, part, parts int) {
	g := (*gather)(t)
	if part == 0 {
		clear(g.biasPanel)
		for j := range g.shape.side { // all blocks but the last are full
			copy(g.biasPanel[j*g.shape.width:], g.bias)
		}
	}
	if g.pad != nil {
		lo, hi := compute.Span(g.images, part, parts)
		g.pad.run(g.source, g.src, lo, hi)
	}
	if g.kept == nil {
		(*gatherPanels)(g).Do(thread, part, parts)
	}
}

// gatherPanels packs the weights.
type gatherPanels gather

// Do packs a part of the weights.
func (t *gatherPanels) Do(thread, part, parts int) {
	if g := (*gather)(t); g.shape.side == 1 {
		g.packWeights(thread, part, parts)
	} else if part == 0 {
		g.packSides()
	}
}

// packWeights fills the panels, [chunk][block][tap][channel][column].
func (g *gather) packWeights(thread, part, parts int) {
	s, o := &g.shape, &g.cpu.ops.Gemm
	chunks := (s.depth + g.chunk - 1) / g.chunk
	lo, hi := compute.Span(chunks*len(g.blocks)*s.taps, part, parts)
	for u := lo; u < hi; u++ {
		tap, b, first := u%s.taps, u/s.taps%len(g.blocks), u/s.taps/len(g.blocks)*g.chunk
		n := min(g.chunk, s.depth-first)
		panel := g.panel(first, b)[tap*n*g.blocks[b].columns:]
		if s.flip {
			from := ((s.taps-1-tap)*s.width+g.blocks[b].first)*s.depth + first
			turnBlock(&g.parts[thread].turn, o, panel, g.w[from:], n, s.depth, &g.blocks[b])
		} else {
			from := (tap*s.depth+first)*s.width + g.blocks[b].first
			packBlock(&g.parts[thread].pack, o, panel, g.w[from:], n, s.width, &g.blocks[b])
		}
	}
}

// packSides fills the one panel of pixels side by side: [step][source pixel][channel][pixel, output].
// It is small, as few outputs fit a vector.
func (g *gather) packSides() {
	s := &g.shape
	clear(g.panels)
	column, row := 1, s.width // distances in w of the next output and the next channel
	if s.flip {
		column, row = s.depth, 1
	}
	for tap := range s.taps {
		from := g.w[tap*s.depth*s.width:]
		if s.flip {
			from = g.w[(s.taps-1-tap)*s.depth*s.width:]
		}
		for j := range s.side {
			at := tap/s.merge*s.stepPixels() + tap%s.merge + j*s.shift
			for d := range s.depth {
				out := g.panels[(at*s.depth+d)*g.columns+j*s.width:][:s.width]
				for k := range out {
					out[k] = from[d*row+k*column]
				}
			}
		}
	}
}

// panel returns the panel of block b for the chunk that starts at channel first.
func (g *gather) panel(first, b int) []float32 {
	n := min(g.chunk, g.shape.depth-first)
	return g.panels[g.shape.taps*(first*g.columns+n*g.blocks[b].at):]
}

// nextPanel returns the panel that is multiplied after that of block b and the chunk at first, or nil if
// all panels stay in the second-level cache.
func (g *gather) nextPanel(b, first int, blocks [2]int) []float32 {
	s := &g.shape
	if g.rows()*g.columns <= nearFloats {
		return nil
	}
	if first += g.chunk; first >= s.depth {
		b, first = b+1, 0
	}
	if b == blocks[1] {
		b = blocks[0]
	}
	rows := s.steps() * s.stepPixels() * min(g.chunk, s.depth-first)
	return g.panel(first, b)[:rows*g.blocks[b].columns]
}

// gatherCompute multiplies.
type gatherCompute gather

// Do does a part of the multiplication: some blocks of channels if there is more weight than pixel data,
// else some items.
func (t *gatherCompute) Do(thread, part, parts int) {
	g := (*gather)(t)
	p := g.parts[thread]
	p.wanted = [3][]float32{}
	lo, end, blocks, batch := 0, g.items(), [2]int{0, len(g.blocks)}, g.batch
	if g.hasHeavyWeights() {
		batch = end // so that each panel comes from memory once
	}
	finishes := false
	if parts > 1 && g.sharesBlocks() {
		blocks[0], blocks[1] = compute.Span(len(g.blocks), part, parts)
	} else {
		lo, end = compute.Span(end, part, parts)
		owns, isFirst := g.cpu.Owns(thread, part, parts)
		if isFirst {
			g.alone[thread] = startsAt(g.rowsBefore(g.wholeGroup(lo)))
		}
		finishes = owns && g.then.then != nil
	}
	for lo < end {
		hi := min(lo+batch, end)
		if finishes {
			reads := g.then.reads.piece(g.rowsBefore(lo), g.rowsBefore(hi), g.shape.width)
			copy(p.wanted[1:], reads[:])
		}
		for b := blocks[0]; b < blocks[1]; b++ {
			for first := 0; first < g.shape.depth; first += g.chunk {
				p.wanted[0] = g.nextPanel(b, first, blocks)
				g.pass(p, b, first, lo, hi)
			}
		}
		if finishes {
			g.then.advance(thread, &g.alone[thread], g.rowsBefore(lo), g.rowsBefore(hi))
		}
		lo = hi
	}
}

// sharesBlocks reports whether threads share the blocks of channels.
func (g *gather) sharesBlocks() bool {
	threads := g.cpu.Threads()
	return threads > 1 && len(g.blocks) >= threads && g.hasHeavyWeights()
}

// hasHeavyWeights reports whether there is more weight than pixel data.
func (g *gather) hasHeavyWeights() bool {
	s := &g.shape
	return s.taps*s.depth*s.width > g.images*(s.srcImage+s.dstImage)
}

// wholeGroup returns the first item from i on that starts a group, or i if rows of dst do not wait
// for each other.
func (g *gather) wholeGroup(i int) int {
	if !g.byPosition {
		return i
	}
	return (i + len(g.tiles) - 1) / len(g.tiles) * len(g.tiles)
}

// rowsBefore returns how many of the first rows of dst items [0, i) complete, for pixels in order.
func (g *gather) rowsBefore(i int) int {
	if i >= g.items() {
		return g.then.rows
	}
	image, _ := g.group(i / len(g.tiles))
	row := image * g.shape.dstImage / g.shape.width
	if !g.byPosition {
		row += int(g.table[g.tiles[i%len(g.tiles)].at]) / g.shape.width
	}
	return row
}

// items returns the number of tiles to compute: each of a group's tiles for each group.
func (g *gather) items() int {
	if !g.byPosition {
		return g.images * len(g.tiles)
	}
	rest := [asm.TileRows]int{0, 1, 1, 2, 1, 2} // groups of 4, 2 and 1
	return (g.images/asm.TileRows + rest[g.images%asm.TileRows]) * len(g.tiles)
}

// group returns the first image of a group and how many rows its tiles have at most.
func (g *gather) group(i int) (image, rows int) {
	if !g.byPosition {
		return i, asm.TileRows
	}
	full := g.images / asm.TileRows
	if i < full {
		return i * asm.TileRows, asm.TileRows
	}
	image = full * asm.TileRows
	for ; i > full; i-- {
		image += asm.TileHeight(g.images - image)
	}
	return image, asm.TileHeight(g.images - image)
}

// pass computes items [lo, hi) for block b and the chunk of channels that starts at first.
func (g *gather) pass(p *gatherPart, b, first, lo, hi int) {
	a, s, k := &p.tile, &g.shape, &g.blocks[b]
	n := min(g.chunk, s.depth-first)
	a.Depth = n * s.stepPixels()
	a.Weights, a.TapStride = g.panel(first, b), a.Depth*k.columns
	a.Bias, a.Tail, a.Flags = g.biasPanel[k.at:], k.tail, g.flags
	if first > 0 {
		a.Flags |= asm.TileAdd
		a.Bias = a.Zero
	}
	if first+n < s.depth {
		a.Flags &^= asm.TileReLU
	}
	// The first block meets rows that are not in the cache yet, and where they lie one behind the other
	// the processor loses track of six streams in a page.
	fetches := b == 0 && s.srcImage == s.depth
	a.AheadMask = aheadMask(s.steps() * a.Depth)
	group, t := lo/len(g.tiles), lo%len(g.tiles)
	for i := lo; i < hi; group, t = group+1, 0 {
		image, rows := g.group(group)
		a.Src = g.source[image*s.srcImage+first:]
		a.Dst = g.dst[image*s.dstImage+k.first:]
		for ; t < len(g.tiles) && i < hi; t, i = t+1, i+1 {
			tile := &g.tiles[t]
			a.Table = g.table[tile.at:]
			a.Taps = int(tile.taps)
			a.Rows = min(rows, int(tile.rows))
			if fetches { // the next tile's
				a.Fetch = a.Src[min(asm.TileRows*s.depth, len(a.Src)-1):]
			} else {
				a.Fetch = fetchNext(p.wanted[:], asm.TileRows*a.Depth, a.Src)
			}
			g.lookAhead(a, t)
			g.cpu.ops.Gemm.Tile[a.Rows][k.vectors](a)
		}
	}
}

// lookAhead makes tile t prefetch the output of the next tile: the next of the same image or group, or the
// first of the next image or group.
func (g *gather) lookAhead(a *asm.TileArgs, t int) {
	at := 0
	if t++; t == len(g.tiles) {
		t, at = 0, g.shape.dstImage
		if g.byPosition {
			at *= asm.TileRows
		}
	}
	out := g.table[g.tiles[t].at:]
	a.Ahead = a.Dst[min(at+int(out[0]), len(a.Dst)):]
	a.AheadStride = 4 * int(out[1]-out[0])
}

// aheadMask returns the mask that spreads the next tile's rows over the terms of a sum: memory then has a
// tile's time to deliver them, where a burst would delay the loads of the panel. If terms is the depth of
// one tap, all TileRows rows are prefetched, and up to as many more in vain.
func aheadMask(terms int) int {
	every := 4
	for 2*every*asm.TileRows <= terms {
		every *= 2
	}
	return 4 * (every - 4)
}
