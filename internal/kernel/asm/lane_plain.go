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
	o := LaneOps{Lanes: plainLanes, Most: 2}
	for _, channels := range TileHeights() {
		o.Tile[1][channels], o.Tile[2][channels] = lanePlain, lanePlain
		o.Outer[1][channels], o.Outer[2][channels] = laneOuterPlain, laneOuterPlain
	}
	return o
}

// lanePlain is the portable tile.
func lanePlain(a *LaneArgs) {
	for i := range a.Pixels {
		var sums [TileRows]vector
		for k := range a.Channels {
			for j := range sums[k] {
				sums[k][j] = a.Bias[k]
			}
		}
		for t := range a.Taps {
			weights := a.Weights[t*a.Depth*a.Width:]
			for d := range a.Depth {
				x := (*vector)(a.Src[t*a.TapStride+i*a.Stride+d*plainLanes:])
				for k, w := range weights[d*a.Width:][:a.Channels] {
					sums[k].add(float64(w), x)
				}
			}
		}
		for k := range a.Channels {
			sums[k].put(a.Dst[(i*a.Width+k)*plainLanes:][:plainLanes], a.Flags)
		}
	}
}

// laneOuterPlain is the portable form of tiles of a gradient of weights.
func laneOuterPlain(a *LaneOuterArgs) {
	for first := 0; first < a.Tiles*a.Depth; first += a.Depth {
		var sums [2][TileRows]vector
		for i := range a.Rows * a.Pixels {
			x := a.X[i/a.Pixels*a.RowStride+i%a.Pixels*a.Stride+first*plainLanes:]
			xs := [2]*vector{(*vector)(x), (*vector)(x[(a.Depth-1)*plainLanes:])}
			for k := range a.Channels {
				y := (*vector)(a.Dy[(i*a.Width+k)*plainLanes:])
				for d := range a.Depth {
					sums[d][k].addEach(xs[d], y)
				}
			}
		}
		for d := range a.Depth {
			for k := range a.Channels {
				sums[d][k].put(a.Dst[((first+d)*a.Width+k)*plainLanes:][:plainLanes], a.Flags)
			}
		}
	}
}
