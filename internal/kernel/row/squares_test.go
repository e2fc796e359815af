package row_test

import (
	"fmt"
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/row"
)

// Every ISA and number of threads gives the same bits.
func TestSquares(t *testing.T) {
	for _, n := range []int{0, 1, 17, 4096, 4097, 100_003, 300_000} {
		var first float64
		for i, isa := range compute.Supported() {
			for _, threads := range []int{1, 2, 3} {
				x, want := kerneltest.Draw(t, n, 0, 1), 0.0
				for _, v := range x {
					want += float64(v) * float64(v)
				}
				plan := row.On(kerneltest.Open(t, isa, threads)).NewSquares(300_000)
				got := plan.Sum(x)
				if math.Abs(got-want) > 1e-5*want {
					t.Errorf("%v, %d elements: %v, want %v", isa, n, got, want)
				}
				if i == 0 && threads == 1 {
					first = got
				}
				if got != first {
					t.Errorf("%v, %d threads, %d elements: %v, elsewhere %v", isa, threads, n, got, first)
				}
				if a := alloctest.Least(5, func() { plan.Sum(x) }); a != 0 {
					t.Errorf("%v allocations, want 0", a)
				}
			}
		}
	}
}

func TestLerpAndAddScaled(t *testing.T) {
	kerneltest.Everywhere(t, func(t *testing.T, c *compute.CPU) {
		for _, n := range []int{1, 33, 70_001} {
			a, b := kerneltest.Draw(t, n, 0, 1), kerneltest.Draw(t, n, 0, 2)
			lerp, sum := make([]float64, n), make([]float64, n)
			for i := range a {
				lerp[i] = float64(a[i]) + (float64(b[i])-float64(a[i]))*0.3
				sum[i] = float64(a[i]) + float64(b[i])*0.3
			}
			got := kerneltest.Floats(t, n)
			row.On(c).Lerp(got, a, b, 0.3)
			kerneltest.Near(t, fmt.Sprint("lerp ", n), got, lerp, 1e-6, 1)
			row.On(c).AddScaled(got, a, b, 0.3)
			kerneltest.Near(t, fmt.Sprint("add scaled ", n), got, sum, 1e-6, 1)
			row.On(c).Lerp(got, a, a, 0.3)
			kerneltest.SameBits(t, "lerp between equals", got, a)
		}
	})
}
