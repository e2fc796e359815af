package asm_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"lockstep/internal/kernel/asm"
)

// exactFMA returns k*a + b rounded once, by exact arithmetic.
func exactFMA(k, a, b float32) float32 {
	exact := func(x float32) *big.Float { return new(big.Float).SetPrec(1024).SetFloat64(float64(x)) }
	product := new(big.Float).SetPrec(1024).Mul(exact(k), exact(a))
	sum := product.Add(product, exact(b))
	if sum.Sign() == 0 { // its sign is by the operands'
		return float32(float64(k)*float64(a) + float64(b))
	}
	f, _ := sum.Float32()
	return f
}

// drawFloat returns a number whose last bits are often zeros, of any size or near 1.
func drawFloat(r *rand.Rand) float32 {
	bits := r.Uint32()
	if r.IntN(2) == 0 {
		bits &^= 1<<r.IntN(24) - 1
	}
	if r.IntN(3) > 0 {
		bits = bits&0x807fffff | uint32(127-12+r.IntN(24))<<23
	}
	if x := math.Float32frombits(bits); x-x == 0 {
		return x
	}
	return 1
}

// checkFMA holds both forms of the multiply-add to exact arithmetic.
func checkFMA(t *testing.T, k, a, b float32) {
	t.Helper()
	want := exactFMA(k, a, b)
	for _, got := range []float32{asm.FMA(k, a, b), asm.AddProduct(k, a, b)} {
		if math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("%x*%x + %x = %x, want %x", k, a, b, got, want)
		}
	}
}

// Multiply-adds of plain Go round once, ties and denormals too.
func TestFMARoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300_000 {
		k, a, b := drawFloat(r), drawFloat(r), drawFloat(r)
		checkFMA(t, k, a, b)
		// b halfway between two floats, or nearly, and a product that is far smaller.
		half := math.Float32frombits(math.Float32bits(b)&^1 | r.Uint32()&1)
		unit := float32(math.Abs(float64(half - math.Nextafter32(half, 0))))
		checkFMA(t, unit/2, 1, half)
		checkFMA(t, unit/2, math.Nextafter32(1, float32(r.IntN(3))), half)
		checkFMA(t, unit/2, math.Nextafter32(1, 2), math.Nextafter32(half, 2*half))
		// Sums that are denormal.
		small := math.Float32frombits(r.Uint32() & 0x80ffffff)
		checkFMA(t, k*0x1p-75, a*0x1p-75, small)
	}
}

func FuzzFMA(f *testing.F) {
	f.Add(uint32(0x3f800001), uint32(0x3f800001), uint32(0xbf800000))
	f.Add(uint32(0x00000001), uint32(0x3f000000), uint32(0x00000001))
	f.Add(uint32(0x7f7fffff), uint32(0x3f800001), uint32(0x73000000))
	f.Fuzz(func(t *testing.T, k, a, b uint32) {
		var x [3]float32
		for i, bits := range []uint32{k, a, b} {
			if x[i] = math.Float32frombits(bits); x[i]-x[i] != 0 {
				t.Skip("not finite")
			}
		}
		checkFMA(t, x[0], x[1], x[2])
	})
}
