package asm_test

import (
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
	"lockstep/internal/kernel/kerneltest"
)

// Every loop over a row gives the bits of its plain twin for any length and any numbers, and keeps within its
// slices.
func FuzzRowLoops(f *testing.F) {
	for _, n := range []uint16{0, 1, 15, 16, 17, 100, 1023} {
		f.Add(n, uint64(n), n%2 == 1)
	}
	plain := asm.RowLoops(compute.Plain)
	f.Fuzz(func(t *testing.T, n uint16, seed uint64, special bool) {
		for _, isa := range compute.Supported()[1:] {
			for i, loop := range asm.RowLoops(isa) {
				checkLoop(t, loop, plain[i], int(n)%2048, seed, special)
			}
		}
	})
}

// Every transform of Winograd's algorithm gives the bits of its plain twin.
func FuzzWinogradTransforms(f *testing.F) {
	f.Add(uint8(1), uint8(0), false)
	f.Add(uint8(3), uint8(3), true)
	f.Add(uint8(16), uint8(2), false)
	plain := asm.WinogradsOf(compute.Plain)
	f.Fuzz(func(t *testing.T, eights, flags uint8, special bool) {
		width := asm.WinogradChannels * (1 + int(eights)%64)
		for _, isa := range compute.Supported()[1:] {
			for i, transform := range asm.WinogradsOf(isa) {
				got := transformed(t, &transform, width, int(flags)%4, special)
				want := transformed(t, &plain[i], width, int(flags)%4, special)
				kerneltest.SameBits(t, transform.Name, got, want)
			}
		}
	})
}
