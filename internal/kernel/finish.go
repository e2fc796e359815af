package kernel

import "slices"

// finishFloats is about how many floats a block for a Finisher has: 1 MiB, which stay in the
// second-level cache until they are finished. Changing it changes results (docs/design/0002).
const finishFloats = 256 << 10

// Finisher does row by row work on the result of a product, such as taking batch statistics, while
// the rows are still in the cache.
type Finisher interface {
	// Finish does its work on block number block of the rows, on thread part. Blocks come in no
	// order, several at a time and each once, so each must keep to places of its own.
	Finish(part, block int)
}

// FinishRows returns how many rows make a block for a Finisher of a map, [N*pixels, channels]: whole
// images, or where one exceeds 1 MiB, as many rows as that holds. The last block may be shorter.
func FinishRows(pixels, channels int) int {
	rows := max(1, finishFloats/channels)
	if rows > pixels {
		rows -= rows % pixels
	}
	return rows
}

// finishing hands blocks of rows to a Finisher.
type finishing struct {
	then            Finisher
	rows, blockRows int
}

// blocks returns the number of blocks.
func (f *finishing) blocks() int { return (f.rows + f.blockRows - 1) / f.blockRows }

// advance finishes the blocks of rows [first, to) that were not yet whole when only [first, from)
// were computed.
func (f *finishing) advance(part, first, from, to int) {
	if from == to {
		return
	}
	b := max((first+f.blockRows-1)/f.blockRows, from/f.blockRows)
	for ; b < f.blocks() && f.end(b) <= to; b++ {
		f.then.Finish(part, b)
	}
}

// end returns the row behind block b.
func (f *finishing) end(b int) int { return min((b+1)*f.blockRows, f.rows) }

// rowRun is the run of rows that one thread computes alone.
type rowRun struct{ first, end int }

// rest finishes the blocks that no thread computed alone.
func (f *finishing) rest(alone []rowRun) {
	for b := range f.blocks() {
		isAlone := func(r rowRun) bool { return r.first <= b*f.blockRows && f.end(b) <= r.end }
		if !slices.ContainsFunc(alone, isAlone) {
			f.then.Finish(0, b)
		}
	}
}

// finish runs then over rows cut into blocks of blockRows.
func (c *CPU) finish(then Finisher, rows, blockRows int) {
	c.finishing = finishing{then, rows, blockRows}
	c.Run(&c.finishing)
	c.finishing = finishing{}
}

// Do finishes some blocks.
func (f *finishing) Do(part, parts int) {
	lo, hi := span(f.blocks(), part, parts)
	for b := lo; b < hi; b++ {
		f.then.Finish(part, b)
	}
}
