//go:build cuda && linux && amd64

package gpu

import (
	"lockstep/graph"
)

// elementThreads is the size of a block of kernels that treat each element on its own; a thread takes
// elementsPerThread of them.
const (
	elementThreads    = 256
	elementsPerThread = 4
)

// elements is a kernel over all elements of the first result, of which a thread takes 16 bytes.
type elements struct {
	*launch
	t         graph.Type
	perThread int
}

// elementwise prepares such a kernel; its first scalar is the number of elements.
func (e *Executor) elementwise(t graph.Type, name string, pointers int, scalars ...any) elements {
	l := e.launch(name, pointers, linear(1), linear(elementThreads), append([]any{0}, scalars...)...)
	x := elements{l, t, 4}
	if isHalf(t) {
		x.perThread = 8
	}
	x.resize(t.Shape.Elems())
	return x
}

// resize sets the number of elements.
func (x elements) resize(n int) {
	x.setInt(0, n)
	x.blocks = linear(ceil(n, elementThreads*x.perThread))
}

// of adapts the kernel to the elements of this run, those of b.
func (x elements) of(b *graph.Buffer) *launch {
	if x.t.Ragged {
		x.resize(min(b.Device.Len, x.t.Shape.Elems()))
	}
	return x.launch
}

// unary prepares y = f(x), and binary y = f(a, b), by kernels for each type of map.
func (e *Executor) unary(a graph.Application, name string, scalars ...any) graph.Kernel {
	l := e.elementwise(a.Out[0], name+suffix(a.Out[0]), 2, scalars...)
	return graph.Kernel{Run: func(a *graph.Args) { l.of(a.Out[0]).run(at(a.Out[0]), at(a.In[0])) }}
}
func (e *Executor) binary(a graph.Application, name string) graph.Kernel {
	l := e.elementwise(a.Out[0], name+suffix(a.Out[0]), 3)
	return graph.Kernel{Run: func(a *graph.Args) {
		l.of(a.Out[0]).run(at(a.Out[0]), at(a.In[0]), at(a.In[1]))
	}}
}

func (e *Executor) fill(a graph.Application, o graph.FillOp) graph.Kernel {
	l := e.elementwise(a.Out[0], "fill"+suffix(a.Out[0]), 1, o.Value)
	return graph.Kernel{Run: func(a *graph.Args) { l.of(a.Out[0]).run(at(a.Out[0])) }}
}

// convert copies to another type of map.
func (e *Executor) convert(a graph.Application) graph.Kernel {
	in, out := a.In[0], a.Out[0]
	if in.DType == out.DType {
		return e.duplicate(a)
	}
	l := e.elementwise(out, "convert"+suffix(in)+suffix(out), 2)
	l.perThread = 8
	l.resize(out.Shape.Elems())
	return graph.Kernel{Run: func(a *graph.Args) { l.of(a.Out[0]).run(at(a.Out[0]), at(a.In[0])) }}
}

func (e *Executor) duplicate(a graph.Application) graph.Kernel {
	t := a.Out[0]
	n, size := t.Shape.Elems(), t.DType.Bytes()
	return graph.Kernel{Run: func(a *graph.Args) {
		now := n
		if t.Ragged {
			now = min(a.Out[0].Device.Len, n)
		}
		if e.err == nil && now > 0 {
			e.note(e.stream.Copy(at(a.Out[0]), at(a.In[0]), now*size))
		}
	}}
}

func (e *Executor) scaleRows(a graph.Application) graph.Kernel {
	l := e.elementwise(a.Out[0], "scale_rows", 3, a.Out[0].Shape.Elems()/a.In[1].Shape.Elems())
	return graph.Kernel{Run: func(a *graph.Args) { l.run(at(a.Out[0]), at(a.In[0]), at(a.In[1])) }}
}
