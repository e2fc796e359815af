package graph

import "fmt"

// ScaleRowsOp computes y[n,k] = x[n,k] * f[n] from x and f.
type ScaleRowsOp struct{}

func (ScaleRowsOp) name() string { return "scale-rows" }

func (ScaleRowsOp) infer(in []Type) ([]Type, error) {
	x, f := in[0].Shape, in[1].Shape
	if len(x) != 2 || len(f) != 1 || x[0] != f[0] {
		return nil, fmt.Errorf("want [N, K] and [N]")
	}
	return in[:1], nil
}

func (ScaleRowsOp) cost(in, out []Type) Cost { return cost(int64(in[0].Shape.Elems()), in, out) }

func (ScaleRowsOp) host(_ *Host, in, _ []Type) Kernel {
	cols := in[0].Shape[1]
	return Kernel{Run: func(a *Args) {
		x, y := a.In[0].F, a.Out[0].F
		for n, f := range a.In[1].F {
			for k := n * cols; k < (n+1)*cols; k++ {
				y[k] = x[k] * f
			}
		}
	}}
}
