package row

import (
	"fmt"

	"lockstep/compute"
	"lockstep/internal/elementary"
	"lockstep/internal/kernel/asm"
)

// crossEntropy is a softmax cross entropy call in progress.
type crossEntropy struct {
	losses, grad, logits []float32
	labels               []int32
	classes              int
	smoothing            float64
}

// crossEntropyFloats is the work of one exponential in units of CPU.share's element count.
const crossEntropyFloats = 32

// keptExponentials is the number of classes whose exponentials are kept for the second loop: enough for
// ImageNet.
const keptExponentials = 1000

// SoftmaxCrossEntropy computes for every sample i with logits z = logits[i*classes:(i+1)*classes] and
// label t = labels[i]
//
//	losses[i]    = log(sum_j exp(z[j])) - sum_j q[j]*z[j]
//	dlogits[i,j] = exp(z[j]) / sum_k exp(z[k]) - q[j]
//
// with the target q[j] = s/classes, plus 1-s at j = t, where s is the label smoothing, 0 to 1 (Szegedy et
// al. 2015, arXiv 1512.00567, section 7; PyTorch's label_smoothing). At s = 0 the first line is log(sum_j
// exp(z[j])) - z[t]. So dlogits is the gradient of the sum of the losses. The maximum of z is taken off
// first; sums run in float64 in the order of the classes, and results are rounded once. dlogits may be
// logits, or nil if only the losses are wanted. Labels must lie in [0, classes). Logits that are NaN or all
// infinite give NaN.
func (c *CPU) SoftmaxCrossEntropy(losses, dlogits, logits []float32, labels []int32, classes int,
	smoothing float64) {
	const op = "softmax cross entropy"
	MustLen(op, "labels", len(labels), len(losses))
	MustLen(op, "logits", len(logits), len(losses)*classes)
	if dlogits != nil {
		MustLen(op, "dlogits", len(dlogits), len(logits))
	}
	for i, t := range labels {
		if t < 0 || int(t) >= classes {
			panic(fmt.Sprintf("kernel: %s: labels[%d]=%d, want 0 to %d", op, i, t, classes-1))
		}
	}
	c.loss = crossEntropy{losses, dlogits, logits, labels, classes, smoothing}
	c.Share(&c.loss, len(logits)*crossEntropyFloats)
	c.loss = crossEntropy{}
}

// Do computes a run of samples.
func (e *crossEntropy) Do(_, part, parts int) {
	var kept [keptExponentials]float64
	lo, hi := compute.Span(len(e.losses), part, parts)
	for i := lo; i < hi; i++ {
		z := e.logits[i*e.classes : (i+1)*e.classes]
		var d []float32
		if e.grad != nil {
			d = e.grad[i*e.classes : (i+1)*e.classes]
		}
		e.losses[i] = crossEntropyRow(d, z, int(e.labels[i]), e.smoothing, kept[:])
	}
}

// crossEntropyRow returns the loss of one sample and writes its gradient to d unless that is nil. kept
// holds the exponentials of the first classes for the second loop.
func crossEntropyRow(d, z []float32, label int, smoothing float64, kept []float64) float32 {
	top := z[0]
	for _, v := range z {
		if asm.Beats(v, top) {
			top = v
		}
	}
	shift, sum := float64(top), 0.0
	for j, v := range z {
		e := elementary.Exp(float64(v) - shift)
		if sum += e; j < len(kept) {
			kept[j] = e
		}
	}
	away := smoothing / float64(len(z)) // each class's share of the target
	loss := float32(elementary.Log(sum) - smoothed(z, label, shift, smoothing, away))
	for j := range d {
		var e float64
		if j < len(kept) {
			e = kept[j]
		} else {
			e = elementary.Exp(float64(z[j]) - shift)
		}
		if e = e/sum - away; j == label {
			e -= 1 - smoothing
		}
		d[j] = float32(e)
	}
	return loss
}

// smoothed returns the sum of the logits, less shift, weighted by the target.
func smoothed(z []float32, label int, shift, smoothing, away float64) float64 {
	at := float64(z[label]) - shift
	if smoothing == 0 {
		return at
	}
	sum := 0.0
	for _, v := range z {
		sum += float64(v) - shift
	}
	return float64((1-smoothing)*at) + float64(away*sum)
}
