package kernel

// This file holds the arguments of the products of parts; asmgen reads the structs to find the fields from
// assembly. split.go says what they are for.

// splitSide is the side of the square of sums that one product computes: two tiles of 16.
const (
	splitSide = 32
	tileSide  = 16
	tileWords = tileSide * tileSide // pairs of bf16
)

// splitArgs describes a copy of rows of floats to tiles of pairs of parts. Row i starts at
// src[table[i]], or is zeros if that is negative; zero is as long as a row.
type splitArgs struct {
	table []int32 // splitSide
	src   []float32
	zero  []float32
	// dst holds n steps or panels, dstStep words apart, each of splitSide columns of the rows.
	dst        []uint32
	n, dstStep int
	work       []float32 // turnedFloats, for turn
}

// splitTileArgs describes sums of products of parts: for each of blocks blocks of sums, 32x32 floats,
//
//	sums[i, j] = sum over steps, k < 32 of a[i, step, k] b[step, k, j]
//
// where the product of floats is one of their parts. The blocks of a follow each other, b is the same.
type splitTileArgs struct {
	a, b          []uint32
	sums          []float32
	steps, blocks int
	// ahead holds places in dst, of which 32 floats each will be wanted soon: the tiles ask for 32 of
	// them for each block.
	ahead []int32
	dst   []float32
}

// splitStoreArgs describes the way of 32 columns of sums to their destination,
//
//	dst[table[i] + j] = bias[j] + sums[i, j]
//
// plus what dst holds and without negative values, as flags say, for i < rows.
type splitStoreArgs struct {
	table       []int32
	sums, bias  []float32
	dst         []float32
	rows, flags int
}

// splitOps holds the inner loops for one number of parts.
type splitOps struct {
	parts int
	// rows fills the left operand, whose rows are rows: pair j of row i of a step's tile has its columns
	// j and j+16.
	rows func(*splitArgs)
	// pairs fills the right operand, whose rows are 16 pairs of rows: pair j of row i of a panel's tile
	// has column j of rows i and i+16.
	pairs func(*splitArgs)
	// turn fills either with transposed rows: pair j of row i has column i of rows j and j+16. It writes
	// one half, the first 16 columns.
	turn  func(*splitArgs)
	tile  func(*splitTileArgs)
	store func(*splitStoreArgs)
}

// turnedFloats is the scratch of turn: two squares.
const turnedFloats = 2 * tileWords
