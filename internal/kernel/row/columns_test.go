package row_test

import (
	"fmt"
	"testing"

	"lockstep/compute"
	"lockstep/internal/alloctest"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/row"
)

// matrices has shapes below and above a wide row, a block, all blocks, and the parallel threshold.
var matrices = [][2]int{
	{1, 1}, {1, 7}, {2, 3}, {5, 16}, {64, 10}, {300, 6}, {170, 6}, {171, 6}, {1000, 64}, {513, 100},
	{257, 512}, {70, 2048}, {33, 1025}, {20011, 16}, {4099, 64},
}

func TestColumnSums(t *testing.T) {
	plain := kerneltest.Open(t, compute.Plain, 1)
	kerneltest.Everywhere(t, func(t *testing.T, c *compute.CPU) {
		for _, m := range matrices {
			rows, cols := m[0], m[1]
			x, got, want := kerneltest.Draw(t, rows*cols, 1, 1), kerneltest.Floats(t, cols),
				kerneltest.Floats(t, cols)
			row.On(plain).NewColumnSums(rows, cols).Run(want, x)
			p := row.On(c).NewColumnSums(rows, cols)
			for range 2 { // a plan can be used again
				p.Run(got, x)
				kerneltest.SameBits(t, fmt.Sprint(m), got, want)
			}
			exact := make([]float64, cols)
			for i, v := range x {
				exact[i%cols] += float64(v)
			}
			kerneltest.Near(t, fmt.Sprint(m), got, exact, 1e-6, float64(rows))
			if n := alloctest.Least(2, func() { p.Run(got, x) }); n != 0 {
				t.Errorf("%v: %v allocations, want 0", m, n)
			}
		}
	})
}
