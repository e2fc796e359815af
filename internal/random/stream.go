package random

import (
	"math"
	"math/bits"
)

// Stream is an independent sequence of 64-bit words, addressed by index.
type Stream uint64

const streamSpacing = 0xD1342543DE82EF95

// mix is splitmix64's output function after one increment.
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// Derive returns the stream for seed and a path of numbers below it, such as (purpose, epoch,
// sample). Different paths give unrelated streams; the order of the parts matters.
func Derive(seed uint64, parts ...uint64) Stream {
	h := mix(seed)
	for _, p := range parts {
		h = mix(h ^ mix(p))
	}
	return Stream(h)
}

// Word returns word i of the stream: splitmix(stream * 0xD1342543DE82EF95 + i).
func (s Stream) Word(i uint64) uint64 { return mix(s.Start() + i) }

// Start returns stream * 0xD1342543DE82EF95: word i is splitmix(Start() + i), for those who draw many.
func (s Stream) Start() uint64 { return uint64(s) * streamSpacing }

// Normal returns number i of the stream, normally distributed with mean 0 and variance 1, by the inverse
// of the distribution function of (Unit(i) + 2^-25): Wichura 1988, algorithm AS 241, to about 1e-15.
func (s Stream) Normal(i uint64) float64 {
	q := s.Unit(i) + 1.0/(1<<25) - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return q * ratio(r, &centerTop, &centerBottom)
	}
	r := math.Sqrt(-logarithm(0.5 - math.Abs(q)))
	x := ratio(r-1.6, &tailTop, &tailBottom) // r is at most 4.2
	return math.Copysign(x, q)
}

// ratio returns the quotient of two polynomials in r, coefficients of low powers first. Products are
// converted so that no compiler may fuse them with a sum: the bits are the same everywhere.
func ratio(r float64, top, bottom *[8]float64) float64 {
	a, b := top[7], bottom[7]
	for i := 6; i >= 0; i-- {
		a = float64(a*r) + top[i]
		b = float64(b*r) + bottom[i]
	}
	return a / b
}

// logarithm returns the natural logarithm of x, 0 < x < 1, by the series of artanh; math.Log has other
// bits on some processors.
func logarithm(x float64) float64 {
	m, e := math.Frexp(x)
	s := (m - 1) / (m + 1) // -1/3 to 0
	sum, power, square := 0.0, s, float64(s*s)
	for k := 1; k < 36; k += 2 {
		sum += power / float64(k)
		power = float64(power * square)
	}
	return float64(2*sum) + float64(float64(e)*math.Ln2)
}

// The coefficients of AS 241, PPND16: for |q| <= 0.425, and for the tails up to 5.
var (
	centerTop = [8]float64{3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3,
		1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
		3.3430575583588128105e4, 2.5090809287301226727e3}
	centerBottom = [8]float64{1, 4.2313330701600911252e1, 6.8718700749205790830e2,
		5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4,
		2.8729085735721942674e4, 5.2264952788528545610e3}
	tailTop = [8]float64{1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550,
		3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1,
		2.27238449892691845833e-2, 7.74545014278341407640e-4}
	tailBottom = [8]float64{1, 2.05319162663775882187, 1.67638483018380384940,
		6.89767334985100004550e-1, 1.48103976427480074590e-1, 1.51986665636164571966e-2,
		5.47593808499534494600e-4, 1.05075007164441684324e-9}
)

// Unit returns number i of the stream, uniform in [0, 1) with 24 bits.
func (s Stream) Unit(i uint64) float64 { return float64(s.Word(i)>>40) / (1 << 24) }

// Symmetric returns number i of the stream, uniform in [-bound, bound):
// float32((2*Unit(i) - 1) * bound).
func (s Stream) Symmetric(i uint64, bound float64) float32 {
	u := float64(2*s.Unit(i)) - 1
	return float32(u * bound)
}

// Intn returns number i of the stream, uniform in [0, n), by the high half of a 128-bit product.
// Its bias is below n / 2^64. It panics unless n > 0.
func (s Stream) Intn(i uint64, n int) int {
	if n <= 0 {
		panic("random: Intn: n must be positive")
	}
	hi, _ := bits.Mul64(s.Word(i), uint64(n))
	return int(hi)
}

// Perm fills dst with a uniform permutation of 0..len(dst)-1 (Fisher and Yates, as in Knuth,
// volume 2, algorithm P). Cost: O(len(dst)).
func (s Stream) Perm(dst []int32) {
	for i := range dst {
		dst[i] = int32(i)
	}
	for i := len(dst) - 1; i > 0; i-- {
		j := s.Intn(uint64(i), i+1)
		dst[i], dst[j] = dst[j], dst[i]
	}
}
