package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// laneWeights computes the gradient of the weights of a convolution with an image in each lane (the note
// "lanes"),
//
//	dw[r,s,c,k] = sum over n, p, q of x[n, p*Stride+r-Pad, q*Stride+s-Pad, c] dy[n,p,q,k]
//
// Order of the sum, the same for any number of lanes: images are taken 16 at a time, and the rows p of
// these are cut into pieces by the shape. Each of the 16 images has a sum of its own. Within a piece,
// bundles of neighbouring rows are summed from zero, p and q ascending, and the bundles are added in order.
// Then the pieces are added in order, and the 16 sums by halves. Last the sum of the images that leave lanes
// idle is added (numInLanes). Taps above and below the map are left out; those beside it are zeros.
type laneWeights struct {
	laneSource
	few    *outer // computes images that leave lanes idle
	sides  int    // groups of images, one per lane, that are summed as one
	bundle int    // rows of dy that are multiplied while they are in the first-level cache
	parts  []laneWeightsPart

	// The call in progress.
	dw, dy, scratch []float32
}

// laneWeightsPart holds the arguments that one thread hands to the inner loops.
type laneWeightsPart struct {
	tile asm.LaneOuterArgs
	turn asm.TurnArgs
}

const (
	// laneImages is how many images have sums of their own. It, lanePieces and bundleFloats change results.
	laneImages = 16
	// lanePieces is how many pieces there are at most. More would let more threads take part and cost more
	// time to add up.
	lanePieces = 4
	// bundleFloats bounds a bundle of dy of 16 images and the rows of x that one row of the filter meets:
	// 48 KiB.
	bundleFloats = 12 << 10
	// totalValues is how many weights are added up at a time (docs/design/0047).
	totalValues = 64
)

// newLaneWeights plans the gradient for the convolution s, which few computes as well.
func newLaneWeights(c *CPU, s ConvShape, few *outer) *laneWeights {
	l := &laneWeights{laneSource: newLaneSource(c, s), few: few, sides: laneImages / c.ops.Lane.Lanes,
		parts: make([]laneWeightsPart, c.Threads())}
	l.bundle = min(l.band, max(1, bundleFloats/l.sides/(s.Stride*l.row+l.dyRow())))
	return l
}

// dyRow returns the floats of a row of dy of a group of images.
func (l *laneWeights) dyRow() int { return l.shape.OutW() * l.shape.K * l.cpu.ops.Lane.Lanes }

// units returns the number of rows of dy, counted once for 16 images.
func (l *laneWeights) units() int {
	return (l.shape.N + laneImages - 1) / laneImages * l.shape.OutH()
}

// pieces returns the number of pieces.
func (l *laneWeights) pieces() int { return min(l.units(), lanePieces) }

// sideFloats returns the floats of the sums of one side of a piece, [R, S, C, K, lane] and room to turn
// them.
func (l *laneWeights) sideFloats() int {
	s := &l.shape
	return (s.R*s.S*s.C*s.K + asm.TurnLanes) * l.cpu.ops.Lane.Lanes
}

// partFloats returns the floats of scratch of one thread: the copy of x and a bundle of dy, or some
// sums turned.
func (l *laneWeights) partFloats() int {
	return max(l.copyRows()*l.row+l.bundle*l.dyRow(), totalValues*laneImages)
}

// scratchFloats returns the floats that the sums of all pieces and all threads take.
func (l *laneWeights) scratchFloats() int {
	s := &l.shape
	return max(l.few.scratchFloats()+LineUp(s.R*s.S*s.C*s.K),
		lanePieces*l.sides*l.sideFloats()+len(l.parts)*l.partFloats())
}

func (l *laneWeights) resize(images int) {
	l.shape.N = images
	l.few.resize(images)
}

// sums returns the sums of one side of a piece.
func (l *laneWeights) sums(piece, side int) []float32 {
	return l.scratch[(piece*l.sides+side)*l.sideFloats():][:l.sideFloats()]
}

// part returns the scratch of one thread.
func (l *laneWeights) part(i int) []float32 {
	return l.scratch[lanePieces*l.sides*l.sideFloats()+i*l.partFloats():][:l.partFloats()]
}

// run computes dw.
func (l *laneWeights) run(dw, x, dy, scratch []float32) {
	s := &l.shape
	images := s.N
	first := numInLanes(images, laneImages)
	if first == 0 {
		l.few.run(dw, x, dy, scratch)
		return
	}
	s.N = first
	l.sumLanes(dw, x, dy, scratch)
	if rest := images - first; rest > 0 {
		sum, scratch := scratch[:len(dw)], scratch[LineUp(len(dw)):]
		l.few.resize(rest)
		l.few.run(sum, x[first*s.in().numFloats():], dy[first*s.out().numFloats():], scratch)
		l.few.resize(images)
		l.cpu.ops.Element.Add(dw, dw, sum)
	}
	s.N = images
}

// sumLanes computes dw of the images in lanes.
func (l *laneWeights) sumLanes(dw, x, dy, scratch []float32) {
	l.dw, l.x, l.dy, l.scratch = dw, x, dy, scratch
	if l.cpu.isSmall(int(l.shape.FLOPs() / 2)) {
		l.cpu.Alone(l)
	} else {
		l.cpu.Run(l)
	}
	l.cpu.Share((*laneTotal)(l), l.pieces()*l.sides*l.sideFloats())
	l.dw, l.x, l.dy, l.scratch = nil, nil, nil, nil
}

