package asm_test

import (
	"fmt"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
	"lockstep/internal/kernel/kerneltest"
)

// The additions give the bits of their plain twins, on any rows and whatever the numbers, and keep within
// their slices.
func TestStrassenAdditions(t *testing.T) {
	for _, isa := range compute.Supported()[1:] {
		for _, width := range []int{16, 48, 64} {
			for rows := 1; rows <= 3; rows++ {
				for flags := range 8 {
					checkStrassen(t, isa, rows, width, flags, flags%2 == 1)
				}
			}
		}
	}
}

// The same for any numbers of rows and columns.
func FuzzStrassenAdditions(f *testing.F) {
	f.Add(uint8(0), uint8(0), uint8(0), false)
	f.Add(uint8(5), uint8(3), uint8(3), true)
	f.Fuzz(func(t *testing.T, rows, lines, flags uint8, special bool) {
		for _, isa := range compute.Supported()[1:] {
			checkStrassen(t, isa, 1+int(rows)%20, asm.LineFloats*(1+int(lines)%20), int(flags)%8, special)
		}
	})
}

func checkStrassen(t *testing.T, isa compute.ISA, rows, width, flags int, special bool) {
	t.Helper()
	what := fmt.Sprintf("%v, %d rows of %d, flags %d", isa, rows, width, flags)
	sums, quarters := strassened(t, isa, rows, width, flags, special)
	wantSums, wantQuarters := strassened(t, compute.Plain, rows, width, flags, special)
	kerneltest.SameBits(t, what+": sums", sums, wantSums)
	kerneltest.SameBits(t, what+": quarters", quarters, wantQuarters)
}

// strassened adds quarters of noise, or of special values, and then products of noise to these quarters. The
// rows have gaps between them.
func strassened(t *testing.T, isa compute.ISA, rows, width, flags int, special bool,
) (sums, quarters []float32) {
	ops := asm.OpsFor(isa, compute.Fast).Strassen
	n, sumRow := 2*rows*(2*width+3)-3, width+5
	quarters = kerneltest.Draw(t, n, 0, 1)
	between := (rows-1)*sumRow + width
	sums = kerneltest.Floats(t, asm.StrassenProducts*between)
	products := kerneltest.Draw(t, asm.StrassenProducts*between, 0, 2)
	if special {
		kerneltest.Odd(quarters, 3)
		kerneltest.Odd(products, 4)
	}
	a := asm.StrassenArgs{Q11: quarters, Q12: quarters[width:],
		Q21: quarters[2*width+3:], Q22: quarters[3*width+3:], QuarterStride: 2 * (2*width + 3),
		Sums: sums, SumStride: between, RowStride: sumRow, Rows: rows, Width: width,
		Bias: kerneltest.Draw(t, width, 0, 5), BiasNext: kerneltest.Draw(t, width, 0, 6), Flags: flags}
	operand := a
	ops.Operand(&operand)
	a.Sums = products
	ops.Result(&a)
	return sums, quarters
}
