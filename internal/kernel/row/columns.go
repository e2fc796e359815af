package row

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// Note: column sums.
//
// Sums over the rows of a [rows, cols] matrix read it as wide rows: fold rows side by side, so that
// the vectors are long and full for any number of columns. The wide rows are cut into blocks, each
// summed one wide row after the other; then halves of the block's wide sum are added until cols are
// left, and so are the blocks. The order of the sums follows from rows and cols alone, and no
// float32 chain is longer than a block has wide rows.

// Changing one of these changes results.
const (
	// wideFloats is the aimed length of a wide row: one of each of 8 operands fits a 32 KiB cache.
	wideFloats = 1024
	// blockFloats is the least size of a block, maxBlocks how many there are at most.
	blockFloats = 16384
	maxBlocks   = 64
)

// columns is the plan of sums over rows.
type columns struct {
	rows, cols int
	wide       int // floats in a wide row, a multiple of cols
	blocks     int
	kinds      int       // different sums taken at the same time, 1 or 2
	acc        []float32 // [threads][kinds][wide] sums of the block in progress
	sums       []float32 // [blocks][kinds][cols]; block 0 ends as the total
}

func newColumns(rows, cols, kinds, threads int) columns {
	l := columns{cols: cols, kinds: kinds}
	l.resize(rows)
	l.acc = make([]float32, threads*kinds*l.wide)
	l.sums = make([]float32, l.blocks*kinds*cols)
	return l
}

// resize is ColumnSums.Resize.
func (l *columns) resize(rows int) {
	l.rows, l.wide = rows, min(max(wideFloats/l.cols, 1), rows)*l.cols
	l.blocks = min(max(rows*l.cols/blockFloats, 1), maxBlocks)
}

// wides returns the number of wide rows; the last may be short.
func (l *columns) wides() int { return (l.rows*l.cols + l.wide - 1) / l.wide }

// adder is ElementOps.add.
type adder func(dst, a, b []float32)

// rowsOfCall returns how many wide rows one inner loop takes; see callFloats.
func (l *columns) rowsOfCall() int { return max(callFloats/l.wide, 1) }

// ends returns the end of a run of wide rows from row i on for one inner loop, at most to, and the elements
// [lo, hi) in it: whole wide rows, or the last one alone if it is short.
func (l *columns) ends(i, to int) (next, lo, hi int) {
	whole := l.rows * l.cols / l.wide
	next = min(i+l.rowsOfCall(), to)
	if i < whole {
		next = min(next, whole)
	}
	return next, i * l.wide, min(next*l.wide, l.rows*l.cols)
}

// blockRows returns how many rows each block has, or 0 if some have more than others.
func (l *columns) blockRows() int {
	if l.rows*l.cols%l.wide > 0 || l.wides()%l.blocks > 0 {
		return 0
	}
	return l.rows / l.blocks
}

// sum takes the sums of a part's share of the blocks, on a thread: take adds elements [lo, hi), some wide
// rows or a short one, to acc, the sums [kinds][wide] of a block.
func (l *columns) sum(thread, part, parts int, add adder, take func(acc []float32, lo, hi int)) {
	first, last := compute.Span(l.blocks, part, parts)
	for b := first; b < last; b++ {
		l.sumBlock(thread, b, add, take)
	}
}

// sumBlock takes the sums of block b.
func (l *columns) sumBlock(thread, b int, add adder, take func(acc []float32, lo, hi int)) {
	from, to := compute.Span(l.wides(), b, l.blocks)
	l.sumPart(thread, b, from, to, add, take)
}

// sumPart adds the wide rows [from, to) of block b to its sums in acc, which begin with the block's first row
// and are complete with its last.
func (l *columns) sumPart(thread, b, from, to int, add adder, take func(acc []float32, lo, hi int)) {
	acc := l.acc[thread*l.kinds*l.wide : (thread+1)*l.kinds*l.wide]
	first, last := compute.Span(l.wides(), b, l.blocks)
	if from == first {
		clear(acc)
	}
	for from < to {
		next, lo, hi := l.ends(from, to)
		take(acc, lo, hi)
		from = next
	}
	if to < last {
		return
	}
	for k := range l.kinds {
		s := acc[k*l.wide : (k+1)*l.wide]
		asm.Halve(s, l.wide/l.cols, l.cols, add)
		copy(l.sums[(b*l.kinds+k)*l.cols:], s[:l.cols])
	}
}

// total adds the blocks up and returns the sums [kinds][cols].
func (l *columns) total(add adder) []float32 {
	n := l.kinds * l.cols
	asm.Halve(l.sums, l.blocks, n, add)
	return l.sums[:n]
}

// walk calls do for the wide rows of a part's share, the elements [lo, hi) of some or of a short one, from
// the last to the first. The pass before usually went forward and left the end of the map in a cache; this
// one leaves the beginning there for the next.
func (l *columns) walk(c *CPU, part, parts int, do func(lo, hi int)) {
	first, last := compute.Span(l.wides(), c.Mirrored(part, parts), parts)
	if whole := l.rows * l.cols / l.wide; first < last && last > whole { // the last one is short
		last--
		do(last*l.wide, l.rows*l.cols)
	}
	for last > first {
		i := max(last-l.rowsOfCall(), first)
		do(i*l.wide, last*l.wide)
		last = i
	}
}

// spread writes the constants one per column into every row of the wide row dst.
func (l *columns) spread(dst []float32, constants []float32) {
	for n := copy(dst, constants); n < l.wide; {
		n += copy(dst[n:l.wide], dst[:n])
	}
}

// ColumnSums is the plan of a sum over the rows of a matrix, as for the gradient of a bias.
type ColumnSums struct {
	cpu *CPU
	columns
	x []float32
}

// NewColumnSums plans sums over matrices of the shape [rows, cols], both at least 1.
func (c *CPU) NewColumnSums(rows, cols int) *ColumnSums {
	mustShape("column sums", rows, cols)
	return &ColumnSums{cpu: c, columns: newColumns(rows, cols, 1, c.Threads())}
}

// Resize sets the number of rows, from 1 to the number planned. The results are those of a plan for that
// number.
func (p *ColumnSums) Resize(rows int) { p.resize(rows) }

// Run computes sums[j] = sum over i of x[i*cols+j]. The order is that of the note "column sums": it
// depends on the shape alone. One pass over x.
func (p *ColumnSums) Run(sums, x []float32) {
	MustLen("column sums", "sums", len(sums), p.cols)
	MustLen("column sums", "x", len(x), p.rows*p.cols)
	p.x = x
	p.cpu.Share(p, len(x))
	p.x = nil
	copy(sums, p.total(p.cpu.ops.Element.Add))
}

// Do sums a run of blocks.
func (p *ColumnSums) Do(thread, part, parts int) {
	add := p.cpu.ops.Element.Add
	sums := p.cpu.ops.Element.Sums
	p.sum(thread, part, parts, add, func(acc []float32, lo, hi int) {
		sums(acc[:min(hi-lo, p.wide)], p.x[lo:hi])
	})
}