// Do sums some pieces.
func (l *laneWeights) Do(thread, part, parts int) {
	first, last := compute.Span(l.pieces(), part, parts)
	for i := first; i < last; i++ {
		for side := range l.sides {
			l.sum(i, side, thread)
		}
	}
}

// sum computes the sums of one side of a piece.
func (l *laneWeights) sum(piece, side, thread int) {
	a, t, scratch := &l.parts[thread].tile, &l.parts[thread].turn, l.part(thread)
	source, bundle := scratch[:l.copyRows()*l.row], scratch[l.copyRows()*l.row:]
	sums := l.sums(piece, side)
	a.Flags = 0
	lo, hi := compute.Span(l.units(), piece, l.pieces())
	for lo < hi {
		sixteen, first, end := l.nextBand(lo, hi)
		lo += end - first
		group := sixteen*l.sides + side
		if group >= l.groups() {
			continue
		}
		from := l.gather(t, source, group, first, end)
		for p := first; p < end; p += l.bundle {
			n := min(l.bundle, end-p)
			l.gatherBundle(t, bundle, group, p, n)
			l.compute(a, sums, source, bundle, p, n, from)
			a.Flags = asm.TileAdd
		}
	}
	if a.Flags == 0 { // all images are on the other side
		clear(sums)
	}
}

// gatherBundle copies n rows of a group's dy from row p on to dst, [n, OutW, K, lane].
func (l *laneWeights) gatherBundle(t *asm.TurnArgs, dst []float32, group, p, n int) {
	s, lanes := &l.shape, l.cpu.ops.Lane.Lanes
	image, images := l.images(group)
	width, stride := s.OutW()*s.K, s.OutH()*s.OutW()*s.K
	turnBlock(t, &l.cpu.ops.Gemm, dst, l.dy[image*stride+p*width:], n*width, stride,
		&block{vectors: 1, columns: lanes, tail: images})
}

// compute adds the products of a bundle, n rows from row p on, and of a copy that starts at row from to
// sums.
func (l *laneWeights) compute(a *asm.LaneOuterArgs, sums, source, bundle []float32, p, n, from int) {
	s, lanes := &l.shape, l.cpu.ops.Lane.Lanes
	a.Pixels, a.Stride, a.RowStride, a.Width = s.OutW(), s.Stride*s.C*lanes, s.Stride*l.row, s.K
	for r := range s.R {
		lo, hi := p, p+n
		for lo < hi && lo*s.Stride+r < s.Pad {
			lo++
		}
		for lo < hi && (hi-1)*s.Stride+r-s.Pad >= s.H {
			hi--
		}
		if a.Rows = hi - lo; a.Rows > 0 {
			l.multiply(a, sums[r*s.S*s.C*s.K*lanes:], source[(lo*s.Stride+r-s.Pad-from)*l.row:],
				bundle[(lo-p)*l.dyRow():])
		} else if a.Flags&asm.TileAdd == 0 {
			clear(sums[r*s.S*s.C*s.K*lanes:][:s.S*s.C*s.K*lanes])
		}
	}
}

// multiply adds the products of one row of the filter.
func (l *laneWeights) multiply(a *asm.LaneOuterArgs, sums, source, bundle []float32) {
	s, o := &l.shape, &l.cpu.ops.Lane
	for k := 0; k < s.K; k += a.Channels {
		a.Channels = asm.TileHeight(s.K - k)
		a.Dy = bundle[k*o.Lanes:]
		for d := 0; d < s.S*s.C; d += a.Tiles * a.Depth {
			a.Depth = min(o.Most, asm.TileHeight(s.S*s.C-d))
			a.Tiles = (s.S*s.C - d) / a.Depth
			a.X, a.Dst = source[d*o.Lanes:], sums[(d*s.K+k)*o.Lanes:]
			o.Outer[a.Depth][a.Channels](a)
		}
	}
}

// laneTotal adds up the pieces and the images.
type laneTotal laneWeights

// Do adds up those of some weights.
func (t *laneTotal) Do(thread, part, parts int) {
	l := (*laneWeights)(t)
	add, lanes := l.cpu.ops.Element.Add, l.cpu.ops.Lane.Lanes
	lo, hi := compute.Span((len(l.dw)+totalValues-1)/totalValues, part, parts)
	for i := lo; i < hi; i++ {
		dw := l.dw[i*totalValues : min((i+1)*totalValues, len(l.dw))]
		n := (len(dw) + asm.TurnLanes - 1) &^ (asm.TurnLanes - 1)
		turned := l.part(thread)[:laneImages*n]
		for side := range l.sides {
			sums := l.sums(0, side)[i*totalValues*lanes:][:n*lanes]
			for k := 1; k < l.pieces(); k++ {
				add(sums, sums, l.sums(k, side)[i*totalValues*lanes:])
			}
			turnCopy(&l.parts[thread].turn, &l.cpu.ops.Gemm, turned[side*lanes*n:], sums, lanes, n, lanes, n)
		}
		asm.Halve(turned, laneImages, n, add)
		copy(dw, turned)
	}
}
