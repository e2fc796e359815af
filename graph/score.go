package graph

import (
	"math"

	"lockstep/internal/elementary"
)

// CountCorrect returns the number of samples whose label, [N], is the argmax of their logits, [N, K], the
// first one if several are equal. A sample with a NaN logit does not count. N must not be 0.
func CountCorrect(logits []float32, labels []int32) int {
	correct, classes := 0, len(logits)/len(labels)
	for n, label := range labels {
		if isFirstLargest(logits[n*classes:(n+1)*classes], int(label)) {
			correct++
		}
	}
	return correct
}

// isFirstLargest reports whether row[at] is above all values before it and not below any after it.
func isFirstLargest(row []float32, at int) bool {
	for k, x := range row {
		if isLess := x < row[at]; !isLess && (k < at || x != row[at]) {
			return false
		}
	}
	return true
}

// CrossEntropy returns the sum over the samples of
//
//	log(sum over k of exp(x[n,k])) - x[n,label[n]]
//
// for logits x, [N, K], and labels, [N], in float64: what SoftmaxCrossEntropy computes in float32.
// Sums run in order. The result is NaN if a logit is NaN or infinite, and finite otherwise. N must not
// be 0.
func CrossEntropy(logits []float32, labels []int32) float64 {
	sum, classes := 0.0, len(logits)/len(labels)
	for n, label := range labels {
		row := logits[n*classes : (n+1)*classes]
		sum += logSumExp(row) - float64(row[label])
	}
	return sum
}

// logSumExp returns log(sum over k of exp(row[k])), NaN unless all values are finite.
func logSumExp(row []float32) float64 {
	top := math.Inf(-1)
	for _, x := range row {
		top = math.Max(top, float64(x)+float64(x-x)) // an infinite x becomes NaN, which stays
	}
	sum := 0.0
	for _, x := range row {
		sum += elementary.Exp(float64(x) - top)
	}
	return top + elementary.Log(sum)
}
