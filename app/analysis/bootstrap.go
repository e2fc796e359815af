package analysis

import (
	"math"
	"slices"

	"lockstep/random"
)

// resamples is the number of bootstrap samples of an interval: with 2000, an end of a 95 % interval is the
// 50th value from outside, which moves by about a tenth of the interval's probability from seed to seed.
const resamples = 2000

// BootstrapMedian returns the interval between the (1-coverage)/2 and (1+coverage)/2 quantiles of the
// medians of 2000 samples drawn from x with replacement. NaN is ignored; fewer than two values have no
// interval. Equal arguments give equal bits. For few values the true coverage is lower: at most
// 1 - 2^(1-n) for n of them ([MedianInterval]).
//
// Source: Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7, 1979; the
// percentile interval of Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.
// Cost: 2000 n log n.
func BootstrapMedian(x []float64, coverage float64, seed uint64) Interval {
	return percentile(medians(sorted(x), random.Derive(seed, 0)), coverage)
}

// BootstrapRatio returns the interval of Median(over) / Median(under) for two samples that are not paired:
// both are resampled, each by itself. The rest is as in [BootstrapMedian].
func BootstrapRatio(over, under []float64, coverage float64, seed uint64) Interval {
	a, b := medians(sorted(over), random.Derive(seed, 0)), medians(sorted(under), random.Derive(seed, 1))
	if a == nil || b == nil {
		return percentile(nil, coverage)
	}
	for i := range a {
		a[i] /= b[i]
	}
	return percentile(a, coverage)
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

// percentile returns the middle part of the values that has the given probability.
func percentile(values []float64, coverage float64) Interval {
	s := sorted(values)
	if len(s) == 0 {
		return Interval{Lo: math.NaN(), Hi: math.NaN()}
	}
	return Interval{Lo: quantile(s, (1-coverage)/2), Hi: quantile(s, (1+coverage)/2), Coverage: coverage}
}
