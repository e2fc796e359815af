package op

import (
	"fmt"
	"slices"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/tensor"
)

// Expand repeats x to a shape, by the rules of broadcasting.
func Expand(x *graph.Node, to tensor.Shape) *graph.Node {
	if x.Shape().Equal(to) {
		return x
	}
	return one(expand{to.Clone()}, x)
}

type expand struct{ to tensor.Shape }

// Name implements graph.Custom.
func (o expand) Name() string { return "expand" }

// Infer implements graph.Custom.
func (o expand) Infer(in []graph.Type) ([]graph.Type, error) {
	s, err := broadcast(in[0].Shape, o.to)
	if err == nil && !s.Equal(o.to) {
		err = fmt.Errorf("cannot become %v", o.to)
	}
	if err == nil {
		err = floats(in)
	}
	return []graph.Type{float(o.to)}, err
}

// FLOPs implements graph.Custom.
func (o expand) FLOPs(_, _ []graph.Type) int64 { return 0 }

// Kernel implements graph.Custom.
func (o expand) Kernel(cpu *compute.CPU, in, _ []graph.Type) graph.Kernel {
	return copying(cpu, &copyTask{walk: newStrided(o.to, repeated(in[0].Shape, o.to), nil)})
}

// Gradient implements graph.Custom.
func (o expand) Gradient(in, _, dy []*graph.Node) []*graph.Node {
	return []*graph.Node{sumTo(dy[0], in[0].Shape())}
}

// Transpose returns x with axis i of the result being axis perm[i] of x.
func Transpose(x *graph.Node, perm ...int) *graph.Node { return one(transpose{slices.Clone(perm)}, x) }

type transpose struct{ perm []int }

// Name implements graph.Custom.
func (o transpose) Name() string { return "transpose" }

// Infer implements graph.Custom.
func (o transpose) Infer(in []graph.Type) ([]graph.Type, error) {
	x := in[0].Shape
	sorted := slices.Sorted(slices.Values(o.perm))
	for i, a := range sorted {
		if a != i {
			sorted = nil
			break
		}
	}
	if len(sorted) != len(x) {
		return nil, fmt.Errorf("axes %v are no order of those of %v", o.perm, x)
	}
	s := make(tensor.Shape, len(x))
	for i, a := range o.perm {
		s[i] = x[a]
	}
	return []graph.Type{float(s)}, floats(in)
}

// FLOPs implements graph.Custom.
func (o transpose) FLOPs(_, _ []graph.Type) int64 { return 0 }

// Kernel implements graph.Custom.
func (o transpose) Kernel(cpu *compute.CPU, in, out []graph.Type) graph.Kernel {
	own, strides := stridesOf(in[0].Shape), make([]int, len(o.perm))
	for i, a := range o.perm {
		strides[i] = own[a]
	}
	return copying(cpu, &copyTask{walk: newStrided(out[0].Shape, strides, nil)})
}

// Gradient implements graph.Custom.
func (o transpose) Gradient(_, _, dy []*graph.Node) []*graph.Node {
	back := make([]int, len(o.perm))
	for i, a := range o.perm {
		back[a] = i
	}
	return []*graph.Node{Transpose(dy[0], back...)}
}

// Range is what Slice takes along one axis: Len elements from Start, Step apart; Step may be negative. The
// zero value takes all.
type Range struct{ Start, Len, Step int }

// Slice returns a part of x: a range for each axis.
func Slice(x *graph.Node, ranges ...Range) *graph.Node {
	return one(slice{slices.Clone(ranges)}, x)
}

type slice struct{ ranges []Range }

// Name implements graph.Custom.
func (o slice) Name() string { return "slice" }

// whole returns the ranges of a shape with zero values filled in.
func whole(ranges []Range, s tensor.Shape) []Range {
	all := slices.Clone(ranges)
	for i, r := range all {
		if r == (Range{}) {
			all[i] = Range{Len: s[i], Step: 1}
		}
	}
	return all
}

