//go:build amd64 && !purego

package asm

import "lockstep/compute"

// splitFor returns the products of parts on the matrix unit, if isa may use it and there are parts. One part
// does without.
func splitFor(isa compute.ISA, parts int) SplitOps {
	switch {
	case isa == compute.Plain || parts == 0:
		return plainSplit(parts)
	case parts == 1 && !compute.HasMatrixUnit(isa):
		return splitOfOne(isa)
	case parts == 1:
		return SplitOps{1, splitRowsAVX512_1, splitPairsAVX512_1, splitTurnAVX512_1, splitTurnAVX512_1,
			splitTileAMX_1, splitStoreAVX512}
	case isa != compute.AVX512:
		return plainSplit(parts)
	case parts == 2:
		return SplitOps{2, splitRowsAVX512_2, splitPairsAVX512_2, splitTurnAVX512_2, splitTurnAVX512_2,
			splitTileAMX_2, splitStoreAVX512}
	}
	return SplitOps{3, splitRowsAVX512_3, splitPairsAVX512_3, splitTurnAVX512_3, splitTurnAVX512_3,
		splitTileAMX_3, splitStoreAVX512}
}

// splitOfOne returns the products of one part without a matrix unit.
func splitOfOne(isa compute.ISA) SplitOps {
	switch {
	case compute.HasDotProducts(isa):
		return dotSplit()
	case isa == compute.AVX512:
		return planeSplit(splitTileAVX512)
	}
	return planeSplit(splitTileAVX2)
}

// dotSplit returns the products of one part by VDPBF16PS.
func dotSplit() SplitOps {
	return SplitOps{1, splitRowsDot, splitPairsDot, splitTurnDot, splitFlipDot, splitTileDot,
		splitStoreAVX512}
}

// planeSplit returns the products of one part by multiply-adds of tile, on operands in planes.
func planeSplit(tile func(*SplitTileArgs)) SplitOps {
	return SplitOps{planes, splitRowsAVX2, splitPairsAVX2, splitTurnAVX2, splitTurnAVX2, tile,
		splitStoreAVX2}
}

// planes is the number of tiles that stand for one part where there is no matrix unit: floats rounded to
// bf16, the first of the pairs and the second.
const planes = 2

// splitTileAVX2 is splitTilePlain for one part, in planes.
func splitTileAVX2(a *SplitTileArgs) {
	for i := range a.Blocks {
		block := a.block(i)
		splitBlockAVX2(&block)
	}
}

// splitTileAVX512 is splitTilePlain for one part, in planes.
func splitTileAVX512(a *SplitTileArgs) {
	for i := range a.Blocks {
		block := a.block(i)
		splitBlockAVX512(&block)
	}
}

// block returns the arguments of block i, whose sums it clears.
func (a *SplitTileArgs) block(i int) SplitTileArgs {
	const step, side = 2 * planes * TileWords, SplitSide * SplitSide
	b := *a
	b.A, b.Sums, b.Ahead = a.A[i*a.Steps*step:], a.Sums[i*side:], a.Ahead[i*SplitSide:]
	clear(b.Sums[:side])
	return b
}
