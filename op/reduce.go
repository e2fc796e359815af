package op

import (
	"fmt"
	"math"
	"slices"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/tensor"
)

// Sum returns the sums of x along axes, all if none is named. The axes stay, with one element each, if
// keep.
func Sum(x *graph.Node, keep bool, axes ...int) *graph.Node {
	return one(reduce{of: "sum", axes: slices.Clone(axes), keep: keep}, x)
}

// Mean returns the means of x along axes; see Sum.
func Mean(x *graph.Node, keep bool, axes ...int) *graph.Node {
	return one(reduce{of: "mean", axes: slices.Clone(axes), keep: keep}, x)
}

// Max returns the largest of x along axes; see Sum. The first of several equal ones has the gradient.
func Max(x *graph.Node, keep bool, axes ...int) *graph.Node {
	return one(reduce{of: "max", axes: slices.Clone(axes), keep: keep}, x)
}

// reduce computes a sum, a mean or a maximum along axes.
type reduce struct {
	of   string
	axes []int
	keep bool
}

// Name implements graph.Custom.
func (o reduce) Name() string { return "reduce-" + o.of }

// along reports, for each axis of a shape, whether it is one of o's.
func (o reduce) along(s tensor.Shape) ([]bool, error) {
	is := make([]bool, len(s))
	for _, a := range o.axes {
		axis, err := axisOf(a, s)
		if err == nil && is[axis] {
			err = fmt.Errorf("axis %d twice", a)
		}
		if err != nil {
			return nil, err
		}
		is[axis] = true
	}
	if len(o.axes) == 0 {
		for i := range is {
			is[i] = true
		}
	}
	return is, nil
}

// kept is the result's shape with the axes of one element.
func (o reduce) kept(s tensor.Shape) tensor.Shape {
	is, _ := o.along(s)
	kept := s.Clone()
	for i := range kept {
		if is[i] {
			kept[i] = 1
		}
	}
	return kept
}

// Infer implements graph.Custom.
func (o reduce) Infer(in []graph.Type) ([]graph.Type, error) {
	is, err := o.along(in[0].Shape)
	if err != nil {
		return nil, err
	}
	var s tensor.Shape
	for i, n := range in[0].Shape {
		switch {
		case !is[i]:
			s = append(s, n)
		case o.keep:
			s = append(s, 1)
		}
	}
	return []graph.Type{float(s)}, floats(in)
}

// FLOPs implements graph.Custom.
func (o reduce) FLOPs(in, _ []graph.Type) int64 { return elems(in) }

// walks returns the walk over the results and that over what makes one of them.
func (o reduce) walks(x tensor.Shape) (kept, gone *strided) {
	is, _ := o.along(x)
	strides := stridesOf(x)
	var shapes [2]tensor.Shape
	var steps [2][]int
	for i, n := range x {
		k := 0
		if is[i] {
			k = 1
		}
		shapes[k], steps[k] = append(shapes[k], n), append(steps[k], strides[i])
	}
	return newStrided(shapes[0], steps[0], nil), newStrided(shapes[1], steps[1], nil)
}

// Kernel implements graph.Custom.
func (o reduce) Kernel(cpu *compute.CPU, in, _ []graph.Type) graph.Kernel {
	t := &reduceTask{isMax: o.of == "max", factor: 1}
	t.kept, t.gone = o.walks(in[0].Shape)
	t.count = t.gone.elems()
	if o.of == "mean" {
		t.factor = 1 / float64(t.count)
	}
	return graph.Kernel{Run: func(a *graph.Args) {
		t.x, t.y = a.In[0].F, a.Out[0].F
		cpu.Share(t, len(t.x))
	}}
}

// Gradient implements graph.Custom.
func (o reduce) Gradient(in, out, dy []*graph.Node) []*graph.Node {
	x := in[0]
	if o.of == "max" {
		return []*graph.Node{one(maxBackward{o}, dy[0], x, out[0])}
	}
	kept := o.kept(x.Shape())
	d := Expand(graph.Reshape(dy[0], kept), x.Shape())
	if o.of == "mean" {
		d = graph.Scale(d, float32(kept.Elems())/float32(x.Shape().Elems()))
	}
	return []*graph.Node{d}
}