// fit checks that ranges lie within a shape, and returns that of the part.
func fit(ranges []Range, s tensor.Shape) (tensor.Shape, error) {
	if len(ranges) != len(s) {
		return nil, fmt.Errorf("%d ranges for %v", len(ranges), s)
	}
	part := make(tensor.Shape, len(s))
	for i, r := range whole(ranges, s) {
		last := r.Start + (r.Len-1)*r.Step
		if r.Len < 1 || r.Step == 0 || min(r.Start, last) < 0 || max(r.Start, last) >= s[i] {
			return nil, fmt.Errorf("%d elements from %d, %d apart, of axis %d of %v", r.Len, r.Start,
				r.Step, i, s)
		}
		part[i] = r.Len
	}
	return part, nil
}

// place returns the first element of a part of a value of shape s, and the part's strides in it.
func place(ranges []Range, s tensor.Shape) (first int, strides []int) {
	strides = stridesOf(s)
	for i, r := range whole(ranges, s) {
		first += r.Start * strides[i]
		strides[i] *= r.Step
	}
	return first, strides
}

// Infer implements graph.Custom.
func (o slice) Infer(in []graph.Type) ([]graph.Type, error) {
	s, err := fit(o.ranges, in[0].Shape)
	if err == nil {
		err = floats(in)
	}
	return []graph.Type{float(s)}, err
}

// FLOPs implements graph.Custom.
func (o slice) FLOPs(_, _ []graph.Type) int64 { return 0 }

// Kernel implements graph.Custom.
func (o slice) Kernel(cpu *compute.CPU, in, out []graph.Type) graph.Kernel {
	first, strides := place(o.ranges, in[0].Shape)
	return copying(cpu, &copyTask{walk: newStrided(out[0].Shape, strides, nil), first: first})
}

// Gradient implements graph.Custom.
func (o slice) Gradient(in, _, dy []*graph.Node) []*graph.Node {
	return []*graph.Node{one(scatter{ranges: o.ranges, to: in[0].Shape()}, dy[0])}
}

// Pad returns x with so many elements of value before and behind those of each axis.
func Pad(x *graph.Node, before, behind []int, value float32) *graph.Node {
	s := x.Shape()
	o := scatter{to: s.Clone(), ranges: make([]Range, len(s)), value: value}
	for i := range s {
		if i < len(before) && i < len(behind) && before[i] >= 0 && behind[i] >= 0 {
			o.ranges[i] = Range{before[i], s[i], 1}
			o.to[i] += before[i] + behind[i]
		}
	}
	if len(before) != len(s) || len(behind) != len(s) {
		o.ranges = nil // which does not fit
	}
	return one(o, x)
}

// scatter writes x to a part of a value of another shape, whose other elements are value.
type scatter struct {
	ranges []Range
	to     tensor.Shape
	value  float32
}

// Name implements graph.Custom.
func (o scatter) Name() string { return "pad" }

// Infer implements graph.Custom.
func (o scatter) Infer(in []graph.Type) ([]graph.Type, error) {
	part, err := fit(o.ranges, o.to)
	if err == nil && !part.Equal(in[0].Shape) {
		err = fmt.Errorf("a part of %v, want %v", part, in[0].Shape)
	}
	if err == nil {
		err = floats(in)
	}
	return []graph.Type{float(o.to)}, err
}

// FLOPs implements graph.Custom.
func (o scatter) FLOPs(_, _ []graph.Type) int64 { return 0 }

// Kernel implements graph.Custom.
func (o scatter) Kernel(cpu *compute.CPU, in, _ []graph.Type) graph.Kernel {
	first, strides := place(o.ranges, o.to)
	t := &copyTask{walk: newStrided(in[0].Shape, strides, nil), first: first, isBack: true}
	fill := &fillTask{value: o.value}
	return graph.Kernel{Run: func(a *graph.Args) {
		fill.y, t.x, t.y = a.Out[0].F, a.Out[0].F, a.In[0].F
		cpu.Share(fill, len(fill.y))
		cpu.Share(t, len(t.y))
	}}
}

