//go:build amd64 && !purego

package asm_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lockstep/internal/kernel/asm"
)

// The copies for the matrix unit write the words of their portable twins, also where there is no such unit:
// numbers of any size, zeros, and with one part denormals and NaN.
func TestSplitCopiesMatchPlain(t *testing.T) {
	const steps, width = 2, 2 * asm.SplitSide
	source := rand.New(rand.NewPCG(1, 2))
	for _, set := range asm.SplitSets() {
		src := make([]float32, asm.SplitSide*width)
		for i := range src {
			if src[i] = math.Float32frombits(source.Uint32()); set.Parts > 1 {
				src[i] = float32(source.NormFloat64())
			}
		}
		if set.Parts == 1 {
			copy(src, []float32{0, 0x1p-126, 0x1p-126 - 0x1p-149, -0x1p-126 + 0x1p-149, 0x1p-133, 1e-39,
				float32(math.NaN()), float32(math.Inf(-1)), math.MaxFloat32, 1 + 0x1p-8})
		}
		for name, of := range map[string]func(o *asm.SplitOps) func(*asm.SplitArgs){
			"rows":  func(o *asm.SplitOps) func(*asm.SplitArgs) { return o.Rows },
			"pairs": func(o *asm.SplitOps) func(*asm.SplitArgs) { return o.Pairs },
			"turn":  func(o *asm.SplitOps) func(*asm.SplitArgs) { return o.Turn },
		} {
			got := copied(of(&set.Got), src, width, steps, set.Plain.StepWords())
			want := copied(of(&set.Plain), src, width, steps, set.Plain.StepWords())
			if !slices.Equal(got, want) {
				t.Errorf("%s of %d parts: other words than plain", name, set.Parts)
			}
		}
	}
}

// copied returns the words of steps steps, the second last of the rows being padding.
func copied(run func(*asm.SplitArgs), src []float32, width, steps, step int) []uint32 {
	a := asm.SplitArgs{Table: make([]int32, asm.SplitSide), Src: src, Zero: make([]float32, width),
		Dst: make([]uint32, steps*step), N: steps, DstStep: step, Work: make([]float32, asm.TurnedFloats)}
	for i := range a.Table {
		a.Table[i] = int32(i * width)
	}
	a.Table[asm.SplitSide-2] = -1
	run(&a)
	return a.Dst
}
