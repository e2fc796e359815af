package asm

import "math"

// fma returns k*a + b rounded once, as the processor's fused multiply-add does. The sum of float64 is
// rounded to odd, so that rounding it again is as rounding once (Boldo and Melquiond 2008, "Emulation of FMA
// and Correctly Rounded Sums: Proved Algorithms Using Rounding to Odd").
func fma(k, a, b float32) float32 {
	product, addend := float64(k)*float64(a), float64(b)
	sum := product + addend
	part := sum - product
	rest := (product - (sum - part)) + (addend - part)
	if bits := math.Float64bits(sum); bits&1 == 0 && (rest > 0 || rest < 0) && !math.IsInf(sum, 0) {
		if (rest > 0) == (sum > 0) {
			bits++
		} else {
			bits--
		}
		sum = math.Float64frombits(bits)
	}
	return float32(sum)
}
