package elementary_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"lockstep/internal/elementary"
)

// ulps returns |got-want| in units of the last place of want.
func ulps(got, want float64) float64 {
	return math.Abs(got-want) / (math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want))
}

func TestExpAndLog(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	h := fnv.New64a()
	for range 100000 {
		x := float64(r.Float64()*1400) - 700
		if r.IntN(2) == 0 {
			x = float64(r.Float64()*4) - 2
		}
		e := elementary.Exp(x)
		// math's own result may be off by almost 1.
		if u := ulps(e, math.Exp(x)); u > 2 {
			t.Fatalf("exp(%v) = %v, off by %v ulp", x, e, u)
		}
		y := math.Ldexp(r.Float64()+0.5, r.IntN(2000)-1000)
		if r.IntN(2) == 0 {
			y = float64(r.Float64()*4) + 0x1p-60
		}
		l := elementary.Log(y)
		if u := ulps(l, math.Log(y)); u > 2 {
			t.Fatalf("log(%v) = %v, off by %v ulp", y, l, u)
		}
		binary.Write(h, binary.LittleEndian, []float64{e, l})
	}
	// The same bits on every processor and for every compiler.
	if got, want := h.Sum64(), uint64(0x676a099f6f239c7e); got != want {
		t.Errorf("hash of 100000 values %#x, want %#x", got, want)
	}
}

func TestExpAndLogAtTheEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct{ got, want float64 }{
		{elementary.Exp(0), 1}, {elementary.Exp(inf), inf}, {elementary.Exp(-inf), 0},
		{elementary.Exp(nan), nan}, {elementary.Exp(-709), 0}, {elementary.Exp(710), inf},
		{elementary.Log(1), 0}, {elementary.Log(inf), inf}, {elementary.Log(0), -inf},
		{elementary.Log(-1), nan}, {elementary.Log(nan), nan},
	} {
		if c.got != c.want && (c.got == c.got || c.want == c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

// The others are math's to within what each promises and an ulp of math's, Pow to within 2e-13, on every
// processor with the same bits.
func TestDerived(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	h := fnv.New64a()
	check := func(name string, most, got, want float64) {
		t.Helper()
		isNear := got == want || ulps(got, want) <= most
		if !isNear && (got == got || want == want) {
			t.Fatalf("%s = %v, want %v", name, got, want)
		}
		binary.Write(h, binary.LittleEndian, got)
	}
	for range 20000 {
		x := float64(float32((float64(r.Float64()) - 0.5) * 16))
		small := float64(x * 0x1p-30)
		p := float64(r.IntN(400)) / 4
		check("erf", 3, elementary.Erf(x), math.Erf(x))
		check("erf, small", 3, elementary.Erf(small), math.Erf(small))
		check("expm1", 5, elementary.Expm1(x), math.Expm1(x))
		check("expm1, small", 5, elementary.Expm1(small), math.Expm1(small))
		check("log1p", 5, elementary.Log1p(math.Abs(x)), math.Log1p(math.Abs(x)))
		check("log1p, small", 5, elementary.Log1p(small), math.Log1p(small))
		check("pow", 900, elementary.Pow(x, p), math.Pow(x, p))
		check("pow, inverse", 900, elementary.Pow(x, -p), math.Pow(x, -p))
	}
	inf := math.Inf(1)
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, -2, 0x1p-149, inf, -inf, math.NaN()} {
		for _, p := range []float64{0, 0.5, 1, 2, 3, -1, -2, 65, 66, 65.5, -65, inf, -inf, math.NaN()} {
			check("pow at an edge", 900, elementary.Pow(x, p), math.Pow(x, p))
		}
		check("erf at an edge", 3, elementary.Erf(x), math.Erf(x))
		check("expm1 at an edge", 5, elementary.Expm1(x), math.Expm1(x))
		check("log1p at an edge", 5, elementary.Log1p(x), math.Log1p(x))
	}
	if got, want := h.Sum64(), uint64(0x2585bf74b40f9464); got != want {
		t.Errorf("hash of the values %#x, want %#x", got, want)
	}
}
