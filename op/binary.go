package op

import (
	"lockstep/compute"
	"lockstep/graph"
)

// Add returns a + b with broadcasting.
func Add(a, b *graph.Node) *graph.Node {
	if a.Shape().Equal(b.Shape()) {
		return graph.Add(a, b) // which passes fold into others
	}
	return one(binary{plus}, a, b)
}

// Sub returns a - b with broadcasting.
func Sub(a, b *graph.Node) *graph.Node { return one(binary{minus}, a, b) }

// Mul returns a * b with broadcasting.
func Mul(a, b *graph.Node) *graph.Node { return one(binary{times}, a, b) }

// Div returns a / b with broadcasting.
func Div(a, b *graph.Node) *graph.Node { return one(binary{over}, a, b) }

// arithmetic is what a binary op does.
type arithmetic string

const (
	plus  arithmetic = "add"
	minus arithmetic = "sub"
	times arithmetic = "mul"
	over  arithmetic = "div"
)

// binary computes of(a, b), element by element.
type binary struct{ of arithmetic }

// Name implements graph.Custom.
func (o binary) Name() string { return string(o.of) }

// Infer implements graph.Custom.
func (o binary) Infer(in []graph.Type) ([]graph.Type, error) {
	if err := floats(in); err != nil {
		return nil, err
	}
	s, err := broadcast(in[0].Shape, in[1].Shape)
	return []graph.Type{float(s)}, err
}

// FLOPs implements graph.Custom.
func (o binary) FLOPs(_, out []graph.Type) int64 { return elems(out) }

// Kernel implements graph.Custom.
func (o binary) Kernel(cpu *compute.CPU, in, out []graph.Type) graph.Kernel {
	to := out[0].Shape
	t := &binaryTask{of: o.of, walk: newStrided(to, repeated(in[0].Shape, to), repeated(in[1].Shape, to))}
	return graph.Kernel{Run: func(a *graph.Args) {
		t.a, t.b, t.y = a.In[0].F, a.In[1].F, a.Out[0].F
		cpu.Share(t, len(t.y))
	}}
}

// Gradient implements graph.Custom.
func (o binary) Gradient(in, out, dy []*graph.Node) []*graph.Node {
	a, b, d := in[0], in[1], dy[0]
	da, db := d, d
	switch o.of {
	case minus:
		db = Neg(d)
	case times:
		da, db = Mul(d, b), Mul(d, a)
	case over:
		da, db = Div(d, b), Neg(Mul(d, Div(out[0], b)))
	}
	return []*graph.Node{sumTo(da, a.Shape()), sumTo(db, b.Shape())}
}

type binaryTask struct {
	of      arithmetic
	walk    *strided
	a, b, y []float32
}

// Do implements compute.Task.
func (t *binaryTask) Do(_, part, parts int) {
	lo, hi := compute.Span(len(t.y), part, parts)
	sa, sb := t.walk.steps()
	t.walk.runs(lo, hi, func(at, a, b, n int) {
		y := t.y[at : at+n]
		if sa == 1 && sb == 1 {
			t.alike(y, t.a[a:a+n], t.b[b:b+n])
			return
		}
		switch t.of {
		case plus:
			for i := range y {
				y[i] = t.a[a+i*sa] + t.b[b+i*sb]
			}
		case minus:
			for i := range y {
				y[i] = t.a[a+i*sa] - t.b[b+i*sb]
			}
		case times:
			for i := range y {
				y[i] = t.a[a+i*sa] * t.b[b+i*sb]
			}
		case over:
			for i := range y {
				y[i] = t.a[a+i*sa] / t.b[b+i*sb]
			}
		default:
			for i := range y {
				y[i] = t.of.compare(t.a[a+i*sa], t.b[b+i*sb])
			}
		}
	})
}

// compare returns 1 or 0.
func (o arithmetic) compare(a, b float32) float32 {
	if o == "greater" && a > b || o == "less" && a < b || o == "equal" && a == b {
		return 1
	}
	return 0
}

// alike is Do for operands that lie as the result does.
func (t *binaryTask) alike(y, a, b []float32) {
	switch t.of {
	case plus:
		for i := range y {
			y[i] = a[i] + b[i]
		}
	case minus:
		for i := range y {
			y[i] = a[i] - b[i]
		}
	case times:
		for i := range y {
			y[i] = a[i] * b[i]
		}
	case over:
		for i := range y {
			y[i] = a[i] / b[i]
		}
	default:
		for i := range y {
			y[i] = t.of.compare(a[i], b[i])
		}
	}
}
