package random

import "math"

// Ratio returns number i of the stream, from lo to hi, both positive: its logarithm is uniform. It has the
// same bits on every processor.
func (s Stream) Ratio(i uint64, lo, hi float64) float64 {
	from := logarithm(lo)
	span := logarithm(hi) - from
	return min(max(exponential(from+float64(span*s.Unit(i))), lo), hi)
}

// MaxBeta is the greatest parameter of Beta, and MinBeta the least.
const (
	MinBeta = 0.05
	MaxBeta = 2
)

// betaTries bounds the pairs that Beta draws. Of MaxBeta one in six is taken, so that all are refused, and
// the mean returned, less than once in 10^20 calls.
const betaTries = 256

// Beta returns a number from 0 to 1 of the beta distribution with both parameters alpha, MinBeta to MaxBeta.
// It draws words i, i+1 and so on, at most 512 of them, and has the same bits on every processor. After Jöhnk
// 1964: of two uniform numbers x and y, x^(1/alpha) as a share of x^(1/alpha) + y^(1/alpha), if these add up
// to at most 1.
func (s Stream) Beta(i uint64, alpha float64) float64 {
	power := func(i uint64) float64 {
		return exponential(logarithm((float64(s.Word(i)>>12)+0.5)/(1<<52)) / alpha)
	}
	for try := range uint64(betaTries) {
		x, y := power(i+2*try), power(i+2*try+1)
		if sum := x + y; sum <= 1 {
			return x / sum
		}
	}
	return 0.5
}

// exponential returns e^x for |x| below 740: 2^n e^r with |r| at most log(2)/2, and the series of e^r. The
// one in package math differs between processors.
func exponential(x float64) float64 {
	const high, low = 0x1.62e42fee00000p-1, 0x1.a39ef35793c76p-33 // log(2) in two parts
	n := math.Round(x / math.Ln2)
	r := float64(x-float64(n*high)) - float64(n*low)
	sum := 1.0
	for k := 17; k >= 1; k-- {
		sum = 1 + float64(sum*r)/float64(k)
	}
	return math.Ldexp(sum, int(n))
}
