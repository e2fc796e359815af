//go:build cuda && linux && amd64

package gpu

import (
	"lockstep/graph"
	"lockstep/internal/cuda"
)

// Most kernels here sweep over a map: their blocks take turns with its rows; see the note of kernel/map.cuh.
// As many blocks are started as run at once, so that they stay together. What blocks have summed a second
// kernel merges.
const (
	// sweepBlocks is how many blocks of them a multiprocessor runs at a time, and fewBlocks how many of those
	// that need more registers; processors is how many multiprocessors an H100 has.
	sweepBlocks = 4
	fewBlocks   = 3
	processors  = 132
	// sumRows is how many rows a thread of a sum has at least. Few blocks take up to manyRows: the fewer
	// there are, the sooner they are merged.
	sumRows  = 4
	manyRows = 8
	// fewRows is up to how many rows a block has all of them, of narrowGroup groups of channels: then there
	// is nothing to merge.
	fewRows     = 1024
	narrowGroup = 2
	// mergeColumns is how many columns a block merges, with at most mostMergeLanes threads each, and
	// mergeTurns is what a thread merges before there are more of them.
	mergeColumns   = 8
	mostMergeLanes = 128
	mergeTurns     = 4
)

// sweepOf cuts rows of channels for a sweep of at most so many blocks, each thread of which has at least each
// rows.
func sweepOf(rows, channels, width, each, most int) tiling {
	groups := channels / width
	t := tiling{rows: rows, channels: channels, width: width}
	t.blocks.Y = ceil(groups, rowGroup)
	t.threads.X = ceil(groups, t.blocks.Y)
	t.threads.Y = rowThreads / t.threads.X
	t.blocks.X = max(min(ceil(rows, each*t.threads.Y), most/t.blocks.Y), 1)
	return t
}

// sumSweepOf is sweepOf for sums, with so many blocks for each multiprocessor if the map is large.
func sumSweepOf(rows, channels, width, blocks int) tiling {
	if rows <= fewRows {
		t := tiling{rows: rows, channels: channels, width: width}
		t.threads = cuda.Size{X: narrowGroup, Y: rowThreads / narrowGroup}
		t.blocks = cuda.Size{X: 1, Y: ceil(channels/width, narrowGroup)}
		return t
	}
	t := sweepOf(rows, channels, width, sumRows, 2*processors)
	if ceil(rows, t.blocks.X*t.threads.Y) > manyRows {
		t = sweepOf(rows, channels, width, sumRows, blocks*processors)
	}
	return t
}

// sweepMap and sumSweepMap cut a map.
func sweepMap(t graph.Type) tiling {
	return sweepOf(rowsOf(t), channelsOf(t), widthOf(t, channelsOf(t)), 1, sweepBlocks*processors)
}
func sumSweepMap(t graph.Type, blocks int) tiling {
	return sumSweepOf(rowsOf(t), channelsOf(t), widthOf(t, channelsOf(t)), blocks)
}

// sweep prepares a kernel whose first scalars are those of the tiling.
func (e *Executor) sweep(t tiling, name string, pointers int, scalars ...any) *launch {
	first := []any{t.rows, t.channels, t.width}
	return e.launch(name, pointers, t.blocks, t.threads, append(first, scalars...)...)
}

// merging prepares a kernel that merges columns of so many blocks, with room for bytes of each thread.
func (e *Executor) merging(name string, pointers, blocks, columns, bytes int, scalars ...any) *launch {
	threads := cuda.Size{X: mergeColumns, Y: 1}
	for threads.Y < mostMergeLanes && threads.Y*mergeTurns < blocks {
		threads.Y *= 2
	}
	return e.launch(name, pointers, linear(ceil(columns, threads.X)), threads, scalars...).
		shared(bytes * threads.X * threads.Y)
}

// mergingSums prepares the kernel that adds up rows of columns.
func (e *Executor) mergingSums(rows, columns int) *launch {
	return e.merging("mergesums", 2, rows, columns, 4, rows, columns)
}

// moments takes the batch statistics of a map.
type moments struct {
	scratch    int
	sum, merge *launch
}

// moments prepares batch statistics of a map of type t, after a bias is added and a ReLU applied if asked.
func (e *Executor) moments(t graph.Type, bias, relu bool) *moments {
	name, isReLU, blocks := "moments", 0, sweepBlocks
	if relu {
		isReLU = 1
	}
	if bias || relu {
		name, blocks = name+"finish", fewBlocks
	}
	cut := sumSweepMap(t, blocks)
	m := &moments{scratch: 2 * cut.blocks.X * cut.channels}
	m.sum = cut.room(e.sweep(cut, name+suffix(t), 3, isReLU), 2*cut.width+1)
	const bytes = 16 // two float64
	m.merge = e.merging("momentsmerge", 4, cut.blocks.X, cut.channels, bytes, cut.rows, cut.channels,
		cut.threads.Y, cut.blocks.X)
	return m
}

// ScratchFloats returns how much scratch run needs.
func (m *moments) ScratchFloats() int { return m.scratch }

// run writes the mean, the biased and the unbiased variance of each channel of y, in one pass over y. With a
// bias, which may be 0, or a ReLU it first changes y.
func (m *moments) run(y, bias, mean, variance, unbiased, scratch cuda.Pointer) {
	m.sum.run(scratch, y, bias)
	m.merge.run(mean, variance, unbiased, scratch)
}

