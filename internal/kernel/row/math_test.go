package row_test

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"lockstep/internal/kernel/row"
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
		e := row.Exp(x)
		// math's own result may be off by almost 1.
		if u := ulps(e, math.Exp(x)); u > 2 {
			t.Fatalf("exp(%v) = %v, off by %v ulp", x, e, u)
		}
		y := math.Ldexp(r.Float64()+0.5, r.IntN(2000)-1000)
		if r.IntN(2) == 0 {
			y = float64(r.Float64()*4) + 0x1p-60
		}
		l := row.Log(y)
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
		{row.Exp(0), 1}, {row.Exp(inf), inf}, {row.Exp(-inf), 0}, {row.Exp(nan), nan},
		{row.Exp(-709), 0}, {row.Exp(710), inf},
		{row.Log(1), 0}, {row.Log(inf), inf}, {row.Log(0), nan}, {row.Log(-1), nan},
		{row.Log(nan), nan},
	} {
		if c.got != c.want && (c.got == c.got || c.want == c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}
