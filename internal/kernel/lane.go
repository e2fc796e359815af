package kernel

// lanewise is one direction of a convolution with few output channels. These do not fill vectors, but
// images do: the source is copied so that the same float of as many images as a vector has lanes lies
// side by side, [H, padded W, C, lane], and every product is of such a vector and one weight.
//
//	y[n,p,q,k] = bias[k] + sum of x[n, p*Stride+r-Pad, q*Stride+s-Pad, c] w[r,s,c,k] over r, s, c
//
// in this order, that of a gather with a padder, so the results are the same to the bit (a sum of nothing
// but zeros may differ in its sign). Taps above and below the map are left out; those beside it are
// zeros.
type lanewise struct {
	cpu   *CPU
	shape ConvShape
	flip  bool // weights are [R, S reversed, K, C]: the transposed convolution
	row   int  // floats in a row of the copy
	band  int  // rows of the output that one copy serves
	parts []lanePart
	zero  []float32 // a bias of zeros

	// The call in progress.
	y, x, w, bias []float32
	flags         int
	scratch       []float32
}

// lanePart holds the arguments that one thread hands to the inner loops.
type lanePart struct {
	tile laneArgs
	turn turnArgs
}

// laneFloats bounds the copy that a thread works from: 256 KiB share the second-level cache with weights
// and results.
const laneFloats = 64 << 10

// laneWidth is the largest number of output channels for which images fill vectors better than they do,
// laneTerms the least number of products in a sum that is worth copying its operands and its result.
const (
	laneWidth = 16
	laneTerms = 64
)

// usesLanes reports whether a convolution that a padder serves is computed with an image in each lane.
func (c *CPU) usesLanes(s ConvShape) bool {
	lanes := c.ops.lane.lanes
	idle := (s.N+lanes-1)/lanes*lanes - s.N
	return s.K <= laneWidth && s.R*s.S*s.C >= laneTerms && idle <= s.N/4
}

// newLanewise plans the convolution s.
func newLanewise(c *CPU, s ConvShape, flip bool) *lanewise {
	l := &lanewise{cpu: c, shape: s, flip: flip, parts: make([]lanePart, c.Threads()),
		zero: make([]float32, s.K)}
	l.row = ((s.OutW()-1)*s.Stride + s.S) * s.C * c.ops.lane.lanes
	l.band = s.OutH()
	if rows := max(s.R, laneFloats/l.row); rows < s.H {
		l.band = (rows-s.R)/s.Stride + 1
	}
	return l
}

// copyRows returns the most rows of the source that a band needs.
func (l *lanewise) copyRows() int {
	s := &l.shape
	return min(s.H, (l.band-1)*s.Stride+s.R)
}

// weightFloats returns the floats that turned weights take.
func (l *lanewise) weightFloats() int {
	s := &l.shape
	if !l.flip {
		return 0
	}
	return lineUp(s.R * s.S * s.C * s.K)
}

// partFloats returns the floats of scratch of one thread: the copy and a row of results.
func (l *lanewise) partFloats() int {
	return l.copyRows()*l.row + l.shape.OutW()*l.shape.K*l.cpu.ops.lane.lanes
}

// scratchFloats returns the floats that turned weights and all threads take.
func (l *lanewise) scratchFloats() int { return l.weightFloats() + len(l.parts)*l.partFloats() }

