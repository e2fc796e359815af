package graph

import "fmt"

// SoftmaxCrossEntropy returns one loss per sample, log(sum over k of exp(x[n,k])) - x[n,label[n]].
// logits is [N, K], labels [N] with values in [0, K); the result is [N].
func SoftmaxCrossEntropy(logits, labels *Node) *Node {
	return logits.graph.emit(softmaxCrossEntropy{}, logits, labels)
}

// softmaxCrossEntropy has a second result that only its gradient reads: softmax(logits) - onehot,
// the derivative of each loss, which comes out of the same pass.
type softmaxCrossEntropy struct{}

func (softmaxCrossEntropy) Name() string { return "softmax-cross-entropy" }

func (softmaxCrossEntropy) Infer(in []Type) ([]Type, error) {
	x, labels := in[0], in[1]
	if len(x.Shape) != 2 || len(labels.Shape) != 1 || labels.Shape[0] != x.Shape[0] {
		return nil, fmt.Errorf("want logits [N, K] and labels [N]")
	}
	if labels.DType == x.DType {
		return nil, fmt.Errorf("want float32 logits and int32 labels")
	}
	return []Type{float(x.Shape[0]), x}, nil
}

// Cost counts five operations per logit: maximum, subtraction, exponential, sum, division.
func (softmaxCrossEntropy) Cost(in, out []Type) Cost {
	return cost(5*int64(in[0].Shape.Elems()), in, out)
}

func (softmaxCrossEntropy) host(h *Host, in, _ []Type) Kernel {
	classes := in[0].Shape[1]
	return Kernel{Run: func(a *Args) {
		h.cpu.SoftmaxCrossEntropy(a.Out[0].F, a.Out[1].F, a.In[0].F, a.In[1].I, classes)
	}}
}

func (softmaxCrossEntropy) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(scaleRows{}, c.out[1], dy[0]), nil}
}
