package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// winogradWeights computes the gradient of the weights as the exact adjoint of the forward direction,
//
//	dw[c, k] = G' (sum over tiles of (B' x[tile, c] B) * (A dy[tile, k] A')) G
//
// Order of the sum: the tiles are cut into strips and these into parcels, by the shape alone. Each
// parcel is summed in order from zero, the parcels of a strip are added in order, and so are the strips;
// the parcels of a single strip are transformed before they are added.
type winogradWeights struct {
	cpu        *CPU
	tiledInput     // x
	width      int // channels of dy
	// With several strips, each thread sums some of them for all channels. With one, threads share its
	// parcels: each transforms some tiles, then goes through pairs of a chunk of x's channels and a
	// group of blocks of dy's, whose sums never leave the second-level cache; through pieces of them where
	// there are fewer pairs than threads.
	strips int
	parcel int // tiles
	pieces int // runs of a chunk's channels
	groups [][]block
	dy     points  // of a group, [block][parcel][column]
	sums   points  // of a chunk and a group, [channel][channel of dy]
	pairs  []int32 // of the tiles of a parcel
	parts  []*winogradPart

	// The call in progress.
	dwOut, xIn, dyIn []float32
	stripSums        []float32
	lo, hi           int // the shared parcel
}

// Note: strips and parcels of tiles
//
// A strip is a unit of work for a thread. Each strip needs sums of its own, so there are several only if
// there are many more tiles than filters, and then at least leastStrips, which threads can share. At stride 2
// both tiles and sums have more points: fewer tiles make a strip, and more strips than needed cost more than
// they save. With several strips, a parcel fits the second-level cache together with some of the sums; with
// one, it is as large as memory allows. Changing these numbers changes results.
const (
	leastStrips  = 4
	sharedParcel = 512
)

// stripLimits says how many strips there are at most, of how many tiles at least, and how many floats their
// sums have at most in all.
type stripLimits struct{ strips, tiles, floats int }

var (
	unitStrips    = stripLimits{8, 256, 8 * 36 * 64 * 256}
	stridedStrips = stripLimits{leastStrips, 128, leastStrips * 81 * 128 * 128}
)

// leastPiece is about the least number of channels of a piece: fewer do not pay for reading dy
// (docs/design/0047).
const leastPiece = 4 * asm.TileRows

// newWinogradWeights plans the gradient of the weights of the convolution s.
func newWinogradWeights(c *CPU, f *winogradForm, s ConvShape) *winogradWeights {
	input := tiledInput{tiling: newTiling(s.N, s.in(), s.out(), f), depth: s.C}
	o := &winogradWeights{cpu: c, tiledInput: input, width: s.K}
	blocks, _ := cutBlocks(&c.ops.Gemm, s.K)
	if o.strips = o.mostStrips(); o.strips >= leastStrips {
		o.chunk, o.groups = s.C, [][]block{blocks}
		o.parcel = min((o.tiles+o.strips-1)/o.strips, winogradBatch(s.C, s.K))
	} else {
		o.strips, o.chunk, o.groups = 1, min(s.C, sharedChannels), groupBlocks(blocks)
		o.parcel = min(o.tiles, sharedParcel)
	}
	pairs := o.chunks() * len(o.groups)
	o.pieces = min((c.Threads()+pairs-1)/pairs, (o.chunk+leastPiece-1)/leastPiece)
	channels := groupChannels(o.groups[0])
	o.sources = o.matrices(o.parcel * (o.chunk + asm.LineFloats))
	o.dy, o.sums = o.matrices(o.parcel*groupColumns(o.groups[0])), o.matrices(o.chunk*channels)
	for i := range o.parcel {
		o.pairs = append(o.pairs, int32(i*(o.chunk+asm.LineFloats)), int32(i))
	}
	for range c.Threads() {
		o.parts = append(o.parts, newWinogradPart(max(s.C, s.K)))
	}
	return o
}

// mostStrips returns how many strips the limits allow.
func (o *winogradWeights) mostStrips() int {
	most := unitStrips
	if o.WinogradForm == asm.WinogradStrided {
		most = stridedStrips
	}
	return min(most.strips, o.tiles/most.tiles, most.floats/(o.Points()*o.depth*o.width))
}

