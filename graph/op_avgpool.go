package graph

import (
	"fmt"
)

// GlobalAvgPool returns the mean of each channel over the map: [N, H, W, C] becomes [N, C].
func GlobalAvgPool(x *Node) *Node { return x.graph.emit(globalAvgPool{}, x) }

type globalAvgPool struct{}

func (globalAvgPool) Name() string { return "global-avg-pool" }

func (globalAvgPool) Infer(in []Type) ([]Type, error) {
	if len(in[0].Shape) != 4 {
		return nil, fmt.Errorf("want a map [N, H, W, C]")
	}
	return []Type{float(in[0].Shape[0], in[0].Shape[3])}, nil
}

func (globalAvgPool) Cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (globalAvgPool) host(h *Host, in, _ []Type) Kernel {
	t := &averageTask{n: in[0].Shape[0], c: in[0].Shape[3]}
	return Kernel{Run: func(a *Args) {
		t.from, t.to = a.In[0].F, a.Out[0].F
		h.cpu.Run(t)
	}}
}

func (globalAvgPool) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(globalAvgPoolBackward{x: c.in[0].typ}, dy[0])}
}

// averageTask adds the pixels of each sample in order and divides by their number.
type averageTask struct {
	n, c     int
	from, to []float32
}

// Do implements kernel.Task, cut by samples.
func (t *averageTask) Do(part, parts int) {
	pixels := len(t.from) / (t.n * t.c)
	scale := 1 / float32(pixels)
	for n := t.n * part / parts; n < t.n*(part+1)/parts; n++ {
		sum := t.to[n*t.c : (n+1)*t.c]
		clear(sum)
		for p := n * pixels; p < (n+1)*pixels; p++ {
			for c, v := range t.from[p*t.c : (p+1)*t.c] {
				sum[c] += v
			}
		}
		for c := range sum {
			sum[c] *= scale
		}
	}
}

// globalAvgPoolBackward spreads dy/(H*W) over the map.
type globalAvgPoolBackward struct{ x Type }

func (globalAvgPoolBackward) Name() string { return "global-avg-pool-backward" }

func (o globalAvgPoolBackward) Infer([]Type) ([]Type, error) { return []Type{o.x}, nil }

func (globalAvgPoolBackward) Cost(in, out []Type) Cost {
	return cost(int64(in[0].Shape.Elems()), in, out)
}

func (o globalAvgPoolBackward) host(h *Host, in, _ []Type) Kernel {
	t := &spreadTask{n: in[0].Shape[0], c: in[0].Shape[1]}
	return Kernel{Run: func(a *Args) {
		t.from, t.to = a.In[0].F, a.Out[0].F
		h.cpu.Run(t)
	}}
}

// spreadTask gives every pixel of a sample the same share of its gradient.
type spreadTask struct {
	n, c     int
	from, to []float32
}

// Do implements kernel.Task, cut by samples.
func (t *spreadTask) Do(part, parts int) {
	pixels := len(t.to) / (t.n * t.c)
	scale := 1 / float32(pixels)
	for n := t.n * part / parts; n < t.n*(part+1)/parts; n++ {
		dy := t.from[n*t.c : (n+1)*t.c]
		for p := n * pixels; p < (n+1)*pixels; p++ {
			for c, d := range dy {
				t.to[p*t.c+c] = d * scale
			}
		}
	}
}
