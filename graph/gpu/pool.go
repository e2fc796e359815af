//go:build cuda && linux && amd64

package gpu

import (
	"fmt"

	"lockstep/graph"
	"lockstep/internal/cuda"
)

// pairWidth is how many channels of a 2x2 pooling a thread takes, of either type.
const pairWidth = 4

// pairs describes the windows of a 2x2 pooling of maps of type t; those that lack pixels are left out unless
// all is set. The scalars are the geometry.
func pairs(t graph.Type, all bool) (rows, channels, width int, scalars []any) {
	n, h, w, c := t.Shape[0], t.Shape[1], t.Shape[2], t.Shape[3]
	down, across := h/2, w/2
	if all {
		down, across = ceil(h, 2), ceil(w, 2)
	}
	width = 1
	if c%pairWidth == 0 {
		width = pairWidth
	}
	return n * down * across, c, width, []any{h, w, down, across}
}

// overPairs prepares a kernel over these windows.
func (e *Executor) overPairs(t graph.Type, all bool, name string, pointers, blocks int, more any) *launch {
	rows, channels, width, scalars := pairs(t, all)
	cut := sweepOf(rows, channels, width, 1, blocks*processors)
	return e.sweep(cut, name+suffix(t), pointers, append(scalars, more)...)
}

func (e *Executor) normPool(a graph.Application, o graph.NormPoolOp) graph.Kernel {
	l := e.overPairs(a.In[0], false, "normpool", 6, sweepBlocks, o.Eps)
	return graph.Kernel{Run: func(a *graph.Args) {
		l.run(at(a.Out[0]), at(a.In[0]), at(a.In[1]), at(a.In[2]), at(a.In[3]), at(a.In[4]))
	}}
}

func (e *Executor) normPoolBackward(a graph.Application, o graph.NormPoolBackwardOp) graph.Kernel {
	x := a.In[1]
	rows, channels, width, scalars := pairs(x, false)
	cut := sumSweepOf(rows, channels, width, fewBlocks)
	sum := cut.room(e.sweep(cut, "normpoolsums"+suffix(x), 7, append(scalars, o.Of.Eps)...), 2*cut.width)
	partial := 2 * cut.blocks.X * cut.channels
	var merge *launch
	if cut.blocks.X > 1 {
		merge = e.mergingSums(cut.blocks.X, 2*cut.channels)
	}
	grad := e.overPairs(x, true, "normpoolgrad", 10, fewBlocks, o.Of.Eps)
	return graph.Kernel{Scratch: partial + 2*cut.channels, Run: func(a *graph.Args) {
		sums := at(a.Scratch) + cuda.Pointer(4*partial)
		dy, x, mean, variance, gamma, beta := at(a.In[0]), at(a.In[1]), at(a.In[2]), at(a.In[3]), at(a.In[4]),
			at(a.In[5])
		if merge == nil {
			sum.run(sums, dy, x, mean, variance, gamma, beta)
		} else {
			sum.run(at(a.Scratch), dy, x, mean, variance, gamma, beta)
			merge.run(sums, at(a.Scratch))
		}
		grad.run(at(a.Out[0]), at(a.Out[1]), at(a.Out[2]), dy, x, mean, variance, gamma, beta, sums)
	}}
}

// windowScalars returns the geometry of a pooling of x to y.
func windowScalars(o graph.MaxPoolOp, x, y graph.Type) []any {
	return []any{x.Shape[1], x.Shape[2], y.Shape[1], y.Shape[2], o.Size, o.Stride, o.Pad}
}

func (e *Executor) maxPool(a graph.Application, o graph.MaxPoolOp) graph.Kernel {
	l := e.sweep(sweepMap(a.Out[0]), "maxpool"+suffix(a.In[0]), 2, windowScalars(o, a.In[0], a.Out[0])...)
	return graph.Kernel{Run: func(a *graph.Args) { l.run(at(a.Out[0]), at(a.In[0])) }}
}

// mostWindow bounds the size of windows that overlap: a place in one has 16 bits.
const mostWindow = 255