// Gradient implements graph.Custom.
func (o scatter) Gradient(_, _, dy []*graph.Node) []*graph.Node {
	return []*graph.Node{Slice(dy[0], o.ranges...)}
}

// copying is the kernel of a copy of the first input.
func copying(cpu *compute.CPU, t *copyTask) graph.Kernel {
	return graph.Kernel{Run: func(a *graph.Args) {
		t.x, t.y = a.In[0].F, a.Out[0].F
		cpu.Share(t, len(t.y))
	}}
}

// copyTask copies what a walk finds in x, from first, to y; or y to x if isBack.
type copyTask struct {
	walk   *strided
	first  int
	isBack bool
	x, y   []float32
}

// Do implements compute.Task.
func (t *copyTask) Do(_, part, parts int) {
	lo, hi := compute.Span(len(t.y), part, parts)
	step, _ := t.walk.steps()
	t.walk.runs(lo, hi, func(at, a, _, n int) {
		y := t.y[at : at+n]
		a += t.first
		switch {
		case step == 1 && t.isBack:
			copy(t.x[a:a+n], y)
		case step == 1:
			copy(y, t.x[a:a+n])
		case t.isBack:
			for i, v := range y {
				t.x[a+i*step] = v
			}
		default:
			for i := range y {
				y[i] = t.x[a+i*step]
			}
		}
	})
}

type fillTask struct {
	value float32
	y     []float32
}

// Do implements compute.Task.
func (t *fillTask) Do(_, part, parts int) {
	lo, hi := compute.Span(len(t.y), part, parts)
	for i := lo; i < hi; i++ {
		t.y[i] = t.value
	}
}

// Concat returns its inputs one behind the other along an axis.
func Concat(axis int, in ...*graph.Node) *graph.Node { return one(concat{axis}, in...) }

type concat struct{ axis int }

// Name implements graph.Custom.
func (o concat) Name() string { return "concat" }

// Infer implements graph.Custom.
func (o concat) Infer(in []graph.Type) ([]graph.Type, error) {
	s := in[0].Shape.Clone()
	axis, err := axisOf(o.axis, s)
	if err != nil {
		return nil, err
	}
	for _, t := range in[1:] {
		other := t.Shape.Clone()
		if len(other) == len(s) {
			s[axis] += other[axis]
			other[axis] = s[axis]
		}
		if !other.Equal(s) {
			return nil, fmt.Errorf("the other axes differ")
		}
	}
	return []graph.Type{float(s)}, floats(in)
}

// FLOPs implements graph.Custom.
func (o concat) FLOPs(_, _ []graph.Type) int64 { return 0 }

// Kernel implements graph.Custom.
func (o concat) Kernel(cpu *compute.CPU, in, out []graph.Type) graph.Kernel {
	tasks, first := make([]*copyTask, len(in)), 0
	axis, _ := axisOf(o.axis, out[0].Shape)
	strides := stridesOf(out[0].Shape)
	for i, t := range in {
		tasks[i] = &copyTask{walk: newStrided(t.Shape, strides, nil), first: first, isBack: true}
		first += t.Shape[axis] * strides[axis]
	}
	return graph.Kernel{Run: func(a *graph.Args) {
		for i, t := range tasks {
			t.x, t.y = a.Out[0].F, a.In[i].F
			cpu.Share(t, len(t.y))
		}
	}}
}

// Gradient implements graph.Custom.
func (o concat) Gradient(in, _, dy []*graph.Node) []*graph.Node {
	d, start := make([]*graph.Node, len(in)), 0
	for i, n := range in {
		axis, _ := axisOf(o.axis, n.Shape())
		ranges := make([]Range, len(n.Shape()))
		ranges[axis] = Range{start, n.Shape()[axis], 1}
		start += n.Shape()[axis]
		d[i] = Slice(dy[0], ranges...)
	}
	return d
}
