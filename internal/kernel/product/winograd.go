package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// filterTiles is what transforming a filter costs, in tiles.
const filterTiles = 4

// leastSaved and leastSavedStrided are how many times the products of Winograd's algorithm the direct way
// must take, at stride 1 and at stride 2: transforms and their memory traffic cost half as much again as
// products (docs/design/0004).
const leastSaved, leastSavedStrided = 2, 1.4

// leastChannels is the least number of channels for Winograd's algorithm: fewer do not fill a vector.
const leastChannels = 16

// leastMaps and leastMapChannels are the least numbers of padded maps of 2x2 pixels, and of their channels,
// for Winograd's algorithm.
const leastMaps, leastMapChannels = 16, 64

// winogradForm is one of Winograd's algorithms.
type winogradForm struct {
	asm.WinogradForm
	*asm.WinogradTransforms
	pad int // pixels of padding before the input of the first tile
}

// winogradForms returns how to compute the convolution by Winograd's algorithms, forward and for the gradient
// of the data, or nil if it is computed directly. At stride 1 it is computed by F(4x4, 3x3), at stride 2, in
// float32, by the form for that, if they save enough products. Padded maps of 2x2 pixels, of which
// F(4x4, 3x3) would compute 16 pixels each, have a form that takes 9 products instead of 16.
func (c *CPU) winogradForms(s ConvShape) (forward, data *winogradForm) {
	if c.Math() == compute.Exact || s.R != 3 || s.S != 3 || s.Pad > 2 ||
		s.C%asm.WinogradChannels != 0 || s.K%asm.WinogradChannels != 0 || min(s.C, s.K) < leastChannels {
		return nil, nil
	}
	ops := &c.ops.Winograd
	switch {
	case s.Stride == 2 && s.Pad == 1:
		if c.Math() == compute.Fast && s.saved(asm.WinogradStrided) >= leastSavedStrided {
			return &winogradForm{asm.WinogradStrided, &ops.Strided, 1},
				&winogradForm{asm.WinogradSpread, &ops.Spread, 0}
		}
	case s.Stride > 1:
	case s.H == 2 && s.W == 2 && s.Pad == 1:
		if s.N >= leastMaps && min(s.C, s.K) >= leastMapChannels {
			f := &winogradForm{asm.WinogradMap, &ops.Map, 0}
			return f, f
		}
	case s.saved(asm.WinogradTile) >= leastSaved:
		return &winogradForm{asm.WinogradTile, &ops.Tile, s.Pad},
			&winogradForm{asm.WinogradTile, &ops.Tile, 2 - s.Pad}
	}
	return nil, nil
}

// saved returns how many times the products of a form the direct way takes.
func (s ConvShape) saved(f asm.WinogradForm) float64 {
	tiles := ((s.OutH() + f.Out - 1) / f.Out) * ((s.OutW() + f.Out - 1) / f.Out)
	return float64(s.N*s.direct()) / float64(f.Points()*(s.N*tiles+filterTiles))
}

// direct returns the products that an image takes directly, for each pair of channels.
func (s ConvShape) direct() int {
	p, q := s.OutH(), s.OutW()
	if p*q > positionPixels {
		return s.R * s.S * p * q
	}
	direct := 0 // padded taps are left out
	for i := range s.R * s.S * p * q {
		if s.from(i/(s.R*s.S), i%(s.R*s.S)) >= 0 {
			direct++
		}
	}
	return direct
}

// tiling cuts the output of a convolution into tiles, image after image.
type tiling struct {
	winogradForm
	tiles             int     // in the batch
	each              int     // in an image
	in                []int32 // [each][In*In] float offsets of a tile's input in an image, -1 for padding
	out               []int32 // [each][Out*Out] float offsets of its output, -1 beyond the border
	inImage, outImage int     // floats in an image
}

// plane is the shape of the images on one side of a convolution.
type plane struct{ h, w, channels int }

func (s ConvShape) in() plane  { return plane{s.H, s.W, s.C} }
func (s ConvShape) out() plane { return plane{s.OutH(), s.OutW(), s.K} }

// numFloats returns how many floats an image has.
func (p plane) numFloats() int { return p.h * p.w * p.channels }

