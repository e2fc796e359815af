package kernel_test

import (
	"fmt"
	"testing"

	"lockstep/internal/kernel"
)

func TestAvgPool(t *testing.T) {
	everywhere(t, func(t *testing.T, c *kernel.CPU) {
		for _, s := range [][3]int{{1, 1, 1}, {5, 49, 33}, {7, 64, 200}, {3, 16, 2048}} {
			n, pixels, channels := s[0], s[1], s[2]
			x, dy := draw(t, n*pixels*channels, 0.3, 1), draw(t, n*channels, 0, 2)
			y, dx := floats(t, len(dy)), floats(t, len(x))
			wantY, wantDX := floats(t, len(dy)), floats(t, len(x))
			scale := 1 / float32(pixels)
			for i, v := range x {
				wantY[i/(pixels*channels)*channels+i%channels] += v
				wantDX[i] = dy[i/(pixels*channels)*channels+i%channels] * scale
			}
			for i := range wantY {
				wantY[i] *= scale
			}
			p := c.NewAvgPool(n, pixels, channels)
			p.Forward(y, x)
			p.Backward(dx, dy)
			sameBits(t, fmt.Sprint(s, " y"), y, wantY)
			sameBits(t, fmt.Sprint(s, " dx"), dx, wantDX)
		}
	})
}
