package product

import (
	"unsafe"

	"lockstep/internal/kernel/asm"
)

// Note: products of parts
//
// A float32 is the sum of three numbers in bf16, which have its exponents and 8 of its 24 bits each: the
// nearest, the nearest to what is left, and the rest, exactly. So a product of floats is nine of parts. Of
// these six are computed (bf16x6): the other three are below 2^-24 of it. Or two parts are kept and three
// products computed (bf16x3): errors are some 2^-18 of each product (Henry, Tang, Heinecke 2019,
// "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations"; XLA calls
// them BF16_BF16_F32_X6 and _X3). Or one part is kept and one product computed (bf16): errors are some 2^-9
// of each product, as those of PyTorch's autocast; ties are rounded to even, and infinite values are kept.
//
// The matrix unit multiplies tiles, 16 rows of 16 pairs of bf16 each, and adds to 16x16 floats: of each
// pair the first products are summed in order, the second too, and the two sums' sum is added. It counts
// denormals as zero: floats below 2^-110 lose parts. Infinite values become NaN, unless there is one part.
//
// One part is multiplied without a matrix unit too, by VDPBF16PS or by float32 multiply-adds in the same
// order, which give the same bits: the product of two bf16 is exact (asm.SplitOps).
//
// Operands are cut into parts and packed into tiles in the order of use, [step][part][half][16][16 pairs],
// where a step is 32 terms of the sum by 32 rows or columns. Pairs are of terms 16 apart, so that packing
// takes whole vectors, or for VDPBF16PS of neighbours, which it multiplies one after the other. A sum
// runs over the steps, and in a step over the products of splitProducts.

// splitSteps is the most steps of a chunk: its tiles of a batch, 512 KiB for two parts and for one in planes,
// and a panel's stay in the second-level cache. Changing it changes results.
const splitSteps = 16

// splitBatch is the most blocks of 32 rows that are multiplied by a panel at a time (docs/design/0047).
const splitBatch = 8

// gatherRows returns the most rows of a batch of a gather: of one part half as many, since its chunks may be
// twice as long.
func gatherRows(c *CPU) int {
	if c.Math().Parts() == 1 {
		return splitBatch / 2 * asm.SplitSide
	}
	return splitBatch * asm.SplitSide
}

// gatherChunk returns the steps of a chunk of a gather's sum of so many. Of one part chunks are even and up
// to twice as long, so that half as many sums pass through memory.
func gatherChunk(c *CPU, steps int) int {
	const most = 2 * splitSteps
	if c.Math().Parts() > 1 || steps == 0 {
		return splitSteps
	}
	chunks := (steps + most - 1) / most
	return (steps + chunks - 1) / chunks
}

// usesSplit reports whether a direction of s, a product of [rows, terms] and [terms, columns], is computed
// by products of parts. It is if the channels are whole steps, the operands are used often enough to pay
// for packing them, and the sums are long enough to pay for passing them through memory.
func (c *CPU) usesSplit(s ConvShape, rows, terms, columns int) bool {
	parts, least := c.Math().Parts(), 128
	if parts == 1 {
		least = 64
	}
	return parts > 0 && s.C%asm.SplitSide == 0 && s.K%asm.SplitSide == 0 && min(rows, columns) >= 64 &&
		terms >= least
}

// words returns the memory of floats as words.
func words(floats []float32) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(floats))), len(floats))
}

// splitPart holds what one thread hands to the inner loops.
type splitPart struct {
	table [asm.SplitSide]int32
	out   [splitBatch * asm.SplitSide]int32
	pack  asm.SplitArgs
	tile  asm.SplitTileArgs
	work  []float32
	left  []uint32  // the batch's tiles
	sums  []float32 // of a batch and a panel
	next  splitNext // to be copied to tiles
	read  splitNext // to be read by a Finisher
	reads wanted
}

// splitNext is what a thread will read next. The tiles in progress ask for it (AVX512_BF16 only): a copy that
// waits for memory reads 13 GB/s on a Zen 4, a quarter of what caches would give it.
type splitNext struct {
	rows   [splitBatch * asm.SplitSide]int32 // offsets in from, one for each row of a batch
	from   []float32                         // nil if it reads nothing more
	stride int                               // floats that a row goes on in each step
}

// inOrder makes the rows of a batch ask for floats one after another, in so many steps.
func (n *splitNext) inOrder(steps int) {
	n.stride = asm.SplitSide
	listRows(n.rows[:], 0, len(n.rows), steps*asm.SplitSide)
}

// ask returns what the tiles of a panel ask for, 32 floats in each of so many steps of rows: the last panel
// for what is copied next, if anything is, the other panels of the last chunk for what a Finisher reads.
func (p *splitPart) ask(isLastPanel, isLastChunk bool, steps int) *splitNext {
	if isLastPanel && p.next.from != nil {
		return &p.next
	}
	if isLastChunk {
		if p.read.from = fetchNext(p.reads[:], steps*asm.SplitSide, nil); p.read.from != nil {
			return &p.read
		}
	}
	return &nothing
}

// nothing is asked for when nothing is read next: floats that are in the cache after the first time.
var nothing = splitNext{from: make([]float32, 2*splitSteps*asm.SplitSide), stride: asm.SplitSide}

// newSplitParts returns one for each thread.
func newSplitParts(c *CPU) (list []*splitPart) {
	for range c.Threads() {
		list = append(list, newSplitPart())
	}
	return list
}

func newSplitPart() *splitPart {
	return &splitPart{work: Aligned(make([]float32, asm.TurnedFloats+asm.LineFloats))}
}

// listRows fills a table with the offsets of n rows, stride floats apart, the first of them at first, and
// says that those beyond are zeros.
func listRows(table []int32, first, n, stride int) {
	for i := range table {
		table[i] = -1
		if i < n {
			table[i] = int32(first + i*stride)
		}
	}
}

// listTurned does so for SplitOps.Flip, whose rows are terms: the second half is those 16 terms on.
func listTurned(table []int32, first, n, stride int) {
	listRows(table[:asm.TileSide], first, n, stride)
	listRows(table[asm.TileSide:], first+asm.TileSide, n, stride)
}

// multiply computes blocks of sums of left and the first of panels, which are stride words apart, and
// stores them: row i of block b goes to dst[out[32b+i]:], for rows rows in all. Meanwhile it asks for next,
// and for the panel that follows and its destination, which is 32 floats on.
func (p *splitPart) multiply(o *asm.SplitOps, panels []uint32, stride, steps, rows int, dst, bias []float32,
	flags int, next *splitNext) {
	p.tile = asm.SplitTileArgs{A: p.left, B: panels, Steps: steps,
		Blocks: (rows + asm.SplitSide - 1) / asm.SplitSide, Out: p.out[:], Dst: dst, Bias: bias, Rows: rows,
		Flags: flags, Sums: p.sums, NextRows: next.rows[:], Next: next.from, NextStride: 4 * next.stride,
		NextB: panels}
	if stride < len(panels) {
		p.tile.NextB, p.tile.DstAhead = panels[stride:], 4*asm.SplitSide
	}
	o.Tile(&p.tile)
}
