package kernel

import "fmt"

// crossEntropy is a softmax cross entropy call in progress.
type crossEntropy struct {
	losses, grad, logits []float32
	labels               []int32
	classes              int
}

// crossEntropyFloats is the work of one exponential in units of CPU.share's element count.
const crossEntropyFloats = 32

// keptExponentials is the number of classes whose exponentials are taken once: those of ImageNet.
const keptExponentials = 1000

// SoftmaxCrossEntropy computes for every sample i with logits z = logits[i*classes:(i+1)*classes] and
// label t = labels[i]
//
//	losses[i]    = log(sum_j exp(z[j])) - z[t]
//	dlogits[i,j] = exp(z[j]) / sum_k exp(z[k]) - (1 if j = t else 0)
//
// so dlogits is the gradient of the sum of the losses. The maximum of z is taken off first; sums run
// in float64 in the order of the classes, and results are rounded once. dlogits may be logits, or nil
// if only the losses are wanted. Labels must lie in [0, classes). Logits that are NaN or all infinite
// give NaN.
func (c *CPU) SoftmaxCrossEntropy(losses, dlogits, logits []float32, labels []int32, classes int) {
	const op = "softmax cross entropy"
	mustLen(op, "labels", len(labels), len(losses))
	mustLen(op, "logits", len(logits), len(losses)*classes)
	if dlogits != nil {
		mustLen(op, "dlogits", len(dlogits), len(logits))
	}
	for i, t := range labels {
		if t < 0 || int(t) >= classes {
			panic(fmt.Sprintf("kernel: %s: labels[%d]=%d, want 0 to %d", op, i, t, classes-1))
		}
	}
	c.loss = crossEntropy{losses, dlogits, logits, labels, classes}
	c.share(&c.loss, len(logits)*crossEntropyFloats)
	c.loss = crossEntropy{}
}

// Do computes a run of samples.
func (e *crossEntropy) Do(part, parts int) {
	var kept [keptExponentials]float64
	lo, hi := span(len(e.losses), part, parts)
	for i := lo; i < hi; i++ {
		z := e.logits[i*e.classes : (i+1)*e.classes]
		var d []float32
		if e.grad != nil {
			d = e.grad[i*e.classes : (i+1)*e.classes]
		}
		e.losses[i] = crossEntropyRow(d, z, int(e.labels[i]), kept[:])
	}
}

// crossEntropyRow returns the loss of one sample and writes its gradient to d unless that is nil. The
// exponentials of the first classes wait for the second loop in kept.
func crossEntropyRow(d, z []float32, label int, kept []float64) float32 {
	top := z[0]
	for _, v := range z {
		if beats(v, top) {
			top = v
		}
	}
	shift, sum := float64(top), 0.0
	for j, v := range z {
		e := exp(float64(v) - shift)
		if sum += e; j < len(kept) {
			kept[j] = e
		}
	}
	loss := float32(log(sum) - (float64(z[label]) - shift))
	for j := range d {
		var e float64
		if j < len(kept) {
			e = kept[j]
		} else {
			e = exp(float64(z[j]) - shift)
		}
		if e /= sum; j == label {
			e--
		}
		d[j] = float32(e)
	}
	return loss
}
