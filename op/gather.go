package op

import (
	"fmt"
	"math"
	"slices"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/tensor"
)

// Gather returns rows of table, [rows, ...], by their numbers: [rows' axes] become those of numbers, which
// are int32 or whole float32. A number that is no row's gives a row of NaN, and no gradient.
func Gather(table, numbers *graph.Node) *graph.Node { return one(gather{}, table, numbers) }

// Take returns the elements of x with given numbers along an axis.
func Take(x *graph.Node, axis int, numbers ...int) *graph.Node {
	return one(gather{axis: axis, numbers: slices.Clone(numbers)}, x)
}

// gather takes rows: those of its second input, or if there is none, of numbers, along an axis.
type gather struct {
	axis    int
	numbers []int
}

// Name implements graph.Custom.
func (o gather) Name() string { return "gather" }

// Infer implements graph.Custom.
func (o gather) Infer(in []graph.Type) ([]graph.Type, error) {
	x := in[0].Shape
	axis, err := axisOf(o.axis, x)
	if err != nil {
		return nil, err
	}
	taken := tensor.Shape{len(o.numbers)}
	if len(in) > 1 {
		taken = in[1].Shape
	}
	for _, k := range o.numbers {
		if k < 0 || k >= x[axis] {
			return nil, fmt.Errorf("number %d of axis %d", k, axis)
		}
	}
	return []graph.Type{float(slices.Concat(x[:axis], taken, x[axis+1:]))}, floats(in[:1])
}

// FLOPs implements graph.Custom.
func (o gather) FLOPs(_, _ []graph.Type) int64 { return 0 }

// Kernel implements graph.Custom.
func (o gather) Kernel(cpu *compute.CPU, in, _ []graph.Type) graph.Kernel {
	return o.kernel(cpu, in[0].Shape, false)
}

func (o gather) kernel(cpu *compute.CPU, table tensor.Shape, isBack bool) graph.Kernel {
	axis, _ := axisOf(o.axis, table)
	t := &gatherTask{numbers: o.numbers, rows: table[axis], inner: table[axis+1:].Elems(),
		outer: table[:axis].Elems(), isBack: isBack, isGiven: o.numbers != nil}
	return graph.Kernel{Run: func(a *graph.Args) {
		t.table, t.y = a.In[0].F, a.Out[0].F
		if isBack {
			t.table, t.y = t.y, t.table
		}
		if !t.isGiven {
			t.ints, t.floats = a.In[1].I, a.In[1].F
		}
		cpu.Share(t, max(len(t.y), len(t.table)))
	}}
}

// Gradient implements graph.Custom.
func (o gather) Gradient(in, _, dy []*graph.Node) []*graph.Node {
	d := []*graph.Node{one(gatherBackward{o, in[0].Shape()}, append([]*graph.Node{dy[0]}, in[1:]...)...)}
	return append(d, make([]*graph.Node, len(in)-1)...)
}

// gatherBackward adds the rows of dy to the rows of a table that they were taken from, in order.
type gatherBackward struct {
	of    gather
	table tensor.Shape
}

// Name implements graph.Custom.
func (o gatherBackward) Name() string { return "gather-backward" }

// Infer implements graph.Custom.
func (o gatherBackward) Infer([]graph.Type) ([]graph.Type, error) {
	return []graph.Type{float(o.table)}, nil
}

// FLOPs implements graph.Custom.
func (o gatherBackward) FLOPs(in, _ []graph.Type) int64 { return elems(in) }

// Kernel implements graph.Custom.
func (o gatherBackward) Kernel(cpu *compute.CPU, _, _ []graph.Type) graph.Kernel {
	return o.of.kernel(cpu, o.table, true)
}

// Gradient implements graph.Custom.
func (o gatherBackward) Gradient(in, _, _ []*graph.Node) []*graph.Node {
	return make([]*graph.Node, len(in))
}

// gatherTask copies rows of table to y, or adds those of y to table.
type gatherTask struct {
	numbers            []int
	ints               []int32
	floats             []float32
	outer, rows, inner int
	isBack, isGiven    bool
	table, y           []float32
}

// number returns row number k, -1 if there is no such row, and count how many there are.
func (t *gatherTask) number(k int) int {
	n := 0
	switch {
	case t.isGiven:
		n = t.numbers[k]
	case t.ints != nil:
		n = int(t.ints[k])
	default:
		f := float64(t.floats[k])
		if !(f >= 0 && f < float64(t.rows)) { // a processor's own integer for NaN may be a row's
			return -1
		}
		n = int(f)
	}
	if n < 0 || n >= t.rows {
		return -1
	}
	return n
}

func (t *gatherTask) count() int {
	if t.isGiven {
		return len(t.numbers)
	}
	return max(len(t.ints), len(t.floats))
}

// Do implements compute.Task: cut by what is taken, or where rows are added to, by those.
func (t *gatherTask) Do(_, part, parts int) {
	count := t.count()
	if t.isBack {
		t.add(count, part, parts)
		return
	}
	lo, hi := compute.Span(t.outer*count, part, parts)
	for i := lo; i < hi; i++ {
		to, n := t.y[i*t.inner:(i+1)*t.inner], t.number(i%count)
		if n >= 0 {
			copy(to, t.table[(i/count*t.rows+n)*t.inner:])
			continue
		}
		for k := range to {
			to[k] = float32(math.NaN())
		}
	}
}

func (t *gatherTask) add(count, part, parts int) {
	lo, hi := compute.Span(t.rows, part, parts)
	for outer := range t.outer {
		clear(t.table[(outer*t.rows+lo)*t.inner : (outer*t.rows+hi)*t.inner])
		for k := range count {
			n := t.number(k)
			if n < lo || n >= hi {
				continue
			}
			row := t.table[(outer*t.rows+n)*t.inner:][:t.inner]
			for i, v := range t.y[(outer*count+k)*t.inner:][:t.inner] {
				row[i] += v
			}
		}
	}
}
