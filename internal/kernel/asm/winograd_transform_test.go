package asm_test

import (
	"fmt"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
	"lockstep/internal/kernel/kerneltest"
)

// Every transform gives the bits of its plain twin, on any width and whatever the numbers.
func TestWinogradTransforms(t *testing.T) {
	plain := asm.WinogradsOf(compute.Plain)
	for _, isa := range compute.Supported()[1:] {
		for i, f := range asm.WinogradsOf(isa) {
			for _, width := range []int{8, 16, 24, 32, 48, 112, 120} {
				for flags := range 4 {
					for _, special := range []bool{false, true} {
						got := transformed(t, &f, width, flags, special)
						want := transformed(t, &plain[i], width, flags, special)
						kerneltest.SameBits(t, fmt.Sprintf("%v %s, %d channels, flags %d", isa, f.Name,
							width, flags),
							got, want)
					}
				}
			}
		}
	}
}

// transformed runs f on noise, or on special values, with some pixels outside.
func transformed(t *testing.T, f *asm.WinogradTransform, width, flags int, special bool) []float32 {
	stride := width + 3
	src, dst := kerneltest.Draw(t, (f.From-1)*stride+width, 0, 1), kerneltest.Draw(t, (f.To-1)*stride+width,
		0, 2)
	zero, bias := kerneltest.Floats(t, width), kerneltest.Draw(t, width, 0, 3)
	var table []int32
	if f.FromPixels || f.ToPixels {
		for i := range min(f.From, f.To) {
			table = append(table, int32(i*stride))
		}
		table[0], table[len(table)/3] = -1, -1
	}
	if special {
		for i := 0; i < len(src); i += 2 {
			src[i] *= 1e38 // some sums overflow
		}
		kerneltest.Odd(src, 4)
	}
	f.Run(dst, src, zero, bias, table, stride, width, flags&1 != 0, flags&2 != 0)
	return dst
}