// offset returns the floats before a pixel, or -1 if it lies outside.
func (p plane) offset(y, x int) int32 {
	if y < 0 || x < 0 || y >= p.h || x >= p.w {
		return -1
	}
	return int32((y*p.w + x) * p.channels)
}

// newTiling tabulates the tiles of a convolution of n images.
func newTiling(n int, in, out plane, f *winogradForm) tiling {
	t := tiling{winogradForm: *f}
	t.inImage, t.outImage = in.numFloats(), out.numFloats()
	for i := 0; i*f.Out < out.h; i++ {
		for j := 0; j*f.Out < out.w; j++ {
			for k := range f.In * f.In {
				t.in = append(t.in, in.offset(i*f.Step-f.pad+k/f.In, j*f.Step-f.pad+k%f.In))
			}
			for k := range f.Out * f.Out {
				t.out = append(t.out, out.offset(i*f.Out+k/f.Out, j*f.Out+k%f.Out))
			}
			t.each++
		}
	}
	t.tiles = n * t.each
	return t
}

// input makes a transform read the input of tile i in src.
func (t *tiling) input(a *asm.WinogradArgs, src []float32, i int) {
	a.Table = t.in[i%t.each*t.In*t.In:][:t.In*t.In]
	a.Src = src[i/t.each*t.inImage:]
}

// output returns the table of the output of tile i, and that of its image in dst.
func (t *tiling) output(dst []float32, i int) ([]int32, []float32) {
	return t.out[i%t.each*t.Out*t.Out:][:t.Out*t.Out], dst[i/t.each*t.outImage:]
}

// tiledInput is the input of a convolution cut into tiles, and how what they are transformed into lies.
type tiledInput struct {
	tiling
	depth   int    // channels
	chunk   int    // channels of a chunk
	sources points // of a chunk, [tile of a batch][channel and a line]
}

// chunks returns the number of chunks of channels.
func (t *tiledInput) chunks() int { return (t.depth + t.chunk - 1) / t.chunk }

// transformSources transforms tiles [lo, hi) of the batch of src that starts at tile first to p.sources.
func (t *tiledInput) transformSources(p *winogradPart, src []float32, first, lo, hi int) {
	a := &p.transform
	a.Stride = t.sources.stride
	for i := range t.chunks() {
		c := i * t.chunk
		a.Width = min(t.chunk, t.depth-c)
		chunk := p.sources[i*t.sources.floats:]
		for tile := lo; tile < hi; tile++ {
			t.input(a, src, first+tile)
			a.Src, a.Dst = a.Src[c:], chunk[tile*(t.chunk+asm.LineFloats):]
			t.Input(a)
		}
	}
}

// Points, and rows of sources, are followed by a cache line of padding: at distances of powers of two they
// would compete for few sets of the cache.

// winograd is a 3x3 convolution by one of Winograd's algorithms, forward or for the gradient of the data:
// tiles of the source and the filters are transformed into points, multiplied as matrices point by point, and
// transformed back.
//
//	dst[tile] = bias + A' (sum_c (B' src[tile, c] B) * (G w[c] G')) A
//
// Order of the sum: the channels c are cut into chunks by the shape, each is summed in order from zero,
// the chunks' sums are added in order, and then the points by the transform.
type winograd struct {
	cpu        *CPU
	tiledInput      // whose channels are summed over
	width      int  // channels to produce
	turned     bool // weights are [taps reversed][width][depth]: the transposed convolution
	blocks     []block
	// Where tiles outweigh filters, all filters are transformed first, and each thread goes through
	// batches of its own tiles, if sums outweigh sources for a group of blocks at a time, so that the sums
	// stay in the second-level cache. Else, if shared, all tiles are transformed first, and each thread goes
	// through groups of blocks: the filters of a group and a chunk are used while they are in the
	// second-level cache, and never as a whole in memory.
	shared  bool
	streams bool       // filters are fetched before pixels
	batch   int        // tiles that are multiplied at a time
	groups  [][]block  // blocks that are in use at a time
	filters points     // of a chunk, and if shared of a group, [block][channel][column]
	sums    points     // of a group, [block][batch][column]
	tables  [5][]int32 // for tiles of rows, by the vectors of their block
	parts   []*winogradPart
	alone   []rowRun // of dst, by thread

	// The call in progress.
	dst, src, w []float32
	flags       int
	then        finishing // of rows of dst, if any
	biasRow     []float32 // width
}

