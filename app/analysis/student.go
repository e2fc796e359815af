package analysis

import (
	"cmp"
	"math"
	"slices"
)

// PairedP returns the probability of ratios at least as far from 1 as these, if both sides are equally
// fast: the two-sided paired t-test on the logarithms of the ratios, see [Moments.NonzeroP].
func (r Ratio) PairedP() float64 {
	logs := make([]float64, len(r.Values))
	for i, v := range r.Values {
		logs[i] = math.Log(v)
	}
	return MomentsOf(logs).NonzeroP()
}

// studentP returns P(|T| >= |t|) for Student's distribution with a whole number of degrees of freedom,
// by the finite series of Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and 26.7.4.
// Cost: linear in the degrees of freedom. A result below 1e-15 may be 0.
func studentP(t float64, freedom int) float64 {
	angle := math.Atan(math.Abs(t) / math.Sqrt(float64(freedom)))
	sin, cos := math.Sincos(angle)
	isOdd := freedom%2 == 1
	sum, term := 0.0, 1.0
	if isOdd {
		term = cos
	}
	for m := 1 + freedom%2; m < freedom; m += 2 {
		sum += term
		term *= cos * cos * float64(m) / float64(m+1)
	}
	if isOdd {
		return max(0, 1-2/math.Pi*(angle+sin*sum))
	}
	return max(0, 1-sin*sum)
}

// studentQuantile returns the t with P(|T| < t) = coverage, by bisection.
func studentQuantile(coverage float64, freedom int) float64 {
	lo, hi := 0.0, 1.0
	for studentP(hi, freedom) > 1-coverage {
		hi *= 2
	}
	for range 60 {
		if middle := (lo + hi) / 2; studentP(middle, freedom) > 1-coverage {
			lo = middle
		} else {
			hi = middle
		}
	}
	return hi
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
