package asm

// FMA is fma.
var FMA = fma

// AddProduct is fma by the sums of tiles.
func AddProduct(k, a, b float32) float32 {
	var s, x, y vector
	s[3], x[3], y[3] = b, k, a
	each := s
	s.add(float64(k), &y)
	if each.addEach(&x, &y); each[3] != s[3] {
		panic("add and addEach differ")
	}
	return s[3]
}
