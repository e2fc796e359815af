package kernel_test

import (
	"fmt"
	"testing"

	"lockstep/internal/kernel"
)

// matrices has shapes below and above a wide row, a block, all blocks, and the parallel threshold.
var matrices = [][2]int{
	{1, 1}, {1, 7}, {2, 3}, {5, 16}, {64, 10}, {300, 6}, {170, 6}, {171, 6}, {1000, 64}, {513, 100},
	{257, 512}, {70, 2048}, {33, 1025}, {20011, 16}, {4099, 64},
}

func TestColumnSums(t *testing.T) {
	plain := open(t, kernel.Plain, 1)
	everywhere(t, func(t *testing.T, c *kernel.CPU) {
		for _, m := range matrices {
			rows, cols := m[0], m[1]
			x, got, want := draw(t, rows*cols, 1, 1), floats(t, cols), floats(t, cols)
			plain.NewColumnSums(rows, cols).Run(want, x)
			p := c.NewColumnSums(rows, cols)
			for range 2 { // a plan can be used again
				p.Run(got, x)
				sameBits(t, fmt.Sprint(m), got, want)
			}
			exact := make([]float64, cols)
			for i, v := range x {
				exact[i%cols] += float64(v)
			}
			near(t, fmt.Sprint(m), got, exact, 1e-6, float64(rows))
			if n := testing.AllocsPerRun(2, func() { p.Run(got, x) }); n != 0 {
				t.Errorf("%v: %v allocations, want 0", m, n)
			}
		}
	})
}
