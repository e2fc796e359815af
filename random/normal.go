package random

import "math"

// Normal returns number i of the stream, normally distributed with mean 0 and deviation 1: the
// inverse of the distribution function at a uniform number of 52 bits.
//
// The inverse is P. J. Acklam's rational approximation (2003), whose relative error is below
// 1.2e-9. It uses only operations that IEEE 754 rounds correctly, so the result is the same on
// every processor.
func (s Stream) Normal(i uint64) float64 {
	p := (float64(s.Word(i)>>12) + 0.5) / (1 << 52)
	const tail = 0.02425
	switch {
	case p < tail:
		return normalTail(p)
	case p > 1-tail:
		return -normalTail(1 - p)
	}
	q := p - 0.5
	r := q * q
	num := polynomial(r, -3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
		1.383577518672690e+02, -3.066479806614716e+01, 2.506628277459239e+00)
	den := polynomial(r, -5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
		6.680131188771972e+01, -1.328068155288572e+01, 1)
	return q * num / den
}

// normalTail is the inverse for small p.
func normalTail(p float64) float64 {
	q := math.Sqrt(-2 * logarithm(p))
	num := polynomial(q, -7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
		-2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00)
	den := polynomial(q, 7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
		3.754408661907416e+00, 1)
	return num / den
}

// polynomial evaluates by Horner's rule, coefficients from the highest power down. The conversion
// prevents fused multiply-add.
func polynomial(x float64, coefficients ...float64) float64 {
	y := 0.0
	for _, c := range coefficients {
		y = float64(y*x) + c
	}
	return y
}

// logarithm returns log(x) for a normal x > 0: log(f*2^e) = e*log(2) + 2*atanh((f-1)/(f+1)), with
// the series of atanh, whose argument is at most 1/3. The implementation in package math differs
// between processors.
func logarithm(x float64) float64 {
	f, e := math.Frexp(x)
	z := (f - 1) / (f + 1)
	square := z * z
	sum := 0.0
	for k := 33; k >= 1; k -= 2 {
		sum = float64(sum*square) + 1/float64(k)
	}
	return float64(float64(e)*math.Ln2) + float64(2*z*sum)
}
