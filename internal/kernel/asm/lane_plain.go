package asm

// This file holds the arguments and the portable form of the innermost loop of lanewise; asmgen reads
// the struct to find its fields from assembly.

// LaneArgs describes one tile of a convolution with an image in each lane,
//
//	dst[i, k, lane] = bias[k] + sum_t sum_d src[t*TapStride + i*stride + d*lanes + lane] * weights[t, d, k]
//
// for i < pixels and k < channels. The sum is taken in the order written, t outermost.
type LaneArgs struct {
	Src []float32
	// Taps is the number of t, depth the number of d.
	Taps, Depth int
	// Rows of taps and neighbouring pixels in src are so many floats apart.
	TapStride, Stride int
	// Weights and bias start at the first of the channels; width of them, as many as there are of
	// [lanes] in a pixel of dst, lie between one d and the next.
	Weights, Bias []float32
	Width         int
	Dst           []float32
	// Flags may be TileReLU.
	Flags int
	// Pixels and channels are the size of the tile, for the portable form; each assembly tile knows
	// its own.
	Pixels, Channels int
}

// LaneOuterArgs describes tiles of a gradient of weights with an image in each lane,
//
//	dst[d, k, lane] = sum_p sum_q x[p*RowStride + q*stride + d*lanes + lane] * dy[p, q, k, lane]
//
// for d < tiles*depth and k < channels, in the order written; with TileAdd the sum is added to dst.
type LaneOuterArgs struct {
	X, Dy []float32
	// Rows is the number of p, at least 1, pixels the number of q.
	Rows, Pixels int
	// Rows and neighbouring pixels in x are so many floats apart.
	RowStride, Stride int
	// dy and dst start at the first of the channels; there are width of them, [lanes] each, in a pixel of
	// dy, and between one d and the next in dst.
	Width int
	Dst   []float32
	// Flags may be TileAdd.
	Flags int
	// Tiles is how many there are. depth and channels are the size of each, for the portable form; each
	// assembly tile knows its own.
	Tiles, Depth, Channels int
}

// LaneOps holds the tiles of one ISA by pixels or depth, 1, 2 or 4, and channels, 1, 2, 4 or 6.
type LaneOps struct {
	Lanes int
	Most  int // pixels, or depth, of a tile
	Tile  [5][TileRows + 1]func(*LaneArgs)
	Outer [5][TileRows + 1]func(*LaneOuterArgs)
}

// plainLane returns the portable tiles.
func plainLane() LaneOps {
	o := LaneOps{Lanes: plainLanes, Most: 1}
	for _, channels := range TileHeights() {
		o.Tile[1][channels] = lanePlain
		o.Outer[1][channels] = laneOuterPlain
	}
	return o
}

// lanePlain is the portable tile. Products are rounded before they are added.
func lanePlain(a *LaneArgs) {
	for i := range a.Pixels {
		for k := range a.Channels {
			b := a.Bias[k]
			sum := [plainLanes]float32{b, b, b, b, b, b, b, b}
			for t := range a.Taps {
				laneDotPlain(&sum, a.Src[t*a.TapStride+i*a.Stride:][:a.Depth*plainLanes],
					a.Weights[t*a.Depth*a.Width+k:], a.Width)
			}
			if a.Flags&TileReLU != 0 {
				for j, s := range sum {
					if s < 0 {
						sum[j] = 0
					}
				}
			}
			copy(a.Dst[(i*a.Width+k)*plainLanes:], sum[:])
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
func laneOuterPlain(a *LaneOuterArgs) {
	for d := range a.Tiles * a.Depth {
		for k := range a.Channels {
			var sum [plainLanes]float32
			for p := range a.Rows {
				laneProductsPlain(&sum, a.X[p*a.RowStride+d*plainLanes:],
					a.Dy[(p*a.Pixels*a.Width+k)*plainLanes:], a)
			}
			dst := (*[plainLanes]float32)(a.Dst[(d*a.Width+k)*plainLanes:])
			for j, s := range sum {
				if a.Flags&TileAdd != 0 {
					s = dst[j] + s
				}
				dst[j] = s
			}
		}
	}
}

// laneProductsPlain adds the products of a row of pixels of x and dy to sum.
func laneProductsPlain(sum *[plainLanes]float32, x, dy []float32, a *LaneOuterArgs) {
	s0, s1, s2, s3 := sum[0], sum[1], sum[2], sum[3]
	s4, s5, s6, s7 := sum[4], sum[5], sum[6], sum[7]
	for q := range a.Pixels {
		v, b := (*[plainLanes]float32)(x[q*a.Stride:]), (*[plainLanes]float32)(dy[q*a.Width*plainLanes:])
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
