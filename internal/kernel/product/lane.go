package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// Note: lanes.
//
// A few output channels do not fill a vector, but images do. A group is as many images as a vector has
// lanes. Maps are copied so that the same float of all images of a group lies side by side. Each such
// vector is multiplied with one weight, or with another such vector.

// laneSource copies the map that a convolution reads, with the padding beside it, [H, padded W, C, lane].
type laneSource struct {
	cpu   *CPU
	shape ConvShape
	row   int       // floats in a row of the copy
	band  int       // rows of the output that one copy serves
	x     []float32 // [N, H, W, C] of the call in progress
}

// lanewise is one direction of a convolution with an image in each lane,
//
//	y[n,p,q,k] = bias[k] + sum of x[n, p*Stride+r-Pad, q*Stride+s-Pad, c] w[r,s,c,k] over r, s, c
//
// in this order, that of a gather with a padder, so the results are the same to the bit (a sum of nothing
// but zeros may differ in its sign). Taps above and below the map are left out; those beside it are
// zeros.
type lanewise struct {
	laneSource
	few    *gather // computes images that leave lanes idle, and sums that are added
	isBack bool    // weights are [R, S reversed, K, C]
	parts  []lanePart
	zero   []float32 // a bias of zeros

	// The call in progress.
	y, w, bias []float32
	flags      int
	scratch    []float32
}

// lanePart holds the arguments that one thread hands to the inner loops.
type lanePart struct {
	tile asm.LaneArgs
	turn asm.TurnArgs
}

// laneFloats bounds the copy that a thread works from, for each lane: 256 KiB with 16 lanes share the
// second-level cache with weights and results (docs/design/0047).
const laneFloats = 4 << 10

// laneWidth is the largest number of output channels for which images fill vectors better than channels do.
// laneTerms is the least number of products in a sum that pays for copying operands and result. Changing
// either changes results (docs/design/0047).
const (
	laneWidth = 16
	laneTerms = 64
)

// suitsLanes reports whether a convolution with a padder is faster with an image in each lane, if the
// images fill the lanes.
func (s ConvShape) suitsLanes() bool { return s.K <= laneWidth && s.R*s.S*s.C >= laneTerms }

// usesLanes reports whether images are computed so, given their number.
func (c *CPU) usesLanes(s ConvShape) bool {
	return s.suitsLanes() && numInLanes(s.N, c.ops.Lane.Lanes) > 0
}

// numInLanes returns how many of n images are computed in lanes, which are the first ones: all if they leave
// few lanes idle, else those of full groups.
func numInLanes(n, lanes int) int {
	if (n+lanes-1)/lanes*lanes-n <= n/4 {
		return n
	}
	return n / lanes * lanes
}

// newLaneSource plans the copy for the convolution s.
func newLaneSource(c *CPU, s ConvShape) laneSource {
	l := laneSource{cpu: c, shape: s, band: s.OutH()}
	l.row = ((s.OutW()-1)*s.Stride + s.S) * s.C * c.ops.Lane.Lanes
	if rows := max(s.R, laneFloats*c.ops.Lane.Lanes/l.row); rows < s.H {
		l.band = (rows-s.R)/s.Stride + 1
	}
	return l
}

// groups returns the number of groups of images.
func (l *laneSource) groups() int {
	lanes := l.cpu.ops.Lane.Lanes
	return (l.shape.N + lanes - 1) / lanes
}

// images returns the first image of a group and how many there are.
func (l *laneSource) images(group int) (first, n int) {
	lanes := l.cpu.ops.Lane.Lanes
	return group * lanes, min(lanes, l.shape.N-group*lanes)
}

// copyRows returns the most rows of the source that a band needs.
func (l *laneSource) copyRows() int {
	s := &l.shape
	return min(s.H, (l.band-1)*s.Stride+s.R)
}

// nextBand returns the first rows, [first, end) of a group's output, of the units [lo, hi), rows counted
// over all groups: as many as one copy serves.
func (l *laneSource) nextBand(lo, hi int) (group, first, end int) {
	height := l.shape.OutH()
	group, first = lo/height, lo%height
	return group, first, first + min(l.band, height-first, hi-lo)
}

// gather copies the source of rows [first, end) of a group's output to dst and returns the first row of the
// source that it copied.
func (l *laneSource) gather(t *asm.TurnArgs, dst []float32, group, first, end int) int {
	s, lanes := &l.shape, l.cpu.ops.Lane.Lanes
	from := max(0, first*s.Stride-s.Pad)
	to := max(from, min(s.H, (end-1)*s.Stride-s.Pad+s.R))
	image, n := l.images(group)
	left := s.Pad * s.C * lanes
	width := min(s.W*s.C, (l.row-left)/lanes)
	for h := from; h < to; h++ {
		row := dst[(h-from)*l.row:][:l.row]
		clear(row[:left])
		clear(row[left+width*lanes:])
		turnBlock(t, &l.cpu.ops.Gemm, row[left:], l.x[(image*s.H+h)*s.W*s.C:], width, s.H*s.W*s.C,
			&block{vectors: 1, columns: lanes, tail: n})
	}
	return from
}

