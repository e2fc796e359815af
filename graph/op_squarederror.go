package graph

import "fmt"

// SquaredError returns, for each sample, the mean over k of (x[n,k] - target[n,k])^2. x and target are
// [N, K]; the result is [N]. No gradient flows into target. The mean of the result over a batch is
// PyTorch's MSELoss.
func SquaredError(x, target *Node) *Node { return x.graph.emit(SquaredErrorOp{}, x, target) }

// SquaredErrorOp is SquaredError of x and target. Its second result, which only its gradient reads, is the
// derivative of each error, 2 (x - target) / K.
type SquaredErrorOp struct{}

func (SquaredErrorOp) name() string { return "squared-error" }

func (SquaredErrorOp) infer(in []Type) ([]Type, error) {
	x, target := in[0], in[1]
	if len(x.Shape) != 2 || !target.Shape.Equal(x.Shape) || target.DType != x.DType {
		return nil, fmt.Errorf("want float32 values and targets, both [N, K]")
	}
	return []Type{float(x.Shape[0]), x}, nil
}

func (SquaredErrorOp) cost(in, out []Type) Cost { return cost(4*int64(in[0].Shape.Elems()), in, out) }

func (SquaredErrorOp) host(*Host, []Type, []Type) Kernel {
	return Kernel{Run: func(a *Args) { squaredError(a.Out[0].F, a.Out[1].F, a.In[0].F, a.In[1].F) }}
}

// squaredError adds up each row's squares in order, each operation rounded to float32.
func squaredError(errors, derivative, x, target []float32) {
	k := len(x) / len(errors)
	for n := range errors {
		sum := float32(0)
		for i := n * k; i < (n+1)*k; i++ {
			d := x[i] - target[i]
			sum += float32(d * d)
			derivative[i] = 2 * d / float32(k)
		}
		errors[n] = sum / float32(k)
	}
}

func (SquaredErrorOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(ScaleRowsOp{}, c.out[1], dy[0]), nil}
}