// points is how equally large matrices lie, one for each point.
type points struct{ floats, stride int }

// matrices returns how matrices of the given number of floats lie.
func (f *winogradForm) matrices(floats int) points {
	stride := floats + asm.LineFloats
	return points{f.Points() * stride, stride}
}

// winogradPart holds what one thread hands to the inner loops. The slices are of the call in progress;
// threads may share them.
type winogradPart struct {
	transform              asm.WinogradArgs
	turn                   asm.TurnArgs
	tile                   asm.TileArgs
	outer                  asm.OuterArgs
	filters, sources, sums []float32
	grads                  []float32 // dy's points
	turnedTaps             []float32
	// To fetch during products: filters, sources, pixels of two maps, those that the Finisher reads.
	wanted [6][]float32
}

// Note: fetching during products
//
// Products leave memory idle, and transforms wait for it. So while a batch is multiplied, the tiles
// prefetch the pixels that transforms will touch next, of the output and of the next batch, and then the
// operands of the next point. Filters that are larger than what a third-level cache gives in time come
// first: each block prefetches the filters of the next block and its part of the next point's sources, then
// pixels.

// streamFloats is the number of floats of filters from which these come first: 8 MiB (docs/design/0047).
const streamFloats = 2 << 20

// pixels returns roughly the pixels of tiles [lo, hi) in the batch of images s.
func (t *tiling) pixels(s []float32, lo, hi int) []float32 {
	return s[lo*len(s)/t.tiles : hi*len(s)/t.tiles]
}

// newWinogradPart returns the arguments of one thread, with as many zeros as pixels have channels.
func newWinogradPart(zeros int) *winogradPart {
	p := &winogradPart{}
	p.transform.Zero = make([]float32, zeros)
	p.transform.Work = Aligned(make([]float32, asm.WinogradWork+asm.LineFloats))
	return p
}

// Note: sizes of Winograd batches
//
// sharedChannels is the channels of a chunk, and of a group, of shared tiles: their filters, and the sums
// of 64 tiles, are 0.6 MB each. Batches have at least winogradTiles tiles and grow with the channels, so
// that larger filters are read less often. Changing these numbers changes results; the sizes of batches
// change the gradient of the weights, whose parcels they are.
const (
	sharedChannels = 64
	winogradTiles  = 24
)

// newWinograd plans the convolution of n images, or with turned the one with the same filters turned round
// and transposed.
func newWinograd(c *CPU, f *winogradForm, n int, in, out plane, turned bool) *winograd {
	depth, width := in.channels, out.channels
	g := &winograd{cpu: c, tiledInput: tiledInput{tiling: newTiling(n, in, out, f), depth: depth},
		width: width, turned: turned}
	g.blocks, _ = cutBlocks(&c.ops.Gemm, width)
	g.shared = depth*width > g.tiles*(depth+width)
	if g.shared {
		g.chunk, g.batch, g.groups = min(depth, sharedChannels), g.tiles, groupBlocks(g.blocks)
		g.filters = g.matrices(g.chunk * groupColumns(g.groups[0]))
	} else {
		g.chunk, g.batch = chunkOf(1, depth), min(g.tiles, winogradBatch(depth, width))
		g.groups = [][]block{g.blocks}
		if width > depth {
			g.groups = groupBlocks(g.blocks)
		}
		g.filters = g.matrices(g.chunk * groupColumns(g.blocks))
		g.streams = g.chunks()*g.filters.floats > streamFloats
	}
	columns := groupColumns(g.groups[0])
	g.sources = g.matrices(g.batch * (g.chunk + asm.LineFloats))
	g.sums = g.matrices(g.batch * columns)
	for _, b := range g.blocks {
		g.tables[b.vectors] = rowTable(b.columns, g.chunk+asm.LineFloats)
	}
	g.alone = make([]rowRun, c.Threads())
	for range c.Threads() {
		p := newWinogradPart(depth)
		p.tile = asm.TileArgs{Bias: make([]float32, g.blocks[0].columns), Taps: 1, Tail: c.ops.Gemm.Lanes}
		g.parts = append(g.parts, p)
	}
	return g
}

