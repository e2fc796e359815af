//go:build amd64 && !purego

package asm_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lockstep/internal/kernel/asm"
	"lockstep/internal/kernel/kerneltest"
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

// Every way to multiply one part gives the portable twin's bits, also those that this machine does not
// choose, for numbers of any size, denormal ones among them.
func TestWaysOfOnePartMatchPlain(t *testing.T) {
	source := rand.New(rand.NewPCG(3, 4))
	left, right := anyFloats(source), anyFloats(source)
	plain := asm.PlainPart()
	want := multiplied(&plain, left, right)
	for name, ops := range asm.OnePart() {
		kerneltest.SameBits(t, name, multiplied(&ops, left, right), want)
	}
}

// oneSteps and oneBlocks are the steps and the blocks of rows that multiplied computes.
const oneSteps, oneBlocks = 3, 2

// anyFloats returns the rows of an operand of multiplied.
func anyFloats(source *rand.Rand) []float32 {
	list := make([]float32, oneBlocks*asm.SplitSide*oneSteps*asm.SplitSide)
	for i := range list {
		list[i] = float32(source.NormFloat64())
		if i%64 == 0 {
			list[i] = math.Float32frombits(source.Uint32() &^ (1 << 30)) // below 2, mostly far below
		}
	}
	return list
}

// multiplied returns the sums of blocks of 32 rows of left, and 32 columns of right.
func multiplied(o *asm.SplitOps, left, right []float32) []float32 {
	const side, width = asm.SplitSide, oneSteps * asm.SplitSide
	pack := func(run func(*asm.SplitArgs), from []float32, stride, n int) []uint32 {
		a := asm.SplitArgs{Table: make([]int32, side), Src: from, Zero: make([]float32, width),
			Dst: make([]uint32, n*o.StepWords()), N: n, DstStep: o.StepWords()}
		for i := range a.Table {
			a.Table[i] = int32(i * stride)
		}
		run(&a)
		return a.Dst
	}
	var rows, columns []uint32
	for b := range oneBlocks {
		rows = append(rows, pack(o.Rows, left[b*side*width:], width, oneSteps)...)
	}
	for s := range oneSteps {
		columns = append(columns, pack(o.Pairs, right[s*side*side:], side, 1)...)
	}
	places := make([]int32, oneBlocks*side)
	sums := make([]float32, oneBlocks*side*side)
	near := make([]float32, width)
	o.Tile(&asm.SplitTileArgs{A: rows, B: columns, Sums: sums, Steps: oneSteps, Blocks: oneBlocks,
		Ahead: places, Dst: near, NextRows: make([]int32, 8*side), Next: near, NextB: columns})
	return sums
}
