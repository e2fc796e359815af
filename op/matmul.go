package op

import (
	"fmt"
	"slices"

	"lockstep/compute"
	"lockstep/graph"
	"lockstep/internal/kernel/product"
	"lockstep/tensor"
)

// MatMul returns the products of matrices, the last two axes: [..., M, K] times [..., K, N] is [..., M,
// N]. The other axes are broadcast.
func MatMul(a, b *graph.Node) *graph.Node {
	as, bs := a.Shape(), b.Shape()
	if len(as) < 2 || len(bs) < 2 {
		return one(matMul{}, a, b)
	}
	if len(bs) == 2 {
		return graph.Linear(a, b, nil)
	}
	batch, err := broadcast(as[:len(as)-2], bs[:len(bs)-2])
	if err != nil {
		return one(matMul{}, a, b)
	}
	a = Expand(a, slices.Concat(batch, as[len(as)-2:]))
	b = Expand(b, slices.Concat(batch, bs[len(bs)-2:]))
	return one(matMul{}, a, b)
}

// matMul multiplies matrices of equal batches.
type matMul struct{}

// Name implements graph.Custom.
func (o matMul) Name() string { return "matmul" }

// shape returns how many products there are, and each as a convolution of one pixel.
func (o matMul) shape(a, b tensor.Shape) (count int, s product.ConvShape) {
	n := len(a)
	return a[:n-2].Elems(), product.ConvShape{N: a[n-2], H: 1, W: 1, C: a[n-1], K: b[n-1], R: 1, S: 1,
		Stride: 1}
}

// Infer implements graph.Custom.
func (o matMul) Infer(in []graph.Type) ([]graph.Type, error) {
	a, b := in[0].Shape, in[1].Shape
	n := len(a)
	if n < 2 || len(b) != n || !a[:n-2].Equal(b[:n-2]) || a[n-1] != b[n-2] {
		return nil, fmt.Errorf("want matrices [..., M, K] and [..., K, N]")
	}
	return []graph.Type{float(slices.Concat(a[:n-1], b[n-1:]))}, floats(in)
}

// FLOPs implements graph.Custom.
func (o matMul) FLOPs(in, _ []graph.Type) int64 {
	count, s := o.shape(in[0].Shape, in[1].Shape)
	return int64(count) * s.FLOPs()
}

// Kernel implements graph.Custom.
func (o matMul) Kernel(cpu *compute.CPU, in, _ []graph.Type) graph.Kernel {
	count, s := o.shape(in[0].Shape, in[1].Shape)
	v := product.On(cpu).NewConv(s)
	return graph.Kernel{Scratch: v.ScratchFloats(), OfParts: v.PartsForward(), Run: func(a *graph.Args) {
		for i := range count {
			v.Forward(at(a.Out[0], i, s.N*s.K), at(a.In[0], i, s.N*s.C), at(a.In[1], i, s.C*s.K), nil,
				false, nil,
				a.Scratch.F)
		}
	}}
}

// at returns part i of a buffer of parts of n floats.
func at(b *graph.Buffer, i, n int) []float32 { return b.F[i*n : (i+1)*n : (i+1)*n] }

// Gradient implements graph.Custom.
func (o matMul) Gradient(in, _, dy []*graph.Node) []*graph.Node {
	a, b := in[0], in[1]
	return []*graph.Node{one(matMulBackward{of: a.Shape(), isLeft: true}, dy[0], b),
		one(matMulBackward{of: b.Shape()}, a, dy[0])}
}

// matMulBackward computes da = dy bT from dy and b if isLeft, else db = aT dy from a and dy.
type matMulBackward struct {
	of     tensor.Shape
	isLeft bool
}

// Name implements graph.Custom.
func (o matMulBackward) Name() string {
	if o.isLeft {
		return "matmul-backward-left"
	}
	return "matmul-backward-right"
}

// Infer implements graph.Custom.
func (o matMulBackward) Infer([]graph.Type) ([]graph.Type, error) {
	return []graph.Type{float(o.of)}, nil
}

func (o matMulBackward) shape(in []graph.Type) (count int, s product.ConvShape) {
	if o.isLeft {
		return matMul{}.shape(o.of, in[1].Shape)
	}
	return matMul{}.shape(in[0].Shape, o.of)
}

// FLOPs implements graph.Custom.
func (o matMulBackward) FLOPs(in, _ []graph.Type) int64 {
	count, s := o.shape(in)
	return int64(count) * s.FLOPs()
}

// Kernel implements graph.Custom.
func (o matMulBackward) Kernel(cpu *compute.CPU, in, _ []graph.Type) graph.Kernel {
	count, s := o.shape(in)
	v := product.On(cpu).NewConv(s)
	ofData, ofWeights := v.PartsBackward()
	k := graph.Kernel{Scratch: v.ScratchFloats(), OfParts: ofWeights, Run: func(a *graph.Args) {
		for i := range count {
			v.BackwardWeights(at(a.Out[0], i, s.C*s.K), at(a.In[0], i, s.N*s.C), at(a.In[1], i, s.N*s.K),
				a.Scratch.F)
		}
	}}
	if o.isLeft {
		k.OfParts = ofData
		k.Run = func(a *graph.Args) {
			for i := range count {
				v.BackwardData(at(a.Out[0], i, s.N*s.C), at(a.In[0], i, s.N*s.K), at(a.In[1], i, s.C*s.K),
					false,
					a.Scratch.F)
			}
		}
	}
	return k
}

// Gradient implements graph.Custom.
func (o matMulBackward) Gradient(_, _, _ []*graph.Node) []*graph.Node {
	return make([]*graph.Node, 2)
}
