package asm

// The tiles are the innermost loops of every convolution and linear layer. This file holds their
// arguments; asmgen reads the structs to find the fields from assembly. tile_plain.go holds their portable
// form.

// TileRows is the number of pixels a full tile computes at once. Six rows by four AVX-512 vectors (or
// by two AVX2 vectors) of sums, with the operands, fill the vector registers.
const TileRows = 6

// TileArgs describes one tile of an indirect matrix product,
//
//	dst[out[i] + k] = bias[k] + sum_t sum_d src[from[t,i] + d] * weights[tap[t]*TapStride + d*width + k]
//
// for i < rows and k < width. The sum is taken in the order written, t outermost; with TileAdd it is added to
// dst.
type TileArgs struct {
	// Table holds out[0..5], then tap[t], from[t,0..5] for each t; from < 0 means a row of zeros.
	Table []int32
	// Taps is the number of t, depth the number of d.
	Taps, Depth int
	Src, Zero   []float32
	// Weights is a packed panel; a row has width floats, of which the last may be padding.
	Weights   []float32
	TapStride int
	// Bias has width floats.
	Bias []float32
	Dst  []float32
	// Tail is how many lanes of the last vector are written, 1 to all.
	Tail int
	// Flags may be TileAdd and TileReLU.
	Flags int
	// Rows is the height of the tile, for the portable form; each assembly tile knows its own.
	Rows int
	// Fetch is memory that will be wanted soon: the tile asks for TileRows floats for each d.
	Fetch []float32
	// Ahead is where the next tile will write, whose rows are AheadStride bytes apart: the tile asks for
	// one row whenever a tap's channel d, a multiple of 4, has no bit of AheadMask/4.
	Ahead                  []float32
	AheadStride, AheadMask int
}

// flags of TileArgs and OuterArgs
const (
	TileAdd  = 1 // add the sum to dst
	TileReLU = 2 // replace negative results by zero
)

// OuterArgs describes one tile of a sum of outer products,
//
//	dst[i*stride + k] = sum_p a[pairs[p,0] + i] * b[pairs[p,1]*BStride + k]
//
// for i < rows and k < width, p in order; with TileAdd the sum is added to dst.
type OuterArgs struct {
	Pairs   []int32
	A, B    []float32
	BStride int
	Dst     []float32
	Stride  int
	Tail    int
	Flags   int
	Rows    int
	// Fetch is memory that will be wanted soon: the tile asks for a cache line of it for each p, FetchStride
	// bytes after the one before.
	Fetch       []float32
	FetchStride int
}

// PackArgs describes the copy of a panel, dst[i*width + k] = src[i*stride + k], i < rows, where
// columns beyond the last vector's tail lanes are zero.
type PackArgs struct {
	Dst, Src     []float32
	Rows, Stride int
	Tail         int
}

// TurnLanes is the side of the squares that a transposing copy handles at a time.
const TurnLanes = 8

// TurnArgs describes a transposing copy of a panel, dst[d*width + j] = src[j*stride + d] for d < rows and
// j < columns, multiples of TurnLanes.
type TurnArgs struct {
	Dst, Src      []float32
	Rows, Columns int
	Stride, Width int
}

// StripArgs describes the gathering copy of the rows of a tile, dst[p*rows + i] = src[pairs[p,0] + i] for
// i < rows. It may write TurnLanes floats from the last row's first on.
type StripArgs struct {
	Pairs    []int32
	Dst, Src []float32
	Rows     int
}

// GemmOps holds the tiles of one ISA by height (1, 2, 4 or 6 rows) and width in vectors.
type GemmOps struct {
	Lanes  int   // floats in a vector
	Widths []int // widths of tiles in vectors, widest first
	Tile   [TileRows + 1][5]func(*TileArgs)
	Outer  [TileRows + 1][5]func(*OuterArgs)
	Pack   [5]func(*PackArgs)
	Turn   func(*TurnArgs)
	Strip  func(*StripArgs)
	// ReadsApart says that Outer is as fast with rows that lie far apart as with a strip of them, if their
	// lines are fetched in time.
	ReadsApart bool
	// Serial is the number of products, some 10 us of work, 25 in plain Go, below which waking threads
	// does not pay.
	Serial int
}

// TileHeights lists the heights of tiles, tallest first: n rows are cut greedily.
func TileHeights() [4]int { return [4]int{TileRows, 4, 2, 1} }

// TileHeight returns the tallest tile for n remaining rows.
func TileHeight(n int) int {
	for _, h := range TileHeights() {
		if h <= n {
			return h
		}
	}
	panic("kernel: tile of no rows")
}
