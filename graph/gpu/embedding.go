//go:build cuda && linux && amd64

package gpu

import (
	"lockstep/graph"
	"lockstep/internal/cuda"
)

const (
	// embedWarps is the number of warps of a block of embeddings, each with a row, or some of its columns.
	embedWarps = 8
	// embedBlocks is the most blocks that share the rows for the sums by kind.
	embedBlocks = 64
	// sortedTokens is how many tokens a block sorts, and sortThreads its size.
	sortedTokens = 1024
	sortThreads  = sortedTokens / 2
	// numKinds is the number of kinds of tokens.
	numKinds = 2
)

// embedSuffix returns the end of the names of kernels for rows of t, and how many columns a warp takes.
func embedSuffix(t graph.Type) (string, int) {
	if channelsOf(t)%4 == 0 {
		return "_4" + suffix(t), 128
	}
	return "_1" + suffix(t), 32
}

func (e *Executor) embedding(a graph.Application) graph.Kernel {
	y, cols := a.Out[0], channelsOf(a.Out[0])
	name, _ := embedSuffix(y)
	l := e.launch("embedding"+name, 7, linear(ceil(y.Shape[0], embedWarps)), linear(32*embedWarps),
		y.Shape[0], cols, a.In[2].Shape[0], a.In[3].Shape[0])
	return graph.Kernel{Run: func(a *graph.Args) {
		rows := rowsNow(y, a.Out[0], cols)
		l.setInt(0, rows)
		l.blocks = linear(ceil(rows, embedWarps))
		l.run(at(a.Out[0]), at(a.In[0]), at(a.In[1]), at(a.In[2]), at(a.In[3]), at(a.In[4]), at(a.In[5]))
	}}
}

// embeddingGradients are the kernels of the gradients of an embedding.
type embeddingGradients struct {
	executor                   *Executor
	dy                         graph.Type
	cols                       int
	words, kinds               int // elements of the tables
	sort, rank, add            *launch
	positions, partials, merge *launch
}

func (e *Executor) embeddingBackward(a graph.Application) graph.Kernel {
	dy, cols := a.In[0], channelsOf(a.In[0])
	name, warpCols := embedSuffix(dy)
	rows, samples, vocabulary := dy.Shape[0], a.In[3].Shape[0], a.Out[0].Shape[0]
	positions, kinds, runs := a.Out[1].Shape[0], a.Out[2].Shape[0], ceil(rows, sortedTokens)
	threads, parts := linear(32*embedWarps), ceil(cols, warpCols)
	blocks := max(min(ceil(rows, embedWarps), embedBlocks), 1)
	g := &embeddingGradients{executor: e, dy: dy, cols: cols, words: vocabulary * cols, kinds: kinds * cols}
	g.sort = e.launch("embedding_sort", 2, linear(runs), linear(sortThreads), rows)
	g.rank = e.launch("embedding_rank", 2, linear(ceil(rows, elementThreads)),
		linear(elementThreads), rows, runs)
	g.add = e.launch("embedding_words"+name, 3, cuda.Size{Y: parts}, threads, rows, cols, vocabulary)
	g.positions = e.launch("embedding_positions"+name, 3, cuda.Size{X: ceil(positions, embedWarps), Y: parts},
		threads, cols, samples, positions)
	g.partials = e.launch("embedding_kinds"+name, 4, cuda.Size{X: blocks, Y: parts}, threads, rows,
		cols, samples)
	g.merge = e.launch("embedding_merge", 2, linear(ceil(numKinds*cols, 32)), linear(1024), blocks,
		cols, kinds)
	sorted := 2 * runs * sortedTokens // elements of scratch memory
	return graph.Kernel{Scratch: 2*sorted + numKinds*blocks*cols, Run: func(a *graph.Args) {
		scratch := at(a.Scratch)
		g.run(a, scratch, scratch+cuda.Pointer(4*sorted), scratch+cuda.Pointer(8*sorted))
	}}
}

// run computes the gradients with room for two lists of tokens, and for sums.
func (g *embeddingGradients) run(a *graph.Args, sorted, order, partial cuda.Pointer) {
	e, dy, tokens, starts, splits := g.executor, at(a.In[0]), at(a.In[1]), at(a.In[2]), at(a.In[3])
	if e.err != nil {
		return
	}
	rows := rowsNow(g.dy, a.In[0], g.cols)
	runs := ceil(rows, sortedTokens)
	e.note(e.stream.Fill(at(a.Out[0]), 0, g.words))
	g.sort.setInt(0, rows)
	g.sort.blocks = linear(runs)
	g.rank.setInt(0, rows)
	g.rank.setInt(1, runs)
	g.rank.blocks = linear(runs * (sortedTokens / elementThreads))
	g.add.setInt(0, rows)
	g.add.blocks.X = ceil(rows, embedWarps)
	g.sort.run(sorted, tokens)
	g.rank.run(order, sorted)
	g.add.run(at(a.Out[0]), order, dy)
	g.positions.run(at(a.Out[1]), dy, starts)
	g.partials.setInt(0, rows)
	if g.kinds > numKinds*g.cols {
		e.note(e.stream.Fill(at(a.Out[2]), 0, g.kinds))
	}
	g.partials.run(partial, dy, starts, splits)
	g.merge.run(at(a.Out[2]), partial)
}
