//go:build amd64 && !purego

package asm

import "lockstep/compute"

// splitFor returns the products of parts on the matrix unit, if isa may use it and there are parts. One part
// can do without.
func splitFor(isa compute.ISA, parts int) SplitOps {
	switch {
	case isa == compute.Plain || parts == 0:
		return plainSplit(parts)
	case parts == 1 && !compute.HasMatrixUnit(isa):
		return splitOfOne(isa)
	case parts == 1:
		return SplitOps{1, splitRowsAVX512_1, splitPairsAVX512_1, splitTurnAVX512_1, splitTurnAVX512_1,
			inTurn(splitSumsAMX_1, splitStoreOneAVX512)}
	case isa != compute.AVX512:
		return plainSplit(parts)
	case parts == 2:
		return SplitOps{2, splitRowsAVX512_2, splitPairsAVX512_2, splitTurnAVX512_2, splitTurnAVX512_2,
			inTurn(splitSumsAMX_2, splitStoreAVX512)}
	}
	return SplitOps{3, splitRowsAVX512_3, splitPairsAVX512_3, splitTurnAVX512_3, splitTurnAVX512_3,
		inTurn(splitSumsAMX_3, splitStoreAVX512)}
}

// splitOfOne returns the products of one part without a matrix unit.
func splitOfOne(isa compute.ISA) SplitOps {
	switch {
	case compute.HasDotProducts(isa):
		return dotSplit()
	case isa == compute.AVX512:
		return planeSplit(splitSumsAVX512)
	}
	return planeSplit(splitSumsAVX2)
}

// dotSplit returns the products of one part by VDPBF16PS.
func dotSplit() SplitOps {
	return SplitOps{1, splitRowsDot, splitPairsDot, splitTurnDot, splitFlipDot, splitTileDot}
}

// planeSplit returns the products of one part by multiply-adds, on operands in planes.
func planeSplit(sums func(*SplitTileArgs)) SplitOps {
	return SplitOps{planes, splitRowsAVX2, splitPairsAVX2, splitTurnAVX2, splitTurnAVX2,
		inTurn(sums, splitStoreAVX2)}
}

// inTurn computes sums and stores them.
func inTurn(sums, store func(*SplitTileArgs)) func(*SplitTileArgs) {
	return func(a *SplitTileArgs) {
		sums(a)
		store(a)
	}
}

// planes is the number of tiles that stand for one part where there is no matrix unit: floats rounded to
// bf16, the first of the pairs and the second.
const planes = 2

// splitSumsAVX2 is splitSumsPlain for one part, in planes.
func splitSumsAVX2(a *SplitTileArgs) {
	for i := range a.Blocks {
		block := a.block(i)
		splitBlockAVX2(&block)
	}
}

// splitSumsAVX512 is splitSumsPlain for one part, in planes.
func splitSumsAVX512(a *SplitTileArgs) {
	for i := range a.Blocks {
		block := a.block(i)
		splitBlockAVX512(&block)
	}
}

// block returns the arguments of block i, whose sums it clears.
func (a *SplitTileArgs) block(i int) SplitTileArgs {
	const step, side = 2 * planes * TileWords, SplitSide * SplitSide
	b := *a
	b.A, b.Sums, b.Out = a.A[i*a.Steps*step:], a.Sums[i*side:], a.Out[i*SplitSide:]
	clear(b.Sums[:side])
	return b
}
