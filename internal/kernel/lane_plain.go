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

// laneOps holds the tiles of one ISA by pixels and channels: 1, 2, 4 or 6.
type laneOps struct {
	lanes int
	most  int // pixels in a tile
	tile  [5][tileRows + 1]func(*laneArgs)
}

// plainLane returns the portable tiles.
func plainLane() laneOps {
	o := laneOps{lanes: plainLanes, most: 1}
	for _, channels := range tileHeights() {
		o.tile[1][channels] = lanePlain
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
