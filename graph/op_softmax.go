package graph

import "fmt"

// SoftmaxCrossEntropy returns one loss per sample, log(sum over k of exp(x[n,k])) - x[n,label[n]].
// logits is [N, K], labels [N] with values in [0, K); the result is [N].
func SoftmaxCrossEntropy(logits, labels *Node) *Node { return SmoothedCrossEntropy(logits, labels, 0) }

// SmoothedCrossEntropy is SoftmaxCrossEntropy with label smoothing from 0 to 1: the target is
// 1-smoothing for the label and smoothing/K more for each of the K classes, which makes the loss
//
//	log(sum over k of exp(x[n,k])) - (1-smoothing)*x[n,label[n]] - smoothing * mean over k of x[n,k]
//
// as in PyTorch's CrossEntropyLoss.
func SmoothedCrossEntropy(logits, labels *Node, smoothing float64) *Node {
	return logits.graph.emit(SoftmaxCrossEntropyOp{smoothing}, logits, labels)
}

// SoftmaxCrossEntropyOp is SmoothedCrossEntropy of logits and labels. Its second result, which only its
// gradient reads, is the derivative of each loss, softmax(logits) - target.
type SoftmaxCrossEntropyOp struct{ Smoothing float64 }

func (SoftmaxCrossEntropyOp) name() string { return "softmax-cross-entropy" }

func (o SoftmaxCrossEntropyOp) infer(in []Type) ([]Type, error) {
	if !(o.Smoothing >= 0 && o.Smoothing <= 1) {
		return nil, fmt.Errorf("label smoothing of %v, want 0 to 1", o.Smoothing)
	}
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
func (SoftmaxCrossEntropyOp) cost(in, out []Type) Cost {
	return cost(5*int64(in[0].Shape.Elems()), in, out)
}

func (o SoftmaxCrossEntropyOp) host(h *Host, in, _ []Type) Kernel {
	classes := in[0].Shape[1]
	return Kernel{Run: func(a *Args) {
		h.rows.SoftmaxCrossEntropy(a.Out[0].F, a.Out[1].F, a.In[0].F, a.In[1].I, classes, o.Smoothing)
	}}
}

func (SoftmaxCrossEntropyOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(ScaleRowsOp{}, c.out[1], dy[0]), nil}
}