// sumTo returns d summed to a shape that was repeated to d's.
func sumTo(d *graph.Node, to tensor.Shape) *graph.Node {
	from := d.Shape()
	if from.Equal(to) || from == nil {
		return d
	}
	o := reduce{of: "sum"}
	for i := range from {
		if j := i - len(from) + len(to); j < 0 || to[j] == 1 && from[i] != 1 {
			o.axes = append(o.axes, i)
		}
	}
	if len(o.axes) > 0 {
		d = one(o, d)
	}
	return graph.Reshape(d, to)
}

// lanes is how many results that lie side by side are summed at a time.
const lanes = 64

type reduceTask struct {
	isMax      bool
	factor     float64
	count      int // of the elements of a result
	kept, gone *strided
	x, y       []float32
}

// Do implements compute.Task, cut by results.
func (t *reduceTask) Do(_, part, parts int) {
	lo, hi := compute.Span(len(t.y), part, parts)
	step, _ := t.kept.steps()
	inner, _ := t.gone.steps()
	t.kept.runs(lo, hi, func(at, a, _, n int) {
		for n > 0 {
			width := min(n, lanes)
			if inner == 1 {
				width = 1
			}
			t.some(t.y[at:at+width], a, step)
			at, a, n = at+width, a+width*step, n-width
		}
	})
}

// some computes results whose elements are step apart, the first at x[from].
func (t *reduceTask) some(y []float32, from, step int) {
	var sums [lanes]float64
	if t.isMax {
		for i := range y {
			sums[i] = math.Inf(-1)
		}
	}
	by, _ := t.gone.steps()
	t.gone.runs(0, t.count, func(_, a, _, n int) {
		for r := range n {
			x := t.x[from+a+r*by:]
			if t.isMax {
				for i := range y {
					if v := float64(x[i*step]); v > sums[i] || v != v {
						sums[i] = v
					}
				}
				continue
			}
			for i := range y {
				sums[i] += float64(x[i*step])
			}
		}
	})
	for i := range y {
		y[i] = float32(sums[i] * t.factor)
	}
}

// maxBackward gives dy to the first element that equals the maximum.
type maxBackward struct{ of reduce }

// Name implements graph.Custom.
func (o maxBackward) Name() string { return o.of.Name() + "-backward" }

// Infer implements graph.Custom.
func (o maxBackward) Infer(in []graph.Type) ([]graph.Type, error) { return in[1:2], nil }

// FLOPs implements graph.Custom.
func (o maxBackward) FLOPs(_, out []graph.Type) int64 { return elems(out) }

// Kernel implements graph.Custom.
func (o maxBackward) Kernel(cpu *compute.CPU, in, _ []graph.Type) graph.Kernel {
	t := &maxTask{}
	t.kept, t.gone = o.of.walks(in[1].Shape)
	t.count = t.gone.elems()
	return graph.Kernel{Run: func(a *graph.Args) {
		t.dy, t.x, t.y, t.dx = a.In[0].F, a.In[1].F, a.In[2].F, a.Out[0].F
		cpu.Share(t, len(t.x))
	}}
}

// Gradient implements graph.Custom.
func (o maxBackward) Gradient(_, _, _ []*graph.Node) []*graph.Node { return make([]*graph.Node, 3) }

type maxTask struct {
	count        int
	kept, gone   *strided
	dy, x, y, dx []float32
}

// Do implements compute.Task, cut by results.
func (t *maxTask) Do(_, part, parts int) {
	lo, hi := compute.Span(len(t.y), part, parts)
	step, _ := t.kept.steps()
	by, _ := t.gone.steps()
	t.kept.runs(lo, hi, func(at, from, _, n int) {
		for i := range n {
			isFound := false
			t.gone.runs(0, t.count, func(_, a, _, n int) {
				for r := range n {
					k := from + i*step + a + r*by
					t.dx[k] = 0
					if !isFound && t.x[k] == t.y[at+i] {
						t.dx[k], isFound = t.dy[at+i], true
					}
				}
			})
		}
	})
}
