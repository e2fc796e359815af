package kerneltest

import (
	"math"
	"math/rand/v2"
	"testing"

	"lockstep/compute"
)

const (
	sentinels = 64         // at least so many guard a slice
	sentinel  = 0x7fc0beef // a NaN that no kernel makes
)

// TB is the part of testing.TB that this package needs; rapid.T has it too.
type TB interface {
	Helper()
	Cleanup(func())
	Error(...any)
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

// fence fills s with sentinels and returns a function that fails the test if one has changed.
func fence(t TB, s []float32) func() {
	for i := range s {
		s[i] = math.Float32frombits(sentinel)
	}
	return func() {
		for i, v := range s {
			if math.Float32bits(v) != sentinel {
				t.Errorf("%d floats from the end of %d guarding ones: %v", len(s)-i, len(s), v)
			}
		}
	}
}

// Draw returns n guarded floats, normally distributed around mean.
func Draw(t TB, n int, mean float64, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	s := Floats(t, n)
	for i := range s {
		s[i] = float32(mean + r.NormFloat64())
	}
	return s
}

// Odd sets some elements of s to special values.
func Odd(s []float32, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 8))
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e-42, 3}
	for i := range s {
		if r.IntN(3) == 0 {
			s[i] = float32(special[r.IntN(len(special))])
		}
	}
}

// Clone returns a guarded copy of s.
func Clone(t TB, s []float32) []float32 {
	c := Floats(t, len(s))
	copy(c, s)
	return c
}

// SameBits fails unless got and want are equal bit for bit, any NaN being equal to any other.
func SameBits(t TB, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d floats, want %d", what, len(got), len(want))
	}
	for i, g := range got {
		if w := want[i]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
			t.Fatalf("%s: [%d] of %d is %v, want %v", what, i, len(got), g, w)
		}
	}
}

// Near fails unless got is within tolerance of want, relative to the larger of |want| and floor.
func Near(t testing.TB, what string, got []float32, want []float64, tolerance, floor float64) {
	t.Helper()
	for i, g := range got {
		if e := math.Abs(float64(g) - want[i]); !(e <= tolerance*max(math.Abs(want[i]), floor)) {
			t.Fatalf("%s: [%d] of %d is %v, want %v", what, i, len(got), g, want[i])
		}
	}
}

// Everywhere runs check as a subtest on every ISA with 1, 2 and 3 threads.
func Everywhere(t *testing.T, check func(t *testing.T, c *compute.CPU)) {
	for _, isa := range compute.Supported() {
		for threads := 1; threads <= 3; threads++ {
			t.Run(isa.String()+"/"+string(rune('0'+threads)), func(t *testing.T) {
				check(t, Open(t, isa, threads))
			})
		}
	}
}

// Open returns a CPU that is closed when the test ends.
func Open(t testing.TB, isa compute.ISA, threads int) *compute.CPU {
	t.Helper()
	c, err := compute.Open(compute.Config{ISA: isa, Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
