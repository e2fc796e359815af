package kernel

// This file holds the arguments and the portable form of the innermost loop of lanewise; asmgen reads
// the struct to find its fields from assembly.

// laneArgs describes one tile of a convolution with an image in each lane,
//
//	dst[i, k, lane] = bias[k] + sum_t sum_d src[t*tapStride + i*stride + d*lanes + lane] * weights[t, d, k]
//
// for i < pixels and k < channels. The sum is taken in the order written, t outermost.
type laneArgs struct {
	src []float32
	// taps is the number of t, depth the number of d.
	taps, depth int
	// Rows of taps and neighbouring pixels in src are so many floats apart.
	tapStride, stride int
	// weights and bias start at the first of the channels; width of them, as many as there are of
	// [lanes] in a pixel of dst, lie between one d and the next.
	weights, bias []float32
	width         int
	dst           []float32
	// flags may be tileReLU.
	flags int
	// pixels and channels are the size of the tile, for the portable form; each assembly tile knows
	// its own.
	pixels, channels int
}

// laneOuterArgs describes tiles of a gradient of weights with an image in each lane,
//
//	dst[d, k, lane] = sum_p sum_q x[p*rowStride + q*stride + d*lanes + lane] * dy[p, q, k, lane]
//
// for d < tiles*depth and k < channels, in the order written; with tileAdd the sum is added to dst.
type laneOuterArgs struct {
	x, dy []float32
	// rows is the number of p, at least 1, pixels the number of q.
	rows, pixels int
	// Rows and neighbouring pixels in x are so many floats apart.
	rowStride, stride int
	// dy and dst start at the first of the channels; there are width of them, [lanes] each, in a pixel of
	// dy, and between one d and the next in dst.
	width int
	dst   []float32
	// flags may be tileAdd.
	flags int
	// tiles is how many there are. depth and channels are the size of each, for the portable form; each
	// assembly tile knows its own.
	tiles, depth, channels int
}

// laneOps holds the tiles of one ISA by pixels or depth, 1, 2 or 4, and channels, 1, 2, 4 or 6.
type laneOps struct {
	lanes int
	most  int // pixels, or depth, of a tile
	tile  [5][tileRows + 1]func(*laneArgs)
	outer [5][tileRows + 1]func(*laneOuterArgs)
}

// plainLane returns the portable tiles.
func plainLane() laneOps {
	o := laneOps{lanes: plainLanes, most: 1}
	for _, channels := range tileHeights() {
		o.tile[1][channels] = lanePlain
		o.outer[1][channels] = laneOuterPlain
	}
	return o
}

// lanePlain is the portable tile. Products are rounded before they are added.
func lanePlain(a *laneArgs) {
	for i := range a.pixels {
		for k := range a.channels {
			b := a.bias[k]
			sum := [plainLanes]float32{b, b, b, b, b, b, b, b}
			for t := range a.taps {
				laneDotPlain(&sum, a.src[t*a.tapStride+i*a.stride:][:a.depth*plainLanes],
					a.weights[t*a.depth*a.width+k:], a.width)
			}
			if a.flags&tileReLU != 0 {
				for j, s := range sum {
					if s < 0 {
						sum[j] = 0
					}
				}
			}
			copy(a.dst[(i*a.width+k)*plainLanes:], sum[:])
		}
	}
}

// laneDotPlain adds the vectors of x, each times a weight, to sum.
func laneDotPlain(sum *[plainLanes]float32, x, w []float32, width int) {
	s0, s1, s2, s3 := sum[0], sum[1], sum[2], sum[3]
	s4, s5, s6, s7 := sum[4], sum[5], sum[6], sum[7]
	for d := 0; len(x) > 0; d += width {
		b, v := w[d], (*[plainLanes]float32)(x)
		s0 += float32(v[0] * b)
		s1 += float32(v[1] * b)
		s2 += float32(v[2] * b)
		s3 += float32(v[3] * b)
		s4 += float32(v[4] * b)
		s5 += float32(v[5] * b)
		s6 += float32(v[6] * b)
		s7 += float32(v[7] * b)
		x = x[plainLanes:]
	}
	*sum = [plainLanes]float32{s0, s1, s2, s3, s4, s5, s6, s7}
}

// laneOuterPlain is the portable form of tiles of a gradient of weights.
func laneOuterPlain(a *laneOuterArgs) {
	for d := range a.tiles * a.depth {
		for k := range a.channels {
			var sum [plainLanes]float32
			for p := range a.rows {
				laneProductsPlain(&sum, a.x[p*a.rowStride+d*plainLanes:],
					a.dy[(p*a.pixels*a.width+k)*plainLanes:], a)
			}
			dst := (*[plainLanes]float32)(a.dst[(d*a.width+k)*plainLanes:])
			for j, s := range sum {
				if a.flags&tileAdd != 0 {
					s = dst[j] + s
				}
				dst[j] = s
			}
		}
	}
}

// laneProductsPlain adds the products of a row of pixels of x and dy to sum.
func laneProductsPlain(sum *[plainLanes]float32, x, dy []float32, a *laneOuterArgs) {
	s0, s1, s2, s3 := sum[0], sum[1], sum[2], sum[3]
	s4, s5, s6, s7 := sum[4], sum[5], sum[6], sum[7]
	for q := range a.pixels {
		v, b := (*[plainLanes]float32)(x[q*a.stride:]), (*[plainLanes]float32)(dy[q*a.width*plainLanes:])
		s0 += float32(v[0] * b[0])
		s1 += float32(v[1] * b[1])
		s2 += float32(v[2] * b[2])
		s3 += float32(v[3] * b[3])
		s4 += float32(v[4] * b[4])
		s5 += float32(v[5] * b[5])
		s6 += float32(v[6] * b[6])
		s7 += float32(v[7] * b[7])
	}
	*sum = [plainLanes]float32{s0, s1, s2, s3, s4, s5, s6, s7}
}
