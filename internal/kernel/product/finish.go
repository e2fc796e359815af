package product

import (
	"slices"

	"lockstep/compute"
)

// finishFloats is about how many floats a block for a Finisher has: 1 MiB, which stay in the
// second-level cache until they are finished. Changing it changes results (docs/design/0002).
const finishFloats = 256 << 10

// A Finisher processes rows of a product's result, such as to compute batch statistics, while they are
// still in the cache.
type Finisher interface {
	// Finish processes block number block of the rows, on thread number thread. It is called once for each
	// block, in any order and for several at a time, so the calls must not write to the same places.
	Finish(thread, block int)
}

// A beginner is a Finisher that can take a block's rows in several pieces, from the first on.
type beginner interface {
	// Begin processes the first rows rows of a block as far as the thread has not done so before.
	Begin(thread, block, rows int)
}

// A reader is a Finisher that reads other maps beside the product's result, laid out as that: products ask
// for their rows while they multiply.
type reader interface {
	// Reads returns up to two maps; those that there are not are nil.
	Reads() [2][]float32
}

// wanted are maps or pieces of maps that will be read next.
type wanted [2][]float32

// piece returns rows [lo, hi) of width floats.
func (w wanted) piece(lo, hi, width int) (list wanted) {
	for i, m := range w {
		if m != nil {
			list[i] = m[lo*width : hi*width]
		}
	}
	return list
}

// fetchNext returns what a tile should fetch, of which it takes the first n floats: the first of the list of
// which anything is left, or rest.
func fetchNext(list [][]float32, n int, rest []float32) []float32 {
	for i, next := range list {
		if len(next) > 0 {
			list[i] = next[min(n, len(next)):]
			return next
		}
	}
	return rest
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
	reads           wanted
	alone           []rowRun // by thread; the blocks in them are finished
}

// blocks returns the number of blocks.
func (f *finishing) blocks() int { return (f.rows + f.blockRows - 1) / f.blockRows }

// advance records that a thread has computed rows [from, to), which extend its run, and finishes the blocks
// that are now complete.
func (f *finishing) advance(thread int, run *rowRun, from, to int) {
	if from == to {
		return
	}
	b := max((run.first+f.blockRows-1)/f.blockRows, from/f.blockRows)
	for ; b < f.blocks() && f.end(b) <= to; b++ {
		f.then.Finish(thread, b)
	}
	if early, ok := f.then.(beginner); ok && b < f.blocks() && b*f.blockRows < to {
		early.Begin(thread, b, to-b*f.blockRows)
	}
	run.end = to
}

// end returns the first row after block b.
func (f *finishing) end(b int) int { return min((b+1)*f.blockRows, f.rows) }

// rowRun is the run of rows that a thread has computed alone, from the parts that it owns.
type rowRun struct{ first, end int }

// startsAt returns an empty run.
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
		c.Alone(&c.finishing)
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
