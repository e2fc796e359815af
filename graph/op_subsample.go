package graph

import "fmt"

// Subsample returns every stride-th pixel of x in both directions, with zeros as further channels in
// front of and behind its own: [N, H, W, C] becomes [N, (H-1)/stride+1, (W-1)/stride+1,
// before+C+after], y[n, h, w, before+c] = x[n, h*stride, w*stride, c]. It is the shortcut without
// parameters of residual networks (option A of He et al. 2015, arXiv 1512.03385, section 3.3).
func Subsample(x *Node, stride, before, after int) *Node {
	return x.graph.emit(SubsampleOp{Stride: stride, Before: before, After: after}, x)
}

// SubsampleOp is Subsample of x.
type SubsampleOp struct{ Stride, Before, After int }

func (SubsampleOp) name() string { return "subsample" }

func (o SubsampleOp) infer(in []Type) ([]Type, error) {
	x := in[0].Shape
	if len(x) != 4 {
		return nil, fmt.Errorf("want a map [N, H, W, C]")
	}
	if o.Stride < 1 || o.Before < 0 || o.After < 0 {
		return nil, fmt.Errorf("stride %d, %d channels in front and %d behind",
			o.Stride, o.Before, o.After)
	}
	return []Type{float(x[0], (x[1]-1)/o.Stride+1, (x[2]-1)/o.Stride+1, o.Before+x[3]+o.After)}, nil
}

func (SubsampleOp) cost(in, out []Type) Cost { return cost(0, out, out) }

func (o SubsampleOp) host(h *Host, in, out []Type) Kernel {
	t := &subsampleTask{of: o, wide: in[0], narrow: out[0]}
	return Kernel{Run: func(a *Args) {
		t.x, t.y = a.In[0].F, a.Out[0].F
		h.cpu.Run(t)
	}}
}

func (o SubsampleOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(SubsampleBackwardOp{Of: o, x: c.in[0].typ}, dy[0])}
}

// SubsampleBackwardOp computes dx from dy: the adjoint, with zeros for the pixels left out.
type SubsampleBackwardOp struct {
	Of SubsampleOp
	x  Type
}

func (SubsampleBackwardOp) name() string { return "subsample-backward" }

func (o SubsampleBackwardOp) infer([]Type) ([]Type, error) { return []Type{o.x}, nil }

func (SubsampleBackwardOp) cost(in, out []Type) Cost { return cost(0, in, out) }

func (o SubsampleBackwardOp) host(h *Host, in, out []Type) Kernel {
	t := &subsampleTask{of: o.Of, wide: out[0], narrow: in[0], isAdjoint: true}
	return Kernel{Run: func(a *Args) {
		t.x, t.y = a.Out[0].F, a.In[0].F
		h.cpu.Run(t)
	}}
}

// subsampleTask copies pixels of x to y or, as the adjoint, from y to x, and clears the rest of what
// it writes.
type subsampleTask struct {
	of           SubsampleOp
	wide, narrow Type // of x and y
	isAdjoint    bool
	x, y         []float32
}

// Do implements compute.Task, cut by samples.
func (t *subsampleTask) Do(_, part, parts int) {
	x, y := t.wide.Shape, t.narrow.Shape
	lo, hi := x[0]*part/parts, x[0]*(part+1)/parts
	if t.isAdjoint {
		clear(t.x[lo*x[1:].Elems() : hi*x[1:].Elems()])
	} else {
		clear(t.y[lo*y[1:].Elems() : hi*y[1:].Elems()])
	}
	for i := lo * y[1] * y[2]; i < hi*y[1]*y[2]; i++ {
		n, h, w := i/(y[1]*y[2]), i/y[2]%y[1], i%y[2]
		at := ((n*x[1]+h*t.of.Stride)*x[2] + w*t.of.Stride) * x[3]
		from, to := t.x[at:at+x[3]], t.y[i*y[3]+t.of.Before:][:x[3]]
		if t.isAdjoint {
			from, to = to, from
		}
		copy(to, from)
	}
}
