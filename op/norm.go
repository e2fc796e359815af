package op

import (
	"lockstep/graph"
	"lockstep/tensor"
)

// GroupNorm normalises the channels of each group of each sample of a map [N, H, W, C] over its pixels,
// with the biased variance: y = (x-mean)/sqrt(variance+eps)*gamma + beta (Wu and He 2018, arXiv
// 1803.08494). gamma and beta are [C]. With a group for each channel it is instance normalisation.
func GroupNorm(x, gamma, beta *graph.Node, groups int, eps float32) *graph.Node {
	s := x.Shape()
	if len(s) != 4 || groups < 1 || s[3]%groups != 0 {
		return one(misfit{"group-norm", "want a map [N, H, W, C] and groups of equal size"}, x)
	}
	parts := graph.Reshape(x, tensor.Shape{s[0], s[1] * s[2], groups, s[3] / groups})
	d := Sub(parts, Mean(parts, true, 1, 3))
	variance := Mean(Mul(d, d), true, 1, 3)
	g := x.Graph()
	y := Div(d, Sqrt(Add(variance, Constant(g, tensor.Shape{1}, eps))))
	return Add(Mul(graph.Reshape(y, s), gamma), beta)
}

// Constant returns a value that training leaves as it is, in row-major order; one number fills all of
// shape. A wrong count is an error of the graph.
func Constant(g *graph.Graph, shape tensor.Shape, values ...float32) *graph.Node {
	o := constant{shape: shape.Clone(), values: values}
	if len(values) == 1 {
		o.values = make([]float32, shape.Elems())
		for i := range o.values {
			o.values[i] = values[0]
		}
	}
	return g.Apply(o)[0]
}