// run computes y. A nil bias counts as zeros.
func (l *lanewise) run(y, x, w, bias []float32, relu bool, then finishing, scratch []float32) {
	l.y, l.x, l.w, l.bias, l.flags = y, x, w, bias, 0
	if relu {
		l.flags = tileReLU
	}
	if bias == nil {
		l.bias = l.zero
	}
	if l.flip {
		l.w = scratch[:l.weightFloats()]
		l.turnWeights(w)
	}
	l.scratch = scratch[l.weightFloats():]
	if l.shape.FLOPs()/2 < int64(l.cpu.ops.gemm.serial) {
		l.Do(0, 1)
	} else {
		l.cpu.Run(l)
	}
	if then.then != nil {
		l.cpu.finish(then.then, then.rows, then.blockRows)
	}
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
func (l *lanewise) Do(part, parts int) {
	s, lanes := &l.shape, l.cpu.ops.lane.lanes
	height := s.OutH()
	lo, hi := span((s.N+lanes-1)/lanes*height, part, parts)
	scratch := l.scratch[part*l.partFloats():][:l.partFloats()]
	source, results := scratch[:l.copyRows()*l.row], scratch[l.copyRows()*l.row:]
	for lo < hi {
		group, first := lo/height, lo%height
		end := first + min(l.band, height-first, hi-lo)
		from := max(0, first*s.Stride-s.Pad)
		to := max(from, min(s.H, (end-1)*s.Stride-s.Pad+s.R))
		l.gather(&l.parts[part].turn, source, group, from, to)
		for p := first; p < end; p++ {
			l.compute(&l.parts[part].tile, results, source, p, from)
			l.scatter(&l.parts[part].turn, results, group, p)
		}
		lo += end - first
	}
}

// images returns the first image of a group and how many there are.
func (l *lanewise) images(group int) (first, n int) {
	lanes := l.cpu.ops.lane.lanes
	return group * lanes, min(lanes, l.shape.N-group*lanes)
}

// gather copies rows [from, to) of a group's images to dst.
func (l *lanewise) gather(t *turnArgs, dst []float32, group, from, to int) {
	s, lanes := &l.shape, l.cpu.ops.lane.lanes
	image, n := l.images(group)
	left := s.Pad * s.C * lanes
	width := min(s.W*s.C, (l.row-left)/lanes)
	for h := from; h < to; h++ {
		row := dst[(h-from)*l.row:][:l.row]
		clear(row[:left])
		clear(row[left+width*lanes:])
		t.run(&l.cpu.ops.gemm, row[left:], l.x[(image*s.H+h)*s.W*s.C:], width, s.H*s.W*s.C,
			&block{vectors: 1, lanes: lanes, tail: n})
	}
}

// compute computes row p of the output, [OutW, K, lane], from a copy that starts at row from.
func (l *lanewise) compute(a *laneArgs, dst, source []float32, p, from int) {
	s, o := &l.shape, &l.cpu.ops.lane
	top := p*s.Stride - s.Pad
	r := max(0, -top)
	a.taps, a.depth = max(0, min(s.R, s.H-top)-r), s.S*s.C
	a.tapStride, a.stride = l.row, s.Stride*s.C*o.lanes
	a.width, a.flags = s.K, l.flags
	for q := 0; q < s.OutW(); q += a.pixels {
		a.pixels = min(o.most, tileHeight(s.OutW()-q))
		a.src = source[min(top+r-from, l.copyRows()-1)*l.row+q*a.stride:]
		for k := 0; k < s.K; k += a.channels {
			a.channels = tileHeight(s.K - k)
			a.weights, a.bias = l.w[r*s.S*s.C*s.K+k:], l.bias[k:]
			a.dst = dst[(q*s.K+k)*o.lanes:]
			o.tile[a.pixels][a.channels](a)
		}
	}
}

// scatter copies row p of the output, [OutW, K, lane], to each of a group's images.
func (l *lanewise) scatter(t *turnArgs, src []float32, group, p int) {
	s, lanes := &l.shape, l.cpu.ops.lane.lanes
	image, n := l.images(group)
	width, stride := s.OutW()*s.K, s.OutH()*s.OutW()*s.K
	dst := l.y[image*stride+p*width:]
	full, even := n&^(turnLanes-1), width&^(turnLanes-1)
	if full > 0 {
		*t = turnArgs{rows: full, stride: lanes, width: stride}
		for j := 0; j < even; j += turnLanes {
			t.dst, t.src = dst[j:], src[j*lanes:]
			l.cpu.ops.gemm.turn(t)
		}
	}
	for i := range n {
		first := 0
		if i < full {
			first = even
		}
		for j := first; j < width; j++ {
			dst[i*stride+j] = src[j*lanes+i]
		}
	}
}
