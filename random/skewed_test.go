package random_test

import (
	"math"
	"testing"

	"lockstep/random"
)

// The moments are those of the distribution: mean 1/2, variance 1 / (4 (2 alpha + 1)), fourth central moment
// 3 / (16 (2 alpha + 1) (2 alpha + 3)).
func TestBeta(t *testing.T) {
	const n = 40_000
	for _, alpha := range []float64{random.MinBeta, 0.2, 0.8, 1, random.MaxBeta} {
		sum, squares, fourth := 0.0, 0.0, 0.0
		for i := range uint64(n) {
			x := random.Derive(5, i).Beta(3, alpha)
			if !(x >= 0 && x <= 1) {
				t.Fatalf("alpha %v: %v", alpha, x)
			}
			d := x - 0.5
			sum, squares, fourth = sum+d, squares+d*d, fourth+d*d*d*d
		}
		variance, kurtosis := 1/(4*(2*alpha+1)), 3/(16*(2*alpha+1)*(2*alpha+3))
		if math.Abs(sum/n) > 0.008 || math.Abs(squares/n/variance-1) > 0.02 ||
			math.Abs(fourth/n/kurtosis-1) > 0.04 {
			t.Errorf("alpha %v: mean 0.5%+v, variance %v, fourth %v; want 0.5, %v, %v", alpha, sum/n,
				squares/n, fourth/n, variance, kurtosis)
		}
	}
}

// The logarithm of a ratio is uniform, and both ends are kept.
func TestRatio(t *testing.T) {
	const n, lo, hi = 40_000, 3.0 / 4, 4.0 / 3
	s := random.Derive(6)
	sum, squares := 0.0, 0.0
	for i := range uint64(n) {
		x := s.Ratio(i, lo, hi)
		want := math.Exp(math.Log(lo) + (math.Log(hi)-math.Log(lo))*s.Unit(i))
		if math.Abs(x/want-1) > 1e-14 || x < lo || x > hi {
			t.Fatalf("Ratio(%d) = %v, want %v", i, x, want)
		}
		sum, squares = sum+math.Log(x), squares+math.Log(x)*math.Log(x)
	}
	want := math.Pow(math.Log(hi/lo), 2) / 12
	if math.Abs(sum/n) > 0.005 || math.Abs(squares/n/want-1) > 0.03 {
		t.Errorf("logarithm: mean %v, variance %v; want 0, %v", sum/n, squares/n, want)
	}
}
