package asm_test

import (
	"fmt"
	"math"
	"testing"

	"lockstep/compute"
	"lockstep/internal/kernel/asm"
	"lockstep/internal/kernel/kerneltest"
)

// Every loop over a row gives the same bits on every ISA, for every tail, and keeps within its slices.
func TestRowLoopsAgainstPlain(t *testing.T) {
	plain := asm.RowLoops(compute.Plain)
	for _, isa := range compute.Supported() {
		for i, loop := range asm.RowLoops(isa) {
			t.Run(isa.String()+"/"+loop.Name, func(t *testing.T) {
				for n := range 70 {
					checkLoop(t, loop, plain[i], n, 0, false)
					checkLoop(t, loop, plain[i], n, 0, true)
				}
			})
		}
	}
}

// checkLoop compares two loops on n floats, special values among them if asked for.
func checkLoop(t *testing.T, loop, plain asm.RowLoop, n int, seed uint64, special bool) {
	var in, out, want [][]float32
	for k := range uint64(3) {
		in = append(in, kerneltest.Draw(t, n, 0, seed+k))
		out = append(out, kerneltest.Draw(t, n, 0, seed+k+3))
		if special {
			kerneltest.Odd(in[k], seed+k+6)
		}
		want = append(want, kerneltest.Clone(t, out[k]))
	}
	got := loop.Run(out, in)
	kerneltest.SameBits(t, fmt.Sprintf("results of %d", n), got, plain.Run(want, in))
	for k := range out {
		kerneltest.SameBits(t, fmt.Sprintf("output %d of %d", k, n), out[k], want[k])
	}
}

func TestExp32AndNormal(t *testing.T) {
	for i := range 1_000_000 {
		x := float32(i) * -87 / 1_000_000
		if got, want := float64(asm.Exp32(x)), math.Exp(float64(x)); math.Abs(got-want) > 2e-7*want {
			t.Fatalf("exp32(%v) = %v, want %v", x, got, want)
		}
		x = float32(i)/50_000 - 10
		phi, e := asm.Normal(x)
		want := 0.5 * math.Erfc(-float64(x)/math.Sqrt2)
		if math.Abs(float64(phi)-want) > 3e-7 {
			t.Fatalf("Phi(%v) = %v, want %v", x, phi, want)
		}
		if want := math.Exp(float64(x) * float64(x) / -2); math.Abs(float64(e)-want) > 4e-6*want {
			t.Fatalf("exp(-x^2/2) at %v = %v, want %v", x, e, want)
		}
	}
}
