package asm_test

import (
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
	"lockstep/internal/kernel/kerneltest"
)

// Each loop gives the bits of the plain one, since halving is exact, and writes nothing else.
func TestPeakLoops(t *testing.T) {
	for _, isa := range compute.Supported() {
		n := asm.PeakFloats(isa)
		for _, turns := range []int{1, 2, 7, 100} {
			got := kerneltest.Draw(t, n, 3, 1)
			want := kerneltest.Clone(t, got)
			asm.PeakRun(isa, got, turns)
			asm.PeakRun(compute.Plain, want, turns)
			kerneltest.SameBits(t, isa.String(), got, want)
		}
	}
}
