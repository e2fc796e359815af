//go:build cuda && linux && amd64

package gpu

import (
	"slices"

	"lockstep/graph"
	"lockstep/internal/cuda"
	"lockstep/internal/kernel/row"
)

// dropKeys are the keys of dropout at one place of the network, one for each sample. Its factors are those of
// kernel/drop.cuh.
type dropKeys struct {
	graph.Drop
	executor *Executor
	place    int // among those of the executor
	// limit and scale are scalars of the kernel.
	limit int
	scale float32
}

// newDropKeys returns the keys of so many samples; there are none if nothing is dropped.
func (e *Executor) newDropKeys(d graph.Drop, samples int) *dropKeys {
	k := &dropKeys{Drop: d, executor: e, scale: 1}
	if d.Share > 0 {
		const one = 1 << 16
		k.place = e.drops.place(d, samples)
		k.limit = int(row.DropLimit(d.Share))
		k.scale = float32(float64(one) / float64(one-k.limit))
	}
	return k
}

// room is how many elements of scratch memory the keys need: they have memory of their own.
func (k *dropKeys) room() int { return 0 }

// draw returns where this run's keys are; 0 if nothing is dropped.
func (k *dropKeys) draw(a *graph.Args) cuda.Pointer {
	if k.Share == 0 || k.executor.err != nil {
		return 0
	}
	return k.executor.drops.at(k.executor, k.place, a.Draws)
}

// drops are the keys of dropout at all places of all programs. One copy brings them to the GPU when the draws
// have changed: a copy for each kernel, forward and backward, takes the GPU longer than many a kernel.
type drops struct {
	places []dropPlace
	keys   []uint64 // of all places
	isSent bool
	// draws are those that the keys on the GPU are of.
	draws graph.Draws
	// memory holds so many keys. outgrown are earlier ones, which queued kernels may still read.
	memory   cuda.Pointer
	size     int
	outgrown []cuda.Pointer
}

// dropPlace is a place of dropout with the first of its keys.
type dropPlace struct {
	graph.Drop
	samples, first int
}

// place returns the number of a place, which is new unless it had as many samples.
func (d *drops) place(of graph.Drop, samples int) int {
	for i, p := range d.places {
		if p.Site == of.Site && p.samples == samples {
			return i
		}
	}
	d.places = append(d.places, dropPlace{of, samples, len(d.keys)})
	d.keys = append(d.keys, make([]uint64, samples)...)
	d.isSent = false
	return len(d.places) - 1
}

// at returns where the keys of a place are, and sends those of all places if need be.
func (d *drops) at(e *Executor, place int, draws *graph.Draws) cuda.Pointer {
	if !d.isSent || draws.Seed != d.draws.Seed || draws.Step != d.draws.Step ||
		!slices.Equal(draws.Samples, d.draws.Samples) {
		d.send(e, draws)
	}
	return d.memory + cuda.Pointer(8*d.places[place].first)
}

// send computes all keys and sends them. Places of programs with more samples have none.
func (d *drops) send(e *Executor, draws *graph.Draws) {
	if len(d.keys) > d.size {
		memory, err := e.device.Alloc(8 * len(d.keys))
		if err != nil {
			e.note(err)
			return
		}
		if d.memory != 0 {
			d.outgrown = append(d.outgrown, d.memory)
		}
		d.memory, d.size = memory, len(d.keys)
	}
	for _, p := range d.places {
		if p.samples > len(draws.Samples) {
			continue
		}
		for i := range p.samples {
			d.keys[p.first+i] = p.Start(draws, i)
		}
	}
	d.draws.Seed, d.draws.Step = draws.Seed, draws.Step
	d.draws.Samples = append(d.draws.Samples[:0], draws.Samples...)
	d.isSent = true
	const most = pinnedBytes/8 - 1 // a larger slice would be read later, when it may have changed
	for i := 0; i < len(d.keys); i += most {
		e.send(d.memory+cuda.Pointer(8*i), bytesOf(d.keys[i:min(i+most, len(d.keys))]))
	}
}

// close frees the memory.
func (d *drops) close(e *Executor) {
	for _, m := range append(d.outgrown, d.memory) {
		if m != 0 {
			e.device.Free(m)
		}
	}
	*d = drops{}
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
