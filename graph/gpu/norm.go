//go:build cuda && linux && amd64

package gpu

import (
	"lockstep/graph"
	"lockstep/internal/cuda"
)

// moments takes the batch statistics of a map.
type moments struct {
	scratch    int
	sum, merge *launch
}

// moments prepares batch statistics of a map of type t, after a bias is added and a ReLU applied if asked.
func (e *Executor) moments(t graph.Type, bias, relu bool) *moments {
	cut := tileSums(t)
	name, isReLU := "moments", 0
	if relu {
		isReLU = 1
	}
	if bias || relu {
		name += "finish"
	}
	m := &moments{scratch: 2 * cut.blocks.X * cut.channels}
	m.sum = cut.room(e.overRows(cut, name+suffix(t), 3, isReLU), 2*cut.width+1)
	threads := mergeThreads(cut.blocks.X)
	m.merge = e.launch("momentsmerge", 4, linear(ceil(cut.channels, threads.X)), threads,
		cut.rows, cut.channels, cut.span, cut.blocks.X).shared(16 * threads.X * threads.Y)
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
	l := e.overRows(tileMap(a.In[0]), name+suffix(a.In[0]), 7, o.Eps, relu)
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
	cut := tileSums(t)
	n := &normSums{sum: cut.room(e.overRows(cut, name+suffix(t), 9, eps), 2*cut.width)}
	n.plan(e, cut)
	return n
}

// plan prepares to add up the sums of the blocks.
func (n *normSums) plan(e *Executor, cut tiling) {
	if blocks := cut.blocks.X; blocks > 1 {
		n.scratch = 2 * blocks * cut.channels
		n.merge = e.mergeSums(blocks, 2*cut.channels)
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
	return e.overRows(tileMap(t), name+suffix(t), 10, eps)
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
