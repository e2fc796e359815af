//go:build amd64 && !purego

package kernel

// splitFor returns the products of parts on the matrix unit, if isa may use it and there are parts.
func splitFor(isa ISA, parts int) splitOps {
	switch {
	case isa != AVX512 || parts == 0:
		return plainSplit(parts)
	case parts == 2:
		return splitOps{2, splitRowsAVX512_2, splitPairsAVX512_2, splitTurnAVX512_2, splitTileAMX_2,
			splitStoreAVX512}
	}
	return splitOps{3, splitRowsAVX512_3, splitPairsAVX512_3, splitTurnAVX512_3, splitTileAMX_3,
		splitStoreAVX512}
}
