package product

import (
	"slices"

	"lockstep/compute"
)

// finishFloats is about how many floats a block for a Finisher has: 1 MiB, which stay in the
// second-level cache until they are finished. Changing it changes results (docs/design/0002).
const finishFloats = 256 << 10

// Finisher does row by row work on the result of a product, such as taking batch statistics, while
// the rows are still in the cache.
type Finisher interface {
	// Finish does its work on block number block of the rows, on thread number thread. Blocks come in
	// no order, several at a time and each once, so each must keep to places of its own.
	Finish(thread, block int)
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
	alone           []rowRun // by thread; the blocks in them are finished
}

// blocks returns the number of blocks.
func (f *finishing) blocks() int { return (f.rows + f.blockRows - 1) / f.blockRows }

// advance notes that a thread has computed rows [from, to) too, those behind its run, and finishes the
// blocks that are whole by that.
func (f *finishing) advance(thread int, run *rowRun, from, to int) {
	if from == to {
		return
	}
	b := max((run.first+f.blockRows-1)/f.blockRows, from/f.blockRows)
	for ; b < f.blocks() && f.end(b) <= to; b++ {
		f.then.Finish(thread, b)
	}
	run.end = to
}

// end returns the row behind block b.
func (f *finishing) end(b int) int { return min((b+1)*f.blockRows, f.rows) }

// rowRun is the run of rows that a thread has computed alone, of the parts that are its own.
type rowRun struct{ first, end int }

// startsAt returns a run that has no rows yet.
func startsAt(row int) rowRun { return rowRun{row, row} }

// isDone reports whether a thread has computed block b alone.
func (f *finishing) isDone(b int) bool {
	return slices.ContainsFunc(f.alone, func(r rowRun) bool {
		return r.first <= b*f.blockRows && f.end(b) <= r.end
	})
}

// finish runs the Finisher, if there is one, over the blocks that no thread computed alone.
func (c *CPU) finish(f finishing) {
	if f.then == nil {
		return
	}
	left := 0
	for b := range f.blocks() {
		if !f.isDone(b) {
			left++
		}
	}
	c.finishing = f
	if left > 1 {
		c.Run(&c.finishing)
	} else {
		c.finishing.Do(0, 0, 1)
	}
	c.finishing = finishing{}
}

// Do finishes some blocks.
func (f *finishing) Do(thread, part, parts int) {
	lo, hi := compute.Span(f.blocks(), part, parts)
	for b := lo; b < hi; b++ {
		if !f.isDone(b) {
			f.then.Finish(thread, b)
		}
	}
}
