//go:build cuda && linux && amd64

package gpu

import (
	"lockstep/graph"
	"lockstep/internal/cuda"
	"lockstep/internal/kernel/row"
)

// dropKeys are the keys of dropout at one place of the network, one for each sample, which a run sends ahead
// of its kernel. Its factors are those of kernel/drop.cuh.
type dropKeys struct {
	graph.Drop
	executor *Executor
	keys     []uint64
	// limit and scale are scalars of the kernel.
	limit int
	scale float32
}

// newDropKeys returns the keys of so many samples; there are none if nothing is dropped.
func (e *Executor) newDropKeys(d graph.Drop, samples int) *dropKeys {
	k := &dropKeys{Drop: d, executor: e, scale: 1}
	if d.Share > 0 {
		const one = 1 << 16
		k.keys = make([]uint64, samples)
		k.limit = int(row.DropLimit(d.Share))
		k.scale = float32(float64(one) / float64(one-k.limit))
	}
	return k
}

// room is how many elements of scratch memory the keys need.
func (k *dropKeys) room() int { return 2 * len(k.keys) }

// send queues a copy of this run's keys to memory, whose address is a multiple of 8, and returns where they
// are: 0 if nothing is dropped.
func (k *dropKeys) send(draws *graph.Draws, to cuda.Pointer) cuda.Pointer {
	if len(k.keys) == 0 {
		return 0
	}
	for i := range k.keys {
		k.keys[i] = k.Start(draws, i)
	}
	k.executor.send(to, bytesOf(k.keys))
	return to
}

// draw sends the keys to the first elements of a's scratch memory.
func (k *dropKeys) draw(a *graph.Args) cuda.Pointer {
	if len(k.keys) == 0 {
		return 0
	}
	return k.send(a.Draws, at(a.Scratch))
}

// rowSamples says which rows of a value belong to which sample: the rows of texts, whose starts are the last
// input, or as many rows for each sample.
type rowSamples struct {
	number, rowsEach int
	isRagged         bool
}

// samplesIn returns those of the rows of the first input of a.
func samplesIn(a graph.Application) rowSamples {
	x := a.In[0]
	if x.Ragged {
		return rowSamples{number: a.In[len(a.In)-1].Shape[0] - 1, rowsEach: 1, isRagged: true}
	}
	return rowSamples{number: x.Shape[0], rowsEach: max(rowsOf(x)/x.Shape[0], 1)}
}

// starts returns where the texts start; 0 for a value that has no texts.
func (s rowSamples) starts(a *graph.Args) cuda.Pointer {
	if !s.isRagged {
		return 0
	}
	return at(a.In[len(a.In)-1])
}

// rowsNow returns the number of rows of a run, of cols elements: those of b if it is ragged.
func rowsNow(t graph.Type, b *graph.Buffer, cols int) int {
	if t.Ragged {
		return min(b.Device.Len/cols, t.Shape[0])
	}
	return rowsOf(t)
}

// dropWarps is the number of rows of a block, each of one warp, and dropCols the columns of a block.
const (
	dropWarps = 8
	dropCols  = 512
)

func (e *Executor) dropout(a graph.Application, o graph.DropoutOp) graph.Kernel {
	x, cols, s := a.In[0], channelsOf(a.In[0]), samplesIn(a)
	keys := e.newDropKeys(o.Drop, s.number)
	l := e.launch("dropout"+suffix(x), 4, cuda.Size{X: ceil(rowsOf(x), dropWarps), Y: ceil(cols, dropCols)},
		linear(32*dropWarps), rowsOf(x), cols, s.number, s.rowsEach, keys.limit, keys.scale)
	return graph.Kernel{Scratch: keys.room(), Run: func(a *graph.Args) {
		rows := rowsNow(x, a.In[0], cols)
		l.setInt(0, rows)
		l.blocks.X = ceil(rows, dropWarps)
		drawn := keys.draw(a)
		l.run(at(a.Out[0]), at(a.In[0]), s.starts(a), drawn)
	}}
}