// newLanewise plans the convolution s that few computes as well, with isBack a transposed one.
func newLanewise(c *CPU, s ConvShape, few *gather, isBack bool) *lanewise {
	return &lanewise{laneSource: newLaneSource(c, s), few: few, isBack: isBack,
		parts: make([]lanePart, c.Threads()), zero: make([]float32, s.K)}
}

// weightFloats returns the floats that turned weights take.
func (l *lanewise) weightFloats() int {
	s := &l.shape
	if !l.isBack {
		return 0
	}
	return LineUp(s.R * s.S * s.C * s.K)
}

// partFloats returns the floats of scratch of one thread: the copy and a row of results.
func (l *lanewise) partFloats() int {
	return l.copyRows()*l.row + l.shape.OutW()*l.shape.K*l.cpu.ops.Lane.Lanes
}

// scratchFloats returns the floats that turned weights and all threads take.
func (l *lanewise) scratchFloats() int {
	return max(l.weightFloats()+len(l.parts)*l.partFloats(), l.few.scratchFloats())
}

func (l *lanewise) resize(images int) {
	l.shape.N = images
	l.few.resize(images)
}

func (l *lanewise) run(y, x, w, bias []float32, flags int, then finishing, scratch []float32) {
	images := l.shape.N
	first := numInLanes(images, l.cpu.ops.Lane.Lanes)
	if flags&asm.TileAdd != 0 || first == 0 {
		l.few.run(y, x, w, bias, flags, then, scratch)
		return
	}
	if rest := images - first; rest > 0 {
		l.few.resize(rest)
		l.few.run(y[first*l.shape.out().numFloats():], x[first*l.shape.in().numFloats():], w, bias, flags,
			finishing{}, scratch)
		l.few.resize(images)
	}
	l.shape.N = first
	l.y, l.x, l.w, l.bias, l.flags = y, x, w, bias, flags
	if bias == nil {
		l.bias = l.zero
	}
	if l.isBack {
		l.w = scratch[:l.weightFloats()]
		l.turnWeights(w)
	}
	l.scratch = scratch[l.weightFloats():]
	if l.cpu.isSmall(int(l.shape.FLOPs() / 2)) {
		l.cpu.Alone(l)
	} else {
		l.cpu.RunParts(l, l.cpu.PartsOf(l.groups(), 1)) // cuts within a group copy rows twice
	}
	l.shape.N = images
	l.cpu.finish(then)
	l.y, l.x, l.w, l.bias, l.scratch = nil, nil, nil, nil, nil
}

// turnWeights copies w, [R, S reversed, K, C], to [R, S, C, K].
func (l *lanewise) turnWeights(w []float32) {
	s := &l.shape
	each := s.C * s.K
	for t := range s.R * s.S {
		from, to := w[(s.R*s.S-1-t)*each:][:each], l.w[t*each:][:each]
		for k := range s.K {
			for c, v := range from[k*s.C:][:s.C] {
				to[c*s.K+k] = v
			}
		}
	}
}

// Do computes some rows of the output, counted over all groups of images.
func (l *lanewise) Do(thread, part, parts int) {
	lo, hi := compute.Span(l.groups()*l.shape.OutH(), part, parts)
	scratch := l.scratch[thread*l.partFloats():][:l.partFloats()]
	source, results := scratch[:l.copyRows()*l.row], scratch[l.copyRows()*l.row:]
	for lo < hi {
		group, first, end := l.nextBand(lo, hi)
		from := l.gather(&l.parts[thread].turn, source, group, first, end)
		for p := first; p < end; p++ {
			l.compute(&l.parts[thread].tile, results, source, p, from)
			l.scatter(&l.parts[thread].turn, results, group, p)
		}
		lo += end - first
	}
}

// compute computes row p of the output, [OutW, K, lane], from a copy that starts at row from.
func (l *lanewise) compute(a *asm.LaneArgs, dst, source []float32, p, from int) {
	s, o := &l.shape, &l.cpu.ops.Lane
	top := p*s.Stride - s.Pad
	r := max(0, -top)
	a.Taps, a.Depth = max(0, min(s.R, s.H-top)-r), s.S*s.C
	a.TapStride, a.Stride = l.row, s.Stride*s.C*o.Lanes
	a.Width, a.Flags = s.K, l.flags
	for q := 0; q < s.OutW(); q += a.Pixels {
		a.Pixels = min(o.Most, asm.TileHeight(s.OutW()-q))
		a.Src = source[min(top+r-from, l.copyRows()-1)*l.row+q*a.Stride:]
		for k := 0; k < s.K; k += a.Channels {
			a.Channels = asm.TileHeight(s.K - k)
			a.Weights, a.Bias = l.w[r*s.S*s.C*s.K+k:], l.bias[k:]
			a.Dst = dst[(q*s.K+k)*o.Lanes:]
			o.Tile[a.Pixels][a.Channels](a)
		}
	}
}

// scatter copies row p of the output, [OutW, K, lane], to each of a group's images.
func (l *lanewise) scatter(t *asm.TurnArgs, src []float32, group, p int) {
	s, lanes := &l.shape, l.cpu.ops.Lane.Lanes
	image, n := l.images(group)
	width, stride := s.OutW()*s.K, s.OutH()*s.OutW()*s.K
	dst := l.y[image*stride+p*width:]
	turnCopy(t, &l.cpu.ops.Gemm, dst, src, n, width, lanes, stride)
}
