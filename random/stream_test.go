package random_test

import (
	"math"
	"slices"
	"testing"

	"lockstep/random"
)

// The reference values come from an independent implementation of the formulas in Python.
func TestWordIsSplitmix(t *testing.T) {
	for _, c := range []struct {
		stream random.Stream
		index  uint64
		want   uint64
	}{
		{0, 0, 0xE220A8397B1DCDAF},
		{0, 1, 0x910a2dec89025cc1},
		{100000, 7, 0x4fe349faec6ba7c6},
	} {
		if got := c.stream.Word(c.index); got != c.want {
			t.Errorf("Stream(%d).Word(%d) = %#x, want %#x", c.stream, c.index, got, c.want)
		}
	}
}

func TestUnitMomentsAndRange(t *testing.T) {
	const n = 100_000
	s := random.Derive(1, 2, 3)
	sum, squares := 0.0, 0.0
	for i := range uint64(n) {
		u := s.Unit(i)
		if u < 0 || u >= 1 {
			t.Fatalf("Unit(%d) = %v", i, u)
		}
		sum, squares = sum+u, squares+u*u
	}
	mean := sum / n
	if variance := squares/n - mean*mean; math.Abs(mean-0.5) > 0.005 ||
		math.Abs(variance-1.0/12) > 0.002 {
		t.Errorf("mean %v, variance %v; want about 1/2, 1/12", mean, variance)
	}
}

func TestDeriveSeparatesPaths(t *testing.T) {
	seen := map[random.Stream][]uint64{}
	for _, path := range [][]uint64{{}, {0}, {1}, {0, 0}, {0, 1}, {1, 0}, {1, 1, 1}} {
		s := random.Derive(42, path...)
		if other, ok := seen[s]; ok {
			t.Errorf("paths %v and %v give the same stream", path, other)
		}
		seen[s] = path
	}
}

func TestPermIsAPermutationAndUniform(t *testing.T) {
	var counts [4]int
	for seed := range uint64(4000) {
		p := make([]int32, 4)
		random.Derive(seed).Perm(p)
		counts[p[0]]++
		slices.Sort(p)
		if !slices.Equal(p, []int32{0, 1, 2, 3}) {
			t.Fatalf("seed %d: sorted permutation is %v", seed, p)
		}
	}
	for v, n := range counts {
		if n < 850 || n > 1150 {
			t.Errorf("value %d comes first %d times of 4000, want about 1000", v, n)
		}
	}
}

func TestIntnPanicsOnEmptyRange(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Intn(0, 0) did not panic")
		}
	}()
	random.Stream(0).Intn(0, 0)
}

// The distribution function, by package math, leads back to the uniform number; the moments are those
// of the distribution.
func TestNormal(t *testing.T) {
	const n = 100_000
	s := random.Derive(3, 1)
	sum, squares, fourth, beyond := 0.0, 0.0, 0.0, 0
	for i := range uint64(n) {
		x := s.Normal(i)
		p := (float64(s.Word(i)>>12) + 0.5) / (1 << 52)
		if got := math.Erfc(-x/math.Sqrt2) / 2; math.Abs(got-p) > 1e-7*min(p, 1-p) {
			t.Fatalf("Normal(%d) = %v, where the distribution is %v, want %v", i, x, got, p)
		}
		sum, squares, fourth = sum+x, squares+x*x, fourth+x*x*x*x
		if math.Abs(x) > 3 {
			beyond++
		}
	}
	if mean := sum / n; math.Abs(mean) > 0.01 || math.Abs(squares/n-1) > 0.02 ||
		math.Abs(fourth/n-3) > 0.15 || beyond < 200 || beyond > 340 {
		t.Errorf("mean %v, variance %v, fourth moment %v, %d beyond 3; want about 0, 1, 3, 270",
			mean, squares/n, fourth/n, beyond)
	}
}
