package op

import (
	"fmt"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/tensor"
)

// AvgPool returns the means over windows of size[0] x size[1] pixels of a map [N, H, W, C]. Pixels outside
// of the map count as zeros, or not at all unless countsPad.
func AvgPool(x *graph.Node, size [2]int, w Window, countsPad bool) *graph.Node {
	return one(avgPool{size, w.filled(), countsPad}, x)
}

type avgPool struct {
	size [2]int
	Window
	countsPad bool
}

// Name implements graph.Custom.
func (o avgPool) Name() string { return "avg-pool" }

// Infer implements graph.Custom.
func (o avgPool) Infer(in []graph.Type) ([]graph.Type, error) {
	x := in[0].Shape
	if len(x) != 4 || min(o.size[0], o.size[1]) < 1 {
		return nil, fmt.Errorf("want a map [N, H, W, C] and a window of pixels")
	}
	h, w := o.extent(0, x[1], o.size[0]), o.extent(1, x[2], o.size[1])
	for i := range 4 {
		if o.Pad[i] < 0 || o.Pad[i] >= o.size[i%2] {
			return nil, fmt.Errorf("padding %v of a window of %v", o.Pad, o.size)
		}
	}
	if h < 1 || w < 1 || o.Dilation != [2]int{1, 1} {
		return nil, fmt.Errorf("window %v does not fit the map", o.size)
	}
	return []graph.Type{float(tensor.Shape{x[0], h, w, x[3]})}, floats(in)
}

// FLOPs implements graph.Custom.
func (o avgPool) FLOPs(_, out []graph.Type) int64 { return elems(out) * int64(o.size[0]*o.size[1]) }

// Kernel implements graph.Custom.
func (o avgPool) Kernel(cpu *compute.CPU, in, out []graph.Type) graph.Kernel {
	t := &avgPoolTask{avgPool: o, xs: in[0].Shape, ys: out[0].Shape}
	return graph.Kernel{Run: func(a *graph.Args) {
		t.x, t.y = a.In[0].F, a.Out[0].F
		cpu.Share(t, len(t.x))
	}}
}

// Gradient implements graph.Custom.
func (o avgPool) Gradient(in, _, dy []*graph.Node) []*graph.Node {
	return []*graph.Node{one(avgPoolBackward{o, in[0].Shape()}, dy[0])}
}

// avgPoolBackward gives each pixel its share of dy.
type avgPoolBackward struct {
	of avgPool
	x  tensor.Shape
}

// Name implements graph.Custom.
func (o avgPoolBackward) Name() string { return "avg-pool-backward" }

// Infer implements graph.Custom.
func (o avgPoolBackward) Infer([]graph.Type) ([]graph.Type, error) {
	return []graph.Type{float(o.x)}, nil
}

// FLOPs implements graph.Custom.
func (o avgPoolBackward) FLOPs(in, _ []graph.Type) int64 { return o.of.FLOPs(nil, in) }

// Kernel implements graph.Custom.
func (o avgPoolBackward) Kernel(cpu *compute.CPU, in, _ []graph.Type) graph.Kernel {
	t := &avgPoolTask{avgPool: o.of, xs: o.x, ys: in[0].Shape, isBack: true}
	return graph.Kernel{Run: func(a *graph.Args) {
		t.y, t.x = a.In[0].F, a.Out[0].F
		cpu.Share(t, len(t.x))
	}}
}

// Gradient implements graph.Custom.
func (o avgPoolBackward) Gradient(_, _, _ []*graph.Node) []*graph.Node { return []*graph.Node{nil} }

type avgPoolTask struct {
	avgPool
	isBack bool
	xs, ys tensor.Shape
	x, y   []float32
}

// Do implements compute.Task, cut by samples.
func (t *avgPoolTask) Do(_, part, parts int) {
	lo, hi := compute.Span(t.xs[0], part, parts)
	for n := lo; n < hi; n++ {
		if t.isBack {
			size := t.xs[1:].Elems()
			clear(t.x[n*size : (n+1)*size])
		}
		for i := range t.ys[1] * t.ys[2] {
			t.window(n, i/t.ys[2], i%t.ys[2])
		}
	}
}

// window computes one output, or spreads its gradient.
func (t *avgPoolTask) window(n, p, q int) {
	c := t.xs[3]
	y := t.y[((n*t.ys[1]+p)*t.ys[2]+q)*c:][:c]
	top, left := p*t.Stride[0]-t.Pad[0], q*t.Stride[1]-t.Pad[1]
	rows, cols := min(top+t.size[0], t.xs[1]), min(left+t.size[1], t.xs[2])
	top, left = max(top, 0), max(left, 0)
	share := 1 / float32((rows-top)*(cols-left))
	if t.countsPad {
		share = 1 / float32(t.size[0]*t.size[1])
	}
	if !t.isBack {
		clear(y)
	}
	for h := top; h < rows; h++ {
		for w := left; w < cols; w++ {
			x := t.x[((n*t.xs[1]+h)*t.xs[2]+w)*c:][:c]
			for i := range y {
				if t.isBack {
					x[i] += float32(y[i] * share)
				} else {
					y[i] += x[i]
				}
			}
		}
	}
	for i := 0; !t.isBack && i < c; i++ {
		y[i] *= share
	}
}