// winogradBatch returns how many tiles to transform and multiply at a time.
func winogradBatch(depth, width int) int {
	return max(1, (depth+width)/128) * winogradTiles
}

// groupBlocks cuts blocks into groups of sharedChannels channels; the last may have fewer.
func groupBlocks(blocks []block) (groups [][]block) {
	for first := 0; first < len(blocks); {
		end := first
		for end < len(blocks) && blocks[end].first < blocks[first].first+sharedChannels {
			end++
		}
		groups = append(groups, blocks[first:end])
		first = end
	}
	return groups
}

// groupChannels returns the number of channels in a group.
func groupChannels(group []block) int {
	last := &group[len(group)-1]
	return last.first + last.channels() - group[0].first
}

// groupColumns returns the columns of the blocks of a group, which are its channels or more.
func groupColumns(group []block) int {
	last := &group[len(group)-1]
	return last.first + last.columns - group[0].first
}

// sizes returns the floats of filters, sources and sums, and how many of each a call needs.
func (g *winograd) sizes() (filters, sources, sums, numFilters, numSources, numSums int) {
	filters, sources, sums = g.filters.floats, g.chunks()*g.sources.floats, g.sums.floats
	if g.shared {
		return filters, sources, sums, len(g.parts), 1, len(g.parts)
	}
	return g.chunks() * filters, sources, sums, 1, len(g.parts), len(g.parts)
}

// turnedRows is how many filters are turned at a time, so that a pass reads four cache lines of each that lie
// next to each other (docs/design/0047).
const turnedRows = 4 * asm.LineFloats

// turnedFloats returns the floats of the taps of turnedRows filters of a block.
func (g *winograd) turnedFloats() int {
	if !g.turned {
		return 0
	}
	return 9 * turnedRows * g.blocks[0].columns
}

// scratchFloats returns the floats that a call needs.
func (g *winograd) scratchFloats() int {
	filters, sources, sums, numFilters, numSources, numSums := g.sizes()
	return g.width + len(g.parts)*g.turnedFloats() +
		numFilters*filters + numSources*sources + numSums*sums
}

// take cuts n floats from s.
func take(s *[]float32, n int) []float32 {
	head := (*s)[:n:n]
	*s = (*s)[n:]
	return head
}

func (t *tiling) resize(int) { panic("kernel: conv: Winograd's algorithm is planned for all images") }

func (g *winograd) run(dst, src, w, bias []float32, flags int, then finishing, scratch []float32) {
	g.dst, g.src, g.w, g.flags, g.then = dst, src, w, flags, then
	g.biasRow = take(&scratch, g.width)
	clear(g.biasRow[copy(g.biasRow, bias):])
	filters, sources, sums, numFilters, numSources, _ := g.sizes()
	for i, p := range g.parts {
		p.turnedTaps, p.sums = take(&scratch, g.turnedFloats()), take(&scratch, sums)
		if p.filters = g.parts[0].filters; i < numFilters {
			p.filters = take(&scratch, filters)
			clearPadding(p.filters, g.blocks)
		}
		if p.sources = g.parts[0].sources; i < numSources {
			p.sources = take(&scratch, sources)
		}
	}
	if g.shared {
		g.cpu.Run((*winogradSources)(g))
		g.cpu.Run((*winogradBlocks)(g))
	} else {
		g.then.alone = g.alone
		clear(g.alone)
		g.cpu.Run((*winogradFilters)(g))
		g.cpu.RunParts((*winogradBatches)(g), g.cpu.PartsOf(g.tiles, g.batch))
	}
	g.cpu.finish(g.then)
	g.dst, g.src, g.w, g.then, g.biasRow = nil, nil, nil, finishing{}, nil
}

