package row_test

import (
	"fmt"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/kerneltest"
	"lockstep/internal/kernel/row"
)

func TestAvgPool(t *testing.T) {
	kerneltest.Everywhere(t, func(t *testing.T, c *compute.CPU) {
		for _, s := range [][3]int{{1, 1, 1}, {5, 49, 33}, {7, 64, 200}, {3, 16, 2048}} {
			n, pixels, channels := s[0], s[1], s[2]
			x, dy := kerneltest.Draw(t, n*pixels*channels, 0.3, 1), kerneltest.Draw(t, n*channels, 0, 2)
			y, dx := kerneltest.Floats(t, len(dy)), kerneltest.Floats(t, len(x))
			wantY, wantDX := kerneltest.Floats(t, len(dy)), kerneltest.Floats(t, len(x))
			scale := 1 / float32(pixels)
			for i, v := range x {
				wantY[i/(pixels*channels)*channels+i%channels] += v
				wantDX[i] = dy[i/(pixels*channels)*channels+i%channels] * scale
			}
			for i := range wantY {
				wantY[i] *= scale
			}
			p := row.On(c).NewAvgPool(n, pixels, channels)
			p.Forward(y, x)
			p.Backward(dx, dy)
			kerneltest.SameBits(t, fmt.Sprint(s, " y"), y, wantY)
			kerneltest.SameBits(t, fmt.Sprint(s, " dx"), dx, wantDX)
		}
	})
}
