package asm

// This file holds the arguments of the products of parts; asmgen reads the structs to find the fields from
// assembly. split.go says what they are for.

// SplitSide is the side of the square of sums that one product computes: two tiles of 16.
const (
	SplitSide = 32
	TileSide  = 16
	TileWords = TileSide * TileSide // pairs of bf16
)

// SplitArgs describes a copy of rows of floats to tiles of pairs of parts. Row i starts at
// src[table[i]], or is zeros if that is negative; zero is as long as a row.
type SplitArgs struct {
	Table []int32 // SplitSide
	Src   []float32
	Zero  []float32
	// Dst holds n steps or panels, DstStep words apart, each of SplitSide columns of the rows.
	Dst        []uint32
	N, DstStep int
	Work       []float32 // TurnedFloats, for turn
}

// SplitTileArgs describes products of parts and the way of their sums to their destination: for the rows i of
// blocks of 32 of a, one block after another, and the 32 columns of b,
//
//	sums[i, j] = sum over steps, k < 32 of a[i, step, k] b[step, k, j]
//	dst[out[i] + j] = bias[j] + sums[i, j] for i < rows
//
// plus what dst holds and without negative values, as flags say. The product of floats is one of their parts.
type SplitTileArgs struct {
	A, B          []uint32
	Steps, Blocks int
	// Out holds 32 places in dst for each block: those from Rows on are not written, but may be asked for.
	Out         []int32
	Dst, Bias   []float32
	Rows, Flags int
	// DstAhead is the bytes from dst to where the next call puts the sums of the same rows, which the tiles
	// ask for; 0 if there is no such call.
	DstAhead int
	Sums     []float32 // scratch, 32x32 floats for each block
	// NextRows holds places in next, one for each row of sums, from which 32 floats a step will be wanted
	// soon: while the tiles compute a row, they ask for those of its place, and in each step go NextStride
	// bytes on.
	NextRows   []int32
	Next       []float32
	NextStride int
	// NextB is the right operand of the next call: the tiles ask for as much of it as for all of b if there
	// are 8 blocks.
	NextB []uint32
}

// SplitOps holds the inner loops for one number of parts. Of each 32 terms those 16 apart are a pair, unless
// the processor multiplies neighbours in order; only the loops themselves see which.
type SplitOps struct {
	pairs int // of tiles in a step of an operand
	// Rows fills the left operand, whose rows are rows: pair j of row i of a step's tile has its columns
	// j and j+16.
	Rows func(*SplitArgs)
	// Pairs fills the right operand, whose rows are 16 pairs of rows: pair j of row i of a panel's tile
	// has column j of rows i and i+16.
	Pairs func(*SplitArgs)
	// Turn fills either with transposed rows: pair j of row i has column i of rows j and j+16. It writes
	// one half, the first 16 columns.
	Turn func(*SplitArgs)
	// Flip fills the right operand with rows of terms, each a column: rows i+16 of the table are rows i from
	// column 16 on. It writes one half, the columns that the first 16 rows are.
	Flip func(*SplitArgs)
	// Tile multiplies and adds. Denormals are zero in the sums, and with one part also where these are added
	// to bias and dst.
	Tile func(*SplitTileArgs)
}

// TurnedFloats is the scratch of turn: two squares.
const TurnedFloats = 2 * TileWords

// StepWords returns the words of a step.
func (o *SplitOps) StepWords() int { return 2 * o.pairs * TileWords }