// sizes returns the floats of x and dy, how many parcels are in progress at a time, and how many sums.
func (o *winogradWeights) sizes() (x, dy, numParcels, numSums int) {
	x, dy = o.chunks()*o.sources.floats, len(o.groups)*o.dy.floats
	if o.strips > 1 {
		return x, dy, len(o.parts), o.strips
	}
	return x, dy, 1, len(o.parts)
}

// scratchFloats returns the floats that a call needs.
func (o *winogradWeights) scratchFloats() int {
	x, dy, numParcels, numSums := o.sizes()
	return numParcels*(x+dy) + numSums*o.sums.floats
}

func (o *winogradWeights) run(dw, x, dy, scratch []float32) {
	o.dwOut, o.xIn, o.dyIn = dw, x, dy
	xFloats, dyFloats, numParcels, numSums := o.sizes()
	o.stripSums = take(&scratch, numSums*o.sums.floats)
	var sources, grads []float32
	for i, p := range o.parts {
		if i < numParcels {
			sources, grads = take(&scratch, xFloats), take(&scratch, dyFloats)
			clearPadding(grads, o.groups[len(o.groups)-1])
		}
		p.sources, p.grads = sources, grads
	}
	if o.strips > 1 {
		o.cpu.Run((*winogradStrips)(o))
		o.cpu.Run((*winogradStripSums)(o))
	} else {
		for o.lo = 0; o.lo < o.tiles; o.lo = o.hi {
			o.hi = min(o.lo+o.parcel, o.tiles)
			o.cpu.Run((*winogradParcel)(o))
			o.cpu.Run((*winogradPairs)(o))
		}
	}
	o.dwOut, o.xIn, o.dyIn, o.stripSums = nil, nil, nil, nil
}

// winogradStrips sums the points of every strip.
type winogradStrips winogradWeights

// Do sums some strips.
func (t *winogradStrips) Do(thread, part, parts int) {
	o, p := (*winogradWeights)(t), t.parts[thread]
	first, last := compute.Span(o.strips, part, parts)
	for strip := first; strip < last; strip++ {
		sums := o.stripSums[strip*o.sums.floats:]
		from, to := compute.Span(o.tiles, strip, o.strips)
		for lo := from; lo < to; lo += o.parcel {
			n := min(o.parcel, to-lo)
			o.transform(p, lo, 0, n)
			next := min(lo+n+o.parcel, to)
			p.wanted[2], p.wanted[3] = o.pixels(o.xIn, lo+n, next), o.pixels(o.dyIn, lo+n, next)
			o.multiply(p, sums, 0, 0, [2]int{0, o.depth}, n, lo > from)
		}
	}
}

// winogradStripSums adds the strips up and transforms their sums.
type winogradStripSums winogradWeights

// stripPairs is how many pairs of channels are added and transformed in one call, so that it stays short.
const stripPairs = 1024

// Do transforms some filters.
func (t *winogradStripSums) Do(thread, part, parts int) {
	o, a := (*winogradWeights)(t), &t.parts[thread].transform
	pairs := o.depth * o.width
	a.Stride, a.TapStride, a.FetchStride, a.Flags = o.sums.stride, pairs, aheadFilters*o.width, 0
	lo, hi := compute.Span(pairs/asm.WinogradChannels, part, parts)
	for at := lo * asm.WinogradChannels; at < hi*asm.WinogradChannels; at += a.Width {
		a.Width = min(stripPairs, hi*asm.WinogradChannels-at)
		for strip := 1; strip < o.strips; strip++ {
			for point := range o.Points() {
				from := point*o.sums.stride + at
				sum := o.stripSums[from:][:a.Width]
				o.cpu.ops.Element.Add(sum, sum, o.stripSums[strip*o.sums.floats+from:][:a.Width])
			}
		}
		a.Src, a.Dst = o.stripSums[at:], o.dwOut[at:]
		o.FilterGrad(a)
	}
}

// winogradParcel transforms the shared parcel.
type winogradParcel winogradWeights

// Do transforms some tiles.
func (t *winogradParcel) Do(thread, part, parts int) {
	lo, hi := compute.Span(t.hi-t.lo, part, parts)
	(*winogradWeights)(t).transform(t.parts[thread], t.lo, lo, hi)
}

