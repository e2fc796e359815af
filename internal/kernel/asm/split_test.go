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
// choose, for numbers of any size, denormal ones among them, and writes no row that it was not asked for.
func TestWaysOfOnePartMatchPlain(t *testing.T) {
	source := rand.New(rand.NewPCG(3, 4))
	left, right := anyFloats(source, oneTerms), anyFloats(source, oneTerms)
	dst := anyFloats(source, asm.SplitSide)
	plain := asm.PlainPart()
	for _, flags := range storeFlags {
		want := multiplied(&plain, left, right, dst, flags)
		for name, ops := range asm.OnePart() {
			kerneltest.SameBits(t, name, multiplied(&ops, left, right, dst, flags), want)
		}
	}
}

// Every way of sums to their destination gives the portable twin's bits, also those that this machine does
// not choose.
func TestSplitStoresMatchPlain(t *testing.T) {
	source := rand.New(rand.NewPCG(5, 6))
	sums, dst := anyFloats(source, asm.SplitSide), anyFloats(source, asm.SplitSide)
	for _, store := range asm.SplitStores() {
		for _, flags := range storeFlags {
			stored := func(store func(*asm.SplitTileArgs)) []float32 {
				a := storing(dst, flags)
				a.Sums = sums
				store(&a)
				return a.Dst
			}
			kerneltest.SameBits(t, store.Name, stored(store.Got), stored(store.Plain))
		}
	}
}

// storeFlags are the flags that a store may have.
var storeFlags = []int{0, asm.TileAdd, asm.TileReLU, asm.TileAdd | asm.TileReLU}

// storing returns the arguments of a store to a copy of dst, all but the last rows of some blocks.
func storing(dst []float32, flags int) asm.SplitTileArgs {
	a := asm.SplitTileArgs{Out: make([]int32, oneBlocks*asm.SplitSide), Dst: slices.Clone(dst),
		Bias: []float32{0, 1, -0x1p-127, 0x1p-126, -1e30}, Rows: oneBlocks*asm.SplitSide - 5, Flags: flags}
	for i := range a.Out {
		a.Out[i] = int32(i * asm.SplitSide)
	}
	a.Bias = append(a.Bias, make([]float32, asm.SplitSide-len(a.Bias))...)
	return a
}

// oneSteps and oneBlocks are the steps and the blocks of rows that multiplied computes, oneTerms the terms.
const oneSteps, oneBlocks, oneTerms = 3, 2, oneSteps * asm.SplitSide

// anyFloats returns blocks of rows of so many floats.
func anyFloats(source *rand.Rand, width int) []float32 {
	list := make([]float32, oneBlocks*asm.SplitSide*width)
	for i := range list {
		list[i] = float32(source.NormFloat64())
		switch i % 64 {
		case 0:
			list[i] = math.Float32frombits(source.Uint32() &^ (1 << 30)) // below 2, mostly far below
		case 1:
			list[i] = math.Float32frombits(source.Uint32() &^ (0xff << 23)) // denormal
		}
	}
	return list
}

// multiplied returns dst with the products of blocks of 32 rows of left, and 32 columns of right.
func multiplied(o *asm.SplitOps, left, right, dst []float32, flags int) []float32 {
	const side, width = asm.SplitSide, oneTerms
	pack := func(run func(*asm.SplitArgs), from []float32, stride, n int) []uint32 {
		a := asm.SplitArgs{Table: make([]int32, side), Src: from, Zero: make([]float32, width),
			Dst: make([]uint32, n*o.StepWords()), N: n, DstStep: o.StepWords()}
		for i := range a.Table {
			a.Table[i] = int32(i * stride)
		}
		run(&a)
		return a.Dst
	}
	a := storing(dst, flags)
	for b := range oneBlocks {
		a.A = append(a.A, pack(o.Rows, left[b*side*width:], width, oneSteps)...)
	}
	for s := range oneSteps {
		a.B = append(a.B, pack(o.Pairs, right[s*side*side:], side, 1)...)
	}
	a.Steps, a.Blocks, a.Sums = oneSteps, oneBlocks, make([]float32, len(dst))
	a.NextRows, a.Next, a.NextStride, a.NextB = make([]int32, 8*side), make([]float32, width), 4*side, a.B
	o.Tile(&a)
	return a.Dst
}
