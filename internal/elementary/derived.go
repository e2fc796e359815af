package elementary

import "math"

// Expm1 returns e^x - 1 to within 4 ulp, of a small x too. After Kahan: the error of e^x rounded and that of
// its logarithm cancel.
func Expm1(x float64) float64 {
	switch y := Exp(x); {
	case y == 1:
		return x
	case y == 0 || math.IsInf(y, 1) || y != y:
		return y - 1
	default:
		return (y - 1) * x / Log(y)
	}
}

// Log1p returns log(1+x) to within 4 ulp, of a small x too: -Inf of -1, NaN below.
func Log1p(x float64) float64 {
	y := 1 + x
	if y == 1 {
		return x
	}
	if math.IsInf(y, 1) {
		return y
	}
	return Log(y) * x / (y - 1)
}

// mostFactors is the largest power that Pow multiplies out.
const mostFactors = 64

// Pow returns x^p to within 4e-14 of its size where that is in float32's range, else to within 3e-13: what
// Log rounds, times |p log x|. Denormals may be zero. Special cases are those of math.Pow.
func Pow(x, p float64) float64 {
	switch n := math.Abs(p); {
	case n <= mostFactors && n == math.Trunc(n):
		y := product(x, int(n))
		if p < 0 {
			return 1 / y
		}
		return y
	case x <= 0 || math.IsInf(x, 0) || x != x || math.IsInf(p, 0) || p != p:
		if x < 0 && p == math.Trunc(p) && !math.IsInf(x, 0) && !math.IsInf(p, 0) {
			return math.Pow(-1, p) * Pow(-x, p)
		}
		return math.Pow(x, p) // exact
	case p == 0.5:
		return math.Sqrt(x)
	}
	return Exp(p * Log(x))
}

// product returns x^n by squaring.
func product(x float64, n int) float64 {
	y := 1.0
	for ; n > 0; n /= 2 {
		if n%2 == 1 {
			y *= x
		}
		x *= x
	}
	return y
}
