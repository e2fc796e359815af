//go:build cuda && linux && amd64

package gpu

import (
	"errors"
	"fmt"
	"math"

	"lockstep/graph"
	"lockstep/internal/cuda"
)

// attention is how kernels compute heads of size features in texts of at most most tokens; see
// kernel/attention.cuh.
type attention struct {
	name, suffix            string // of kernels
	heads, size, most       int
	texts                   int
	rows, threads           int // of a tile and a block
	elementBytes, pad       int // of an element of a tile, and elements between its rows
	scoreFloats, sizeAtMost int // room for scores; the most features of the kernel
	onTensorCores           bool
}

// attentionOf chooses the kernels for queries of type q: tensor cores for usual sizes of heads, unless the
// math is that of float32.
func (e *Executor) attentionOf(q, starts graph.Type, o graph.AttentionOp) (*attention, error) {
	if o.Causal {
		return nil, errors.New("gpu: causal attention: GPUs compute attention to all tokens of a text " +
			"only; processors compute both")
	}
	p := &attention{suffix: suffix(q), heads: o.Heads, size: q.Shape[1] / o.Heads, most: o.Most,
		texts: starts.Shape[0] - 1}
	switch {
	case (isHalf(q) || e.roundsTF32()) && (p.size == 16 || p.size == 32 || p.size == 64):
		p.name, p.rows, p.threads = fmt.Sprintf("attention%d", p.size), 64, 128
		p.elementBytes, p.pad, p.sizeAtMost, p.onTensorCores = 2, 8, p.size, true
		if !isHalf(q) {
			p.suffix, p.elementBytes, p.pad = "_tf32", 4, 4
		}
		return p, nil
	case !isHalf(q) && p.size <= 64:
		p.name, p.rows, p.sizeAtMost = "attention", 64, 64
	case p.size <= 256:
		p.name, p.rows, p.sizeAtMost = "attentionwide", 32, 256
	default:
		return nil, fmt.Errorf("gpu: attention: heads of %d features, want at most 256", p.size)
	}
	p.threads, p.elementBytes, p.pad, p.scoreFloats = 256, 4, 4, p.rows*(p.rows+4)
	return p, nil
}

// bytes is the shared memory of a block with so many tiles of heads of size features.
func (p *attention) bytes(tiles, size int) int {
	const moments, bits = 3, 32 // of a row; of a word
	return 4*(moments*p.rows+p.rows*p.rows/bits+p.scoreFloats) + tiles*p.rows*(size+p.pad)*p.elementBytes
}

// launch prepares a kernel that keeps so many tiles in shared memory.
func (p *attention) launch(e *Executor, kernel string, pointers, tiles int, keys *dropKeys) *launch {
	blocks := cuda.Size{X: ceil(p.most, p.rows), Y: p.heads, Z: p.texts}
	l := e.launch(p.name+kernel+p.suffix, pointers, blocks, linear(p.threads), p.heads, p.size, keys.limit,
		keys.scale, float32(1/math.Sqrt(float64(p.size))))
	l.shared(p.bytes(tiles, p.sizeAtMost)) // what any launch of the kernel may need
	l.sharedBytes = p.bytes(tiles, p.size)
	return l
}

func (e *Executor) attention(a graph.Application, o graph.AttentionOp) (graph.Kernel, error) {
	p, err := e.attentionOf(a.In[0], a.In[3], o)
	if err != nil {
		return graph.Kernel{}, err
	}
	keys := e.newDropKeys(o.Drop, p.texts)
	l := p.launch(e, "", 7, 3, keys)
	return graph.Kernel{Scratch: keys.room(), Run: func(a *graph.Args) {
		in := a.In
		l.run(at(a.Out[0]), at(a.Out[1]), at(in[0]), at(in[1]), at(in[2]), at(in[3]), keys.draw(a))
	}}, nil
}

// shortText is the most tokens of a text whose gradients one block computes.
const shortText = 128

// short prepares the kernel for gradients of short texts, or returns nil if there is none for them or the GPU
// has too little shared memory.
func (p *attention) short(e *Executor, keys *dropKeys) *launch {
	const tiles = 4
	if p.most > shortText || p.sizeAtMost > 64 {
		return nil
	}
	short := *p
	short.rows, short.threads = shortText, 2*shortText
	scores := shortText * (shortText + p.pad)
	switch {
	case !p.onTensorCores:
		short.scoreFloats = scores
	case p.elementBytes == 4: // scores take the place of two tiles, or more
		short.scoreFloats = max(0, scores-2*shortText*(p.size+p.pad))
	}
	if e.kernel(p.name+"short"+p.suffix).AllowShared(short.bytes(tiles, p.sizeAtMost)) != nil {
		return nil
	}
	return short.launch(e, "short", 10, tiles, keys)
}

func (e *Executor) attentionBackward(a graph.Application, o graph.AttentionBackwardOp) (graph.Kernel, error) {
	p, err := e.attentionOf(a.In[3], a.In[6], o.Of)
	if err != nil {
		return graph.Kernel{}, err
	}
	keys := e.newDropKeys(o.Of.Drop, p.texts)
	if l := p.short(e, keys); l != nil {
		return graph.Kernel{Scratch: keys.room(), Run: func(a *graph.Args) {
			in := a.In
			l.run(at(a.Out[0]), at(a.Out[1]), at(a.Out[2]), at(in[0]), at(in[2]), at(in[3]), at(in[4]),
				at(in[5]), at(in[6]), keys.draw(a))
		}}, nil
	}
	dq, dkv := p.launch(e, "queries", 9, 4, keys), p.launch(e, "keys", 10, 4, keys)
	// Between the kernels goes a float for each token and head.
	flows := cuda.Pointer(4 * keys.room())
	return graph.Kernel{Scratch: keys.room() + a.In[3].Shape[0]*p.heads, Run: func(a *graph.Args) {
		in, drawn, flows := a.In, keys.draw(a), at(a.Scratch)+flows
		dq.run(at(a.Out[0]), flows, at(in[0]), at(in[2]), at(in[3]), at(in[4]), at(in[5]), at(in[6]), drawn)
		dkv.run(at(a.Out[1]), at(a.Out[2]), flows, at(in[0]), at(in[2]), at(in[3]), at(in[4]), at(in[5]),
			at(in[6]), drawn)
	}}, nil
}
