package stat

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

const (
	// Significance is the probability with which any two equal rows may be called different.
	Significance = 0.05
	// Confidence is the coverage asked of every interval; small samples state what they reach.
	Confidence = 0.95
)

// PairedP returns the probability of ratios at least as far from 1 as these, if both sides are equally
// fast: the two-sided paired t-test on the logarithms of the ratios, of rounds that correlate.
func (r Ratio) PairedP() float64 {
	return driftingOf(logsOf(r.Values), r.correlation).nonzeroP()
}

// studentP returns P(|T| >= |t|) for Student's distribution.
func studentP(t, freedom float64) float64 {
	return mathext.RegIncBeta(freedom/2, 0.5, freedom/(freedom+t*t))
}

// studentQuantile returns the t with P(|T| < t) = coverage.
func studentQuantile(coverage, freedom float64) float64 {
	x := mathext.InvRegIncBeta(freedom/2, 0.5, 1-coverage)
	return math.Sqrt(freedom * (1 - x) / x)
}

// Holm corrects the probabilities of several tests for their number, so that all of them together call
// equal things different with at most the probability that is asked of one. The k-th smallest of n, from
// k = 0, is multiplied by n-k, and none is smaller than one before it. p stays as it is.
//
// Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
// Statistics 6, 1979. Tests may depend on one another. Cost: n log n.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out := make([]float64, len(p))
	least := 0.0
	for k, i := range order {
		least = max(least, min(1, float64(len(p)-k)*p[i]))
		out[i] = least
	}
	return out
}
