package asm

// FMA is fma.
var FMA = fma

// AddProduct is fma by the sums of tiles.
func AddProduct(k, a, b float32) float32 {
	var s, y plainSums
	s[3], y[3] = float64(b), float64(a)
	s.add(float64(k), &y)
	each := s
	each[3] = float64(b)
	var x plainSums
	x[3] = float64(k)
	if each.addEach(&x, &y); each[3] != s[3] {
		panic("add and addEach differ")
	}
	return float32(s[3])
}
