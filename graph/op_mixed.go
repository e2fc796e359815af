package graph

import "fmt"

// MixedCrossEntropy is SmoothedCrossEntropy of samples of two classes each:
//
//	share[n] * loss of label[n] + (1-share[n]) * loss of other[n]
//
// as PyTorch's CrossEntropyLoss with shares as the target. logits is [N, K], labels and others [N] with
// values in [0, K), shares float32 [N]; the result is [N]. No gradient flows into shares.
func MixedCrossEntropy(logits, labels, others, shares *Node, smoothing float64) *Node {
	return logits.graph.emit(MixedCrossEntropyOp{smoothing}, logits, labels, others, shares)
}

// MixedCrossEntropyOp is MixedCrossEntropy of logits, labels, others and shares. Its second result, which
// only its gradient reads, is the derivative of each loss.
type MixedCrossEntropyOp struct{ Smoothing float64 }

func (MixedCrossEntropyOp) name() string { return "mixed-cross-entropy" }

func (o MixedCrossEntropyOp) infer(in []Type) ([]Type, error) {
	labels, others, shares := in[1], in[2], in[3]
	isSame := others.DType == labels.DType && others.Shape.Equal(labels.Shape)
	if !isSame || shares.DType != in[0].DType || !shares.Shape.Equal(labels.Shape) {
		return nil, fmt.Errorf("want int32 labels [N], others [N] and float32 shares [N]")
	}
	return SoftmaxCrossEntropyOp(o).infer(in[:2])
}

func (o MixedCrossEntropyOp) cost(in, out []Type) Cost { return SoftmaxCrossEntropyOp(o).cost(in, out) }

// host computes the loss and derivative for label, and moves a part of the target to other: both losses
// differ in one product, their derivatives in two elements.
func (o MixedCrossEntropyOp) host(h *Host, in, _ []Type) Kernel {
	classes, whole := in[0].Shape[1], float32(1-o.Smoothing)
	return Kernel{Run: func(a *Args) {
		losses, derivatives, logits := a.Out[0].F, a.Out[1].F, a.In[0].F
		labels, others := a.In[1].I, a.In[2].I
		h.rows.SoftmaxCrossEntropy(losses, derivatives, logits, labels, classes, o.Smoothing)
		for n, share := range a.In[3].F {
			moved := float32(float32(1-share) * whole)
			label, other := n*classes+int(labels[n]), n*classes+int(others[n])
			losses[n] += float32(moved * (logits[label] - logits[other]))
			if derivatives != nil {
				derivatives[label] += moved
				derivatives[other] -= moved
			}
		}
	}}
}

func (MixedCrossEntropyOp) gradient(b *Graph, c *call, dy []*Node) []*Node {
	return []*Node{b.emit(ScaleRowsOp{}, c.out[1], dy[0]), nil, nil, nil}
}
