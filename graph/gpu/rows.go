//go:build cuda && linux && amd64

package gpu

import (
	"lockstep/graph"
	"lockstep/internal/cuda"
)

// Note: rows and channels
//
// Kernels of maps take a map as a matrix of rows (pixels) of channels; see the note of kernel/map.cuh. A
// block has a span of rows and some of the channels. Sums over rows take two kernels: the first leaves the
// sums of each block, the second adds them up. How a map is cut follows from its shape and type alone, and
// so does the order of the sums.

const (
	// rowThreads is the size of a block.
	rowThreads = 256
	// rowGroup is the most threads that lie side by side along the channels.
	rowGroup = 32
	// sumBlocks and mapBlocks are the most blocks of kernels with and without sums: 4 and 16 for each of
	// the 132 multiprocessors of an H100, where up to 8 run at a time.
	sumBlocks = 4 * 132
	mapBlocks = 16 * 132
	// enoughBlocks is how many blocks a small map is cut into before a thread gets more than one row.
	enoughBlocks = 2 * 132
	// rowsPerThread is how many rows a thread of a large map has at least.
	rowsPerThread = 8
)

// tiling says how a map is cut.
type tiling struct {
	rows, channels int
	width          int // channels of a thread
	span           int // rows of a block
	blocks         cuda.Size
	threads        cuda.Size
}

// channelsOf returns the length of the innermost axis of t, and rowsOf the number of rows.
func channelsOf(t graph.Type) int { return t.Shape[len(t.Shape)-1] }
func rowsOf(t graph.Type) int     { return t.Shape.Elems() / max(channelsOf(t), 1) }

// widthOf returns how many channels a thread takes of a map of t's type: 16 bytes, if that divides all
// counts.
func widthOf(t graph.Type, counts ...int) int {
	width := 4
	if isHalf(t) {
		width = 8
	}
	for _, n := range counts {
		if n%width > 0 {
			return 1
		}
	}
	return width
}

// tile cuts rows of channels into at most so many blocks.
func tile(rows, channels, width, most int) tiling {
	groups := channels / width
	t := tiling{rows: rows, channels: channels, width: width}
	t.blocks.Y = ceil(groups, rowGroup)
	t.threads.X = ceil(groups, t.blocks.Y)
	t.threads.Y = rowThreads / t.threads.X
	t.cut(rows, most)
	return t
}

// cut cuts so many rows.
func (t *tiling) cut(rows, most int) {
	each := rowsPerThread
	for each > 1 && ceil(rows, each*t.threads.Y)*t.blocks.Y < enoughBlocks {
		each /= 2
	}
	blocks := min(ceil(rows, each*t.threads.Y), max(most/t.blocks.Y, 1))
	t.rows, t.span = rows, max(ceil(rows, max(blocks, 1)), 1)
	t.blocks.X = max(ceil(rows, t.span), 1)
}

// tileMap cuts a map for a kernel without sums, and tileSums for one with them.
func tileMap(t graph.Type) tiling {
	return tile(rowsOf(t), channelsOf(t), widthOf(t, channelsOf(t)), mapBlocks)
}
func tileSums(t graph.Type) tiling {
	return tile(rowsOf(t), channelsOf(t), widthOf(t, channelsOf(t)), sumBlocks)
}

// overRows prepares a kernel whose first scalars are those of the tiling.
func (e *Executor) overRows(t tiling, name string, pointers int, scalars ...any) *launch {
	first := []any{t.rows, t.channels, t.width, t.span}
	return e.launch(name, pointers, t.blocks, t.threads, append(first, scalars...)...)
}

// room gives a kernel that merges threads room for so many floats of each.
func (t tiling) room(l *launch, floatsPerThread int) *launch {
	return l.shared(4 * floatsPerThread * t.threads.X * t.threads.Y)
}

// mergeLanes is how many threads at most share a column when what blocks have is merged.
const mergeLanes = 32

// mergeThreads is the size of a block that merges what blocks have, columns side by side.
func mergeThreads(blocks int) cuda.Size { return cuda.Size{X: rowGroup, Y: min(blocks, mergeLanes)} }

// mergeSums prepares the kernel that adds up rows of columns.
func (e *Executor) mergeSums(rows, columns int) *launch {
	threads := mergeThreads(rows)
	return e.launch("mergesums", 2, linear(ceil(columns, threads.X)), threads, rows, columns).
		shared(4 * rowGroup * mergeLanes)
}

// totalsThreads is the size of a block that adds up columns of all rows, totalsBlocks the most of them, and
// totalsRows the most rows that a thread takes: with more, two kernels are faster than one.
const (
	totalsThreads = 1024
	totalsBlocks  = 132
	totalsRows    = 32
)

// columnTotals adds up rows with one kernel, and reports whether there are few enough.
func (e *Executor) columnTotals(a graph.Application) (graph.Kernel, bool) {
	in, rows, cols := a.In[0], rowsOf(a.In[0]), channelsOf(a.In[0])
	width := widthOf(in, cols)
	blocks := func(side int) int { return ceil(cols, width*side) }
	side := 2
	for blocks(side) > totalsBlocks && 2*side*width <= rowGroup {
		side *= 2
	}
	if blocks(side) > totalsBlocks || ceil(rows*side, totalsThreads) > totalsRows {
		return graph.Kernel{}, false
	}
	l := e.launch("column_totals"+suffix(in), 2, linear(blocks(side)), linear(totalsThreads), rows, cols,
		width, side)
	return graph.Kernel{Run: func(a *graph.Args) {
		l.setInt(0, rowsNow(in, a.In[0], cols))
		l.run(at(a.Out[0]), at(a.In[0]))
	}}, true
}

// columnSums adds all rows of a map, which may be ragged.
func (e *Executor) columnSums(a graph.Application) graph.Kernel {
	if k, ok := e.columnTotals(a); ok {
		return k
	}
	in := a.In[0]
	t := tileSums(in)
	sum := t.room(e.overRows(t, "columnsums"+suffix(in), 2, float32(1)), t.width)
	merge := e.mergeSums(t.blocks.X, t.channels)
	full, scratch := t.rows, t.blocks.X
	if in.Ragged {
		scratch = max(sumBlocks/t.blocks.Y, 1)
	}
	return graph.Kernel{Scratch: scratch * t.channels, Run: func(a *graph.Args) {
		if in.Ragged {
			t.cut(min(a.In[0].Device.Len/t.channels, full), sumBlocks)
			sum.setInt(0, t.rows)
			sum.setInt(3, t.span)
			sum.blocks = t.blocks
			merge.threads = mergeThreads(t.blocks.X)
			merge.setInt(0, t.blocks.X)
		}
		if t.blocks.X == 1 {
			sum.run(at(a.Out[0]), at(a.In[0]))
			return
		}
		sum.run(at(a.Scratch), at(a.In[0]))
		merge.run(at(a.Out[0]), at(a.Scratch))
	}}
}