// clearPadding clears the points of blocks if some have more columns than channels. Transforms do not write
// these columns and their products are not used, but denormal numbers in them would be slow.
func clearPadding(points []float32, blocks []block) {
	if last := &blocks[len(blocks)-1]; last.channels() < last.columns {
		clear(points)
	}
}

// winogradFilters transforms all filters.
type winogradFilters winograd

// Do transforms the filters of some channels.
func (t *winogradFilters) Do(thread, part, parts int) {
	g, p := (*winograd)(t), t.parts[thread]
	lo, hi := compute.Span(LineUp(g.depth)/asm.LineFloats, part, parts)
	for i := range g.chunks() {
		first := i * g.chunk
		g.transformFilters(p, p.filters[i*g.filters.floats:], g.blocks, first,
			max(lo*asm.LineFloats, first), min(hi*asm.LineFloats, first+g.chunk, g.depth))
	}
}

// winogradBatches computes everything but the filters, tiles after tiles.
type winogradBatches winograd

// rowsBefore returns how many of the first rows of dst tiles [0, i) complete: those of whole images.
func (g *winograd) rowsBefore(i int) int { return i / g.each * (g.outImage / g.width) }

// Do computes some tiles, and finishes the blocks of rows that it alone computes.
func (t *winogradBatches) Do(thread, part, parts int) {
	g, p := (*winograd)(t), t.parts[thread]
	lo, hi := compute.Span(g.tiles, part, parts)
	owns, isFirst := g.cpu.Owns(thread, part, parts)
	if isFirst {
		g.alone[thread] = startsAt(g.rowsBefore(lo + g.each - 1))
	}
	for next := lo; lo < hi; lo = next {
		next = min(lo+g.batch, hi)
		g.transformSources(p, g.src, lo, 0, next-lo)
		p.wanted[2], p.wanted[3] = g.pixels(g.dst, lo, next), g.pixels(g.src, next, min(next+g.batch, hi))
		for i, m := range g.then.reads {
			p.wanted[4+i] = g.pixels(m, lo, next)
		}
		for _, group := range g.groups {
			for i := range g.chunks() {
				at := i*g.filters.floats + group[0].first*min(g.chunk, g.depth-i*g.chunk)
				g.multiply(p, p.filters[at:], group, i, next-lo)
			}
			g.transformSums(p, group, lo, next-lo)
		}
		if owns && g.then.then != nil {
			g.then.advance(thread, &g.alone[thread], g.rowsBefore(lo), g.rowsBefore(next))
		}
	}
}

// winogradSources transforms all sources.
type winogradSources winograd

// Do transforms some tiles.
func (t *winogradSources) Do(thread, part, parts int) {
	lo, hi := compute.Span(t.tiles, part, parts)
	t.transformSources(t.parts[thread], t.src, 0, lo, hi)
}

// winogradBlocks computes everything but the sources, group after group.
type winogradBlocks winograd

// Do computes some groups of blocks.
func (t *winogradBlocks) Do(thread, part, parts int) {
	g, p := (*winograd)(t), t.parts[thread]
	lo, hi := compute.Span(len(g.groups), part, parts)
	for _, group := range g.groups[lo:hi] {
		for i := range g.chunks() {
			first := i * g.chunk
			g.transformFilters(p, p.filters, group, first, first, min(first+g.chunk, g.depth))
			g.multiply(p, p.filters, group, i, g.tiles)
		}
		g.transformSums(p, group, 0, g.tiles)
	}
}

// aheadFilters is how many channels later the filters are that a transform fetches: their lines lie so far
// apart that no prefetcher of a processor finds them (docs/design/0047).
const aheadFilters = 8

// transformFilters transforms the filters of channels [lo, hi) of the chunk that starts at channel
// first for the blocks of group.
func (g *winograd) transformFilters(p *winogradPart, dst []float32, group []block, first, lo, hi int) {
	a := &p.transform
	a.Stride = g.filters.stride
	n := min(g.chunk, g.depth-first)
	for j := range group {
		b := &group[j]
		a.Width = b.channels()
		panel := dst[(b.first-group[0].first)*n:]
		for c := lo; c < hi; c += turnedRows {
			rows := min(turnedRows, hi-c)
			src, step := g.w[c*g.width+b.first:], g.width
			a.TapStride, a.FetchStride = g.depth*g.width, aheadFilters*g.width
			if g.turned {
				src, step = p.turnedTaps, b.columns
				a.TapStride, a.FetchStride = turnedRows*b.columns, 0
				g.turnTaps(p, b, c, rows)
			}
			for i := range rows {
				a.Src, a.Dst = src[i*step:], panel[(c-first+i)*b.columns:]
				g.Filter(a)
			}
		}
	}
}

