//go:build cuda && linux && amd64

package gpu

import (
	"fmt"

	"lockstep/graph"
	"lockstep/internal/cuda"
)

const (
	// normWarps is the number of warps of a block of layer norm, each of which has a row at a time.
	normWarps = 8
	// normBlocks is the most blocks of its backward pass, whose sums are then added up: two for each of the
	// 132 multiprocessors of an H100.
	normBlocks = 2 * 132
)

// normWidth returns how many vectors of 4 columns a lane of a warp keeps, as the kernels for rows of cols
// elements are called: "any" where it keeps none.
func normWidth(cols int) string {
	for _, n := range []int{1, 2, 3, 4, 6, 8} {
		if cols%4 == 0 && cols <= 128*n {
			return fmt.Sprint(n)
		}
	}
	return "any"
}

// normRows says how rows of layer norm are shared out.
type normRows struct {
	samples rowSamples
	cols    int
	isAny   bool
	threads cuda.Size
}

func newNormRows(a graph.Application) normRows {
	cols := channelsOf(a.In[0])
	return normRows{samplesIn(a), cols, normWidth(cols) == "any", linear(32 * normWarps)}
}

// blocks returns how many blocks so many rows take.
func (r *normRows) blocks(rows int) cuda.Size {
	if r.isAny {
		return linear(rows)
	}
	return linear(ceil(rows, normWarps))
}

func (e *Executor) layerNorm(a graph.Application, o graph.LayerNormOp) graph.Kernel {
	x, r := a.In[0], newNormRows(a)
	keys := e.newDropKeys(o.Drop, r.samples.number)
	l := e.launch("layernorm_"+normWidth(r.cols)+suffix(x), 9, r.blocks(rowsOf(x)), r.threads,
		rowsOf(x), r.cols, o.Eps, r.samples.number, r.samples.rowsEach, keys.limit, keys.scale)
	return graph.Kernel{Scratch: keys.room(), Run: func(a *graph.Args) {
		rows := rowsNow(x, a.In[0], r.cols)
		l.setInt(0, rows)
		l.blocks = r.blocks(rows)
		gamma, beta, starts := at(a.In[1]), at(a.In[2]), r.samples.starts(a)
		if !o.Residual {
			in := at(a.In[0])
			l.run(at(a.Out[0]), in, at(a.Out[1]), in, 0, gamma, beta, starts, 0)
			return
		}
		drawn := keys.draw(a)
		l.run(at(a.Out[1]), at(a.Out[0]), at(a.Out[2]), at(a.In[3]), at(a.In[0]), gamma, beta, starts, drawn)
	}}
}

func (e *Executor) layerNormBackward(a graph.Application, o graph.LayerNormBackwardOp) graph.Kernel {
	x, r := a.In[0], newNormRows(a)
	keys := e.newDropKeys(o.Of.Drop, r.samples.number)
	if r.isAny {
		return e.layerNormBackwardAny(a, r, keys)
	}
	blocks := max(min(ceil(rowsOf(x), normWarps), normBlocks), 1)
	l := e.launch("layernorm_backward_"+normWidth(r.cols)+suffix(x), 9, linear(blocks), r.threads, rowsOf(x),
		r.cols, r.samples.number, r.samples.rowsEach, keys.limit, keys.scale).shared(4 * normWarps * r.cols)
	merge := e.layerNormMerge(blocks, r.cols)
	return graph.Kernel{Scratch: keys.room() + 2*blocks*r.cols, Run: func(a *graph.Args) {
		drawn, partial := keys.draw(a), at(a.Scratch)+cuda.Pointer(4*keys.room())
		l.setInt(0, rowsNow(x, a.In[0], r.cols))
		l.run(at(a.Out[0]), fourth(a), partial, at(a.In[0]), at(a.In[1]), at(a.In[2]), at(a.In[3]),
			r.samples.starts(a), drawn)
		merge.run(at(a.Out[1]), at(a.Out[2]), partial)
	}}
}

// layerNormBackwardAny adds up the gradients of gamma and beta first, since dx may take the place of dy.
func (e *Executor) layerNormBackwardAny(a graph.Application, r normRows, keys *dropKeys) graph.Kernel {
	x := a.In[0]
	blocks := max(min(ceil(rowsOf(x), normWarps), normBlocks), 1)
	columns := e.launch("layernorm_columns"+suffix(x), 4, cuda.Size{X: blocks, Y: ceil(r.cols, r.threads.X)},
		r.threads, rowsOf(x), r.cols)
	merge := e.layerNormMerge(blocks, r.cols)
	l := e.launch("layernorm_grad_any"+suffix(x), 8, r.blocks(rowsOf(x)), r.threads, rowsOf(x), r.cols,
		r.samples.number, r.samples.rowsEach, keys.limit, keys.scale)
	return graph.Kernel{Scratch: keys.room() + 2*blocks*r.cols, Run: func(a *graph.Args) {
		drawn, partial := keys.draw(a), at(a.Scratch)+cuda.Pointer(4*keys.room())
		rows := rowsNow(x, a.In[0], r.cols)
		columns.setInt(0, rows)
		columns.run(partial, at(a.In[0]), at(a.In[1]), at(a.In[2]))
		merge.run(at(a.Out[1]), at(a.Out[2]), partial)
		l.setInt(0, rows)
		l.blocks = r.blocks(rows)
		l.run(at(a.Out[0]), fourth(a), at(a.In[0]), at(a.In[1]), at(a.In[2]), at(a.In[3]),
			r.samples.starts(a), drawn)
	}}
}

// layerNormMerge prepares the kernel that adds up what blocks have for gamma and beta.
func (e *Executor) layerNormMerge(blocks, cols int) *launch {
	return e.launch("layernorm_merge", 3, linear(ceil(2*cols, 32)), linear(1024), blocks, cols)
}

// fourth returns where the fourth result lies; 0 if there is none.
func fourth(a *graph.Args) cuda.Pointer {
	if len(a.Out) < 4 {
		return 0
	}
	return at(a.Out[3])
}

func (e *Executor) firstToken(a graph.Application) graph.Kernel {
	cols := channelsOf(a.In[0])
	l := e.launch("first_token"+suffix(a.In[0]), 3, linear(a.Out[0].Shape[0]), linear(elementThreads), cols)
	return graph.Kernel{Run: func(a *graph.Args) { l.run(at(a.Out[0]), at(a.In[0]), at(a.In[1])) }}
}

func (e *Executor) firstTokenBackward(a graph.Application) graph.Kernel {
	x, cols := a.Out[0], channelsOf(a.Out[0])
	l := e.launch("first_token_backward"+suffix(x), 3, linear(ceil(x.Shape[0], normWarps)),
		linear(32*normWarps), x.Shape[0], cols, a.In[0].Shape[0])
	return graph.Kernel{Run: func(a *graph.Args) {
		rows := rowsNow(x, a.Out[0], cols)
		l.setInt(0, rows)
		l.blocks = linear(ceil(rows, normWarps))
		l.run(at(a.Out[0]), at(a.In[0]), at(a.In[1]))
	}}
}
