//go:build amd64 && !purego

package asm

import "lockstep/compute"

// splitFor returns the products of parts on the matrix unit, if isa may use it and there are parts.
func splitFor(isa compute.ISA, parts int) SplitOps {
	switch {
	case isa != compute.AVX512 || parts == 0:
		return plainSplit(parts)
	case parts == 2:
		return SplitOps{2, splitRowsAVX512_2, splitPairsAVX512_2, splitTurnAVX512_2, splitTileAMX_2,
			splitStoreAVX512}
	}
	return SplitOps{3, splitRowsAVX512_3, splitPairsAVX512_3, splitTurnAVX512_3, splitTileAMX_3,
		splitStoreAVX512}
}