// winogradPairs sums the shared parcel and transforms the sums.
type winogradPairs winogradWeights

// Do computes the filters of some pieces of chunks and groups.
func (t *winogradPairs) Do(thread, part, parts int) {
	o, p := (*winogradWeights)(t), t.parts[thread]
	a, sums := &p.transform, o.stripSums[thread*o.sums.floats:]
	lo, hi := compute.Span(o.chunks()*len(o.groups)*o.pieces, part, parts)
	for u := lo; u < hi; u++ {
		group, chunk := u/o.pieces/o.chunks(), u/o.pieces%o.chunks()
		channels := o.piece(chunk, u%o.pieces)
		o.multiply(p, sums, chunk, group, channels, t.hi-t.lo, false)
		first := o.groups[group][0].first
		a.Stride, a.TapStride, a.FetchStride = o.sums.stride, o.depth*o.width, aheadFilters*o.width
		a.Width, a.Flags = groupChannels(o.groups[group]), addFlag(t.lo > 0)
		for c := channels[0]; c < channels[1]; c++ {
			a.Src, a.Dst = sums[c*a.Width:], o.dwOut[(chunk*o.chunk+c)*o.width+first:]
			o.FilterGrad(a)
		}
	}
}

// piece returns the channels of a piece of a chunk, counted from the chunk's first, whole tiles but for the
// last.
func (o *winogradWeights) piece(chunk, piece int) (channels [2]int) {
	all := min(o.chunk, o.depth-chunk*o.chunk)
	lo, hi := compute.Span((all+asm.TileRows-1)/asm.TileRows, piece, o.pieces)
	return [2]int{lo * asm.TileRows, min(hi*asm.TileRows, all)}
}

// transform transforms x and dy of tiles [lo, hi) of the parcel that starts at tile first.
func (o *winogradWeights) transform(p *winogradPart, first, lo, hi int) {
	o.transformSources(p, o.xIn, first, lo, hi)
	a := &p.transform
	a.Stride = o.dy.stride
	for i, group := range o.groups {
		grads := p.grads[i*o.dy.floats:]
		for tile := lo; tile < hi; tile++ {
			table, dy := o.output(o.dyIn, first+tile)
			a.Table = table
			for j := range group {
				b := &group[j]
				a.Src, a.Width = dy[b.first:], b.channels()
				a.Dst = grads[(b.first-group[0].first)*o.parcel+tile*b.columns:]
				o.OutputGrad(a)
			}
		}
	}
}

// multiply sums n tiles for some channels of a chunk and a group, or adds them to sums.
func (o *winogradWeights) multiply(p *winogradPart, sums []float32, chunk, group int, channels [2]int, n int,
	add bool) {
	a, blocks := &p.outer, o.groups[group]
	a.Pairs, a.Flags = o.pairs[:2*n], addFlag(add)
	a.Stride, a.FetchStride = groupChannels(blocks), lineBytes
	x, dy := p.sources[chunk*o.sources.floats:], p.grads[group*o.dy.floats:]
	for point := range o.Points() {
		next := min(point+1, o.Points()-1)
		for j := range blocks {
			b := &blocks[j]
			at := b.first - blocks[0].first
			a.B, a.BStride, a.Tail = dy[point*o.dy.stride+at*o.parcel:], b.columns, b.tail
			for c := channels[0]; c < channels[1]; c += a.Rows {
				a.Rows = asm.TileHeight(channels[1] - c)
				piece := (c - channels[0]) / asm.TileRows * n * asm.LineFloats
				a.Fetch = fetchNext(p.wanted[:], n*asm.LineFloats, o.operands(x, dy, next, piece))
				a.A, a.Dst = x[point*o.sources.stride+c:], sums[point*o.sums.stride+c*a.Stride+at:]
				o.cpu.ops.Gemm.Outer[a.Rows][b.vectors](a)
			}
		}
	}
}

// operands returns the operands of a point, dy's and then x's, from float number at on.
func (o *winogradWeights) operands(x, dy []float32, point, at int) []float32 {
	if at < o.dy.stride {
		return dy[point*o.dy.stride+at:]
	}
	return x[point*o.sources.stride+min(at-o.dy.stride, o.sources.stride):]
}
