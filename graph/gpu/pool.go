//go:build cuda && linux && amd64

package gpu

import (
	"fmt"

	"lockstep/graph"
	"lockstep/internal/cuda"
)

// pairTiling cuts the windows of a 2x2 pooling of maps of type t; those that lack pixels are left out unless
// all is set. The scalars are the geometry.
func pairTiling(t graph.Type, all bool, most int) (cut tiling, scalars []any) {
	n, h, w, c := t.Shape[0], t.Shape[1], t.Shape[2], t.Shape[3]
	down, across := h/2, w/2
	if all {
		down, across = ceil(h, 2), ceil(w, 2)
	}
	return tile(n*down*across, c, widthOf(t, c), most), []any{h, w, down, across}
}

func (e *Executor) normPool(a graph.Application, o graph.NormPoolOp) graph.Kernel {
	cut, scalars := pairTiling(a.In[0], false, mapBlocks)
	l := e.overRows(cut, "normpool"+suffix(a.In[0]), 6, append(scalars, o.Eps)...)
	return graph.Kernel{Run: func(a *graph.Args) {
		l.run(at(a.Out[0]), at(a.In[0]), at(a.In[1]), at(a.In[2]), at(a.In[3]), at(a.In[4]))
	}}
}

func (e *Executor) normPoolBackward(a graph.Application, o graph.NormPoolBackwardOp) graph.Kernel {
	x := a.In[1]
	cut, scalars := pairTiling(x, false, sumBlocks)
	sum := cut.room(e.overRows(cut, "normpoolsums"+suffix(x), 7, append(scalars, o.Of.Eps)...), 2*cut.width)
	partial := 2 * cut.blocks.X * cut.channels
	merge := e.mergeSums(cut.blocks.X, 2*cut.channels)
	cut, scalars = pairTiling(x, true, mapBlocks)
	grad := e.overRows(cut, "normpoolgrad"+suffix(x), 10, append(scalars, o.Of.Eps)...)
	return graph.Kernel{Scratch: partial + 2*cut.channels, Run: func(a *graph.Args) {
		sums := at(a.Scratch) + cuda.Pointer(4*partial)
		dy, x, mean, variance, gamma, beta := at(a.In[0]), at(a.In[1]), at(a.In[2]), at(a.In[3]), at(a.In[4]),
			at(a.In[5])
		sum.run(at(a.Scratch), dy, x, mean, variance, gamma, beta)
		merge.run(sums, at(a.Scratch))
		grad.run(at(a.Out[0]), at(a.Out[1]), at(a.Out[2]), dy, x, mean, variance, gamma, beta, sums)
	}}
}

// windowScalars returns the geometry of a pooling of x to y.
func windowScalars(o graph.MaxPoolOp, x, y graph.Type) []any {
	return []any{x.Shape[1], x.Shape[2], y.Shape[1], y.Shape[2], o.Size, o.Stride, o.Pad}
}

func (e *Executor) maxPool(a graph.Application, o graph.MaxPoolOp) graph.Kernel {
	l := e.overRows(tileMap(a.Out[0]), "maxpool"+suffix(a.In[0]), 2, windowScalars(o, a.In[0], a.Out[0])...)
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
		cut, scalars := pairTiling(x, true, mapBlocks)
		l := e.overRows(cut, "pairgrad"+suffix(x), 3, append(scalars, relu)...)
		return graph.Kernel{Run: func(a *graph.Args) { l.run(at(a.Out[0]), at(a.In[0]), at(a.In[1])) }}, nil
	}
	if o.Of.Size > mostWindow {
		return graph.Kernel{}, fmt.Errorf("gpu: %s: window of %d, at most %d", a.Name, o.Of.Size, mostWindow)
	}
	scalars := windowScalars(o.Of, x, dy)
	gather := e.overRows(tileMap(x), "poolgather"+suffix(x), 3, scalars...)
	place := e.overRows(tileMap(dy), "poolplace"+suffix(x), 2, append(scalars, relu)...)
	return graph.Kernel{Scratch: ceil(dy.Shape.Elems(), 2), Run: func(a *graph.Args) {
		place.run(at(a.Scratch), at(a.In[1]))
		gather.run(at(a.Out[0]), at(a.In[0]), at(a.Scratch))
	}}, nil
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
