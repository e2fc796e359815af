package analysis

import (
	"math"
	"slices"

	"lockstep/random"
)

// resamples is the number of bootstrap samples of an interval: with 2000, an end of a 95 % interval is the
// 50th value from outside, which moves by about a tenth of the interval's probability from seed to seed.
const resamples = 2000

// BootstrapRatio returns the interval between the (1-coverage)/2 and (1+coverage)/2 quantiles of the
// ratios Median(over) / Median(under) of 2000 samples drawn from both with replacement, each by itself:
// the samples are not paired. NaN is ignored; fewer than two values have no interval. Equal arguments
// give equal bits. With n values of the smaller sample the interval states at most 1 - 2^(1-n), which is
// what a whole range covers: three values cover with 0.75; of two samples of three the true coverage is
// about 0.9.
//
// Source: Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979; the
// percentile interval of Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.
// Cost: 2000 n log n.
func BootstrapRatio(over, under []float64, coverage float64, seed uint64) Interval {
	x, y := sorted(over), sorted(under)
	a, b := medians(x, random.Derive(seed, 0)), medians(y, random.Derive(seed, 1))
	if a == nil || b == nil {
		return percentile(nil, coverage, 0)
	}
	for i := range a {
		a[i] /= b[i]
	}
	return percentile(a, coverage, min(len(x), len(y)))
}

// medians returns the medians of resamples of the sorted x; nil for fewer than two values.
func medians(x []float64, s random.Stream) []float64 {
	if len(x) < 2 {
		return nil
	}
	out, drawn := make([]float64, resamples), make([]float64, len(x))
	at := uint64(0)
	for i := range out {
		for j := range drawn {
			drawn[j] = x[s.Intn(at, len(x))]
			at++
		}
		slices.Sort(drawn)
		out[i] = quantile(drawn, 0.5)
	}
	return out
}

// percentile returns the middle part of the medians of n values that has the given probability.
func percentile(values []float64, coverage float64, n int) Interval {
	s := sorted(values)
	if len(s) == 0 {
		return Interval{Lo: math.NaN(), Hi: math.NaN()}
	}
	return Interval{Lo: quantile(s, (1-coverage)/2), Hi: quantile(s, (1+coverage)/2),
		Coverage: min(coverage, 1-math.Ldexp(1, 1-n))}
}