// turnTaps turns the taps of rows channels from c on for block b: [tap][channel][column].
func (g *winograd) turnTaps(p *winogradPart, b *block, c, rows int) {
	for tap := range 9 {
		dst := p.turnedTaps[tap*turnedRows*b.columns:]
		from := ((8-tap)*g.width+b.first)*g.depth + c
		turnBlock(&p.turn, &g.cpu.ops.Gemm, dst, g.w[from:], rows, g.depth, b)
	}
}

// multiply computes the sums over chunk number chunk of n tiles for the blocks of group, or adds them
// to those of the chunks before.
func (g *winograd) multiply(p *winogradPart, filters []float32, group []block, chunk, n int) {
	a := &p.tile
	a.Depth, a.Flags = min(g.chunk, g.depth-chunk*g.chunk), addFlag(chunk > 0)
	sources := p.sources[chunk*g.sources.floats:]
	for point := range g.Points() {
		next := sources[min(point+1, g.Points()-1)*g.sources.stride:]
		for j := range group {
			b := &group[j]
			at := b.first - group[0].first
			a.Weights = filters[point*g.filters.stride+at*a.Depth:]
			a.Table = g.tables[b.vectors]
			a.AheadStride, a.AheadMask = 4*b.columns, aheadMask(a.Depth)
			src, dst := sources[point*g.sources.stride:], p.sums[point*g.sums.stride+at*g.batch:]
			if g.streams {
				p.wanted[0] = g.panelAfter(filters, group, point, j, a.Depth)
				lo, hi := compute.Span(n*(g.chunk+asm.LineFloats), j, len(group))
				p.wanted[1] = next[lo:hi]
			}
			for i := 0; i < n; i += a.Rows {
				a.Rows = asm.TileHeight(n - i)
				a.Src, a.Dst = src[i*(g.chunk+asm.LineFloats):], dst[i*b.columns:]
				a.Fetch = fetchNext(p.wanted[:], asm.TileRows*a.Depth, next[i*(g.chunk+asm.LineFloats):])
				a.Ahead = a.Dst[min(a.Rows*b.columns, len(a.Dst)):]
				g.cpu.ops.Gemm.Tile[a.Rows][b.vectors](a)
			}
		}
	}
}

// panelAfter returns the filters that are used after those of a point and block number j of group, for sums
// over depth channels; none after the last.
func (g *winograd) panelAfter(filters []float32, group []block, point, j, depth int) []float32 {
	if j++; j == len(group) {
		point, j = point+1, 0
	}
	if point == g.Points() {
		return nil
	}
	at := point*g.filters.stride + (group[j].first-group[0].first)*depth
	return filters[at:][:group[j].columns*depth]
}

// transformSums transforms the sums of n tiles from tile first on for the blocks of group.
func (g *winograd) transformSums(p *winogradPart, group []block, first, n int) {
	a := &p.transform
	a.Stride, a.Flags = g.sums.stride, g.flags
	for i := range n {
		table, dst := g.output(g.dst, first+i)
		a.Table = table
		for j := range group {
			b := &group[j]
			a.Src = p.sums[(b.first-group[0].first)*g.batch+i*b.columns:]
			a.Dst, a.Bias, a.Width = dst[b.first:], g.biasRow[b.first:], b.channels()
			g.Output(a)
		}
	}
}

// rowTable returns the table of a tile of rows that lie equally far apart.
func rowTable(out, from int) (table []int32) {
	for i := range asm.TileRows {
		table = append(table, int32(i*out))
	}
	table = append(table, 0) // the one tap
	for i := range asm.TileRows {
		table = append(table, int32(i*from))
	}
	return table
}