func (e *Executor) maxPoolBackward(a graph.Application, o graph.MaxPoolBackwardOp) (graph.Kernel, error) {
	dy, x, relu := a.In[0], a.In[1], 0
	if o.ReLU {
		relu = 1
	}
	if o.Of.Size == 2 && o.Of.Stride == 2 && o.Of.Pad == 0 {
		l := e.overPairs(x, true, "pairgrad", 3, sweepBlocks, relu)
		return graph.Kernel{Run: func(a *graph.Args) { l.run(at(a.Out[0]), at(a.In[0]), at(a.In[1])) }}, nil
	}
	if o.Of.Size > mostWindow {
		return graph.Kernel{}, fmt.Errorf("gpu: %s: window of %d, at most %d", a.Name, o.Of.Size, mostWindow)
	}
	scalars := windowScalars(o.Of, x, dy)
	place := e.sweep(sweepMap(dy), "poolplace"+suffix(x), 2, append(scalars, relu)...)
	gather := e.overWindows(o.Of, x, scalars)
	return graph.Kernel{Scratch: ceil(dy.Shape.Elems(), 2), Run: func(a *graph.Args) {
		place.run(at(a.Scratch), at(a.In[1]))
		gather.run(at(a.Out[0]), at(a.In[0]), at(a.Scratch))
	}}, nil
}

// overWindows prepares the kernel that adds up the gradients of a pooling of x. For windows of 3x3 that lie 2
// apart it takes quads of pixels.
func (e *Executor) overWindows(o graph.MaxPoolOp, x graph.Type, scalars []any) *launch {
	if o.Size != 3 || o.Stride != 2 {
		return e.overRows(tileMap(x), "poolgather"+suffix(x), 3, scalars...)
	}
	quads := func(side int) int { return (side-1+o.Pad)/2 - o.Pad/2 + 1 }
	rows, channels := x.Shape[0]*quads(x.Shape[1])*quads(x.Shape[2]), channelsOf(x)
	cut := sweepOf(rows, channels, widthOf(x, channels), 1, fewBlocks*processors)
	return e.sweep(cut, "poolquads"+suffix(x), 3, scalars...)
}

// averageTiling cuts the maps of x into one block each, and returns the share of a pixel in a mean.
func averageTiling(x graph.Type) (cut tiling, share float32) {
	pixels := x.Shape[1] * x.Shape[2]
	cut = tile(x.Shape[0]*pixels, x.Shape[3], widthOf(x, x.Shape[3]), mapBlocks)
	cut.span, cut.blocks.X = pixels, x.Shape[0]
	return cut, 1 / float32(pixels)
}

func (e *Executor) globalAvgPool(a graph.Application) graph.Kernel {
	cut, share := averageTiling(a.In[0])
	l := cut.room(e.overRows(cut, "columnsums"+suffix(a.In[0]), 2, share), cut.width)
	return graph.Kernel{Run: func(a *graph.Args) { l.run(at(a.Out[0]), at(a.In[0])) }}
}

func (e *Executor) globalAvgPoolBackward(a graph.Application) graph.Kernel {
	cut, share := averageTiling(a.Out[0])
	l := e.overRows(cut, "avgpoolgrad"+suffix(a.Out[0]), 2, share)
	return graph.Kernel{Run: func(a *graph.Args) { l.run(at(a.Out[0]), at(a.In[0])) }}
}

// samplingScalars returns the geometry of a subsampling of x to y, and how many channels a thread takes.
func samplingScalars(o graph.SubsampleOp, x, y graph.Type) (scalars []any, width int) {
	return []any{x.Shape[1], x.Shape[2], x.Shape[3], y.Shape[1], y.Shape[2], o.Stride, o.Before},
		widthOf(x, o.Before, x.Shape[3], o.After)
}

func (e *Executor) subsample(a graph.Application, o graph.SubsampleOp) graph.Kernel {
	scalars, width := samplingScalars(o, a.In[0], a.Out[0])
	cut := tile(rowsOf(a.Out[0]), channelsOf(a.Out[0]), width, mapBlocks)
	l := e.overRows(cut, "subsample"+suffix(a.In[0]), 2, scalars...)
	return graph.Kernel{Run: func(a *graph.Args) { l.run(at(a.Out[0]), at(a.In[0])) }}
}

func (e *Executor) subsampleBackward(a graph.Application, o graph.SubsampleBackwardOp) graph.Kernel {
	scalars, width := samplingScalars(o.Of, a.Out[0], a.In[0])
	cut := tile(rowsOf(a.Out[0]), channelsOf(a.Out[0]), width, mapBlocks)
	cut.channels = channelsOf(a.In[0])
	l := e.overRows(cut, "subsamplegrad"+suffix(a.Out[0]), 2, scalars...)
	return graph.Kernel{Run: func(a *graph.Args) { l.run(at(a.Out[0]), at(a.In[0])) }}
}