func (e *Executor) batchStatistics(a graph.Application) graph.Kernel {
	m := e.moments(a.In[0], false, false)
	return graph.Kernel{Scratch: m.ScratchFloats(), Run: func(a *graph.Args) {
		m.run(at(a.In[0]), 0, at(a.Out[0]), at(a.Out[1]), at(a.Out[2]), at(a.Scratch))
	}}
}

func (e *Executor) normalize(a graph.Application, o graph.NormalizeOp) graph.Kernel {
	name, relu := "normalize", 0
	if o.Residual {
		name += "add"
	}
	if o.ReLU {
		relu = 1
	}
	l := e.sweep(sweepMap(a.In[0]), name+suffix(a.In[0]), 7, o.Eps, relu)
	return graph.Kernel{Run: func(a *graph.Args) {
		var residual cuda.Pointer
		if o.Residual {
			residual = at(a.In[5])
		}
		l.run(at(a.Out[0]), at(a.In[0]), residual, at(a.In[1]), at(a.In[2]), at(a.In[3]), at(a.In[4]))
	}}
}

// normSums takes the sums that the gradient of a normalisation needs.
type normSums struct {
	scratch    int
	sum, merge *launch // merge is nil if there is but one block
}

// normSums prepares the sums of the gradient of a normalised map of type t, masked by the ReLU behind the
// normalisation; or by that behind its residual, and then the masked gradient is written.
func (e *Executor) normSums(t graph.Type, eps float32, relu, residual bool) *normSums {
	name := "normsums"
	switch {
	case residual:
		name += "gate"
	case relu:
		name += "relu"
	}
	cut := sumSweepMap(t, sweepBlocks)
	n := &normSums{sum: cut.room(e.sweep(cut, name+suffix(t), 9, eps), 2*cut.width)}
	n.plan(e, cut)
	return n
}

// plan prepares to add up the sums of the blocks.
func (n *normSums) plan(e *Executor, cut tiling) {
	if blocks := cut.blocks.X; blocks > 1 {
		n.scratch = 2 * blocks * cut.channels
		n.merge = e.mergingSums(blocks, 2*cut.channels)
	}
}

// ScratchFloats returns how much scratch run needs.
func (n *normSums) ScratchFloats() int { return n.scratch }

// run writes the sums [2C] of the gradient dx and of dx*(x-mean). With a residual it first sets dx to 0
// where z, the result of the normalisation, is not above 0; else z is not used.
func (n *normSums) run(dx, z, x, mean, variance, gamma, beta, sums, scratch cuda.Pointer) {
	n.runTo(dx, dx, z, x, mean, variance, gamma, beta, sums, scratch)
}

// runTo is run that leaves dy as it is and writes the masked gradient, if there is a residual, to g.
func (n *normSums) runTo(g, dy, z, x, mean, variance, gamma, beta, sums, scratch cuda.Pointer) {
	if n.merge == nil {
		n.sum.run(sums, g, dy, z, x, mean, variance, gamma, beta)
		return
	}
	n.sum.run(scratch, g, dy, z, x, mean, variance, gamma, beta)
	n.merge.run(sums, scratch)
}

// normGrad prepares the gradient of a normalisation's input, gamma and beta.
func (e *Executor) normGrad(t graph.Type, eps float32, relu bool) *launch {
	name := "normgrad"
	if relu {
		name += "relu"
	}
	return e.sweep(sweepMap(t), name+suffix(t), 10, eps)
}

func (e *Executor) batchNormBackward(a graph.Application, o graph.BatchNormBackwardOp) graph.Kernel {
	grad := e.normGrad(a.In[1], o.Eps, o.ReLU)
	run := func(a *graph.Args, sums cuda.Pointer) {
		grad.run(at(a.Out[0]), at(a.Out[1]), at(a.Out[2]), at(a.In[0]), at(a.In[1]), at(a.In[2]), at(a.In[3]),
			at(a.In[4]), at(a.In[5]), sums)
	}
	if o.Summed {
		return graph.Kernel{Run: func(a *graph.Args) { run(a, at(a.In[6])) }}
	}
	sum := e.normSums(a.In[1], o.Eps, o.ReLU, false)
	scratch := sum.ScratchFloats()
	return graph.Kernel{Scratch: scratch + 2*channelsOf(a.In[1]), Run: func(a *graph.Args) {
		sums := at(a.Scratch) + cuda.Pointer(4*scratch)
		sum.run(at(a.In[0]), 0, at(a.In[1]), at(a.In[2]), at(a.In[3]), at(a.In[4]), at(a.In[5]), sums,
			at(a.Scratch))
		run(a, sums)
	}}
}

func (e *Executor) residualBackward(a graph.Application, o graph.ResidualBackwardOp) graph.Kernel {
	sum := e.normSums(a.In[2], o.Eps, false, true)
	grad := e.normGrad(a.In[2], o.Eps, false)
	scratch := sum.ScratchFloats()
	return graph.Kernel{Scratch: scratch + 2*channelsOf(a.In[2]), Run: func(a *graph.Args) {
		sums, g := at(a.Scratch)+cuda.Pointer(4*scratch), at(a.Out[0])
		x, mean, variance, gamma, beta := at(a.In[2]), at(a.In[3]), at(a.In[4]), at(a.In[5]), at(a.In[6])
		sum.runTo(g, at(a.In[0]), at(a.In[1]), x, mean, variance, gamma, beta, sums, at(a.Scratch))
		grad.run(at(a.Out[1]), at(a.Out[2]), at(a.Out[3]), g, x, mean, variance, gamma, beta, sums)
	}}
}
