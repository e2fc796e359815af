//go:build amd64 && !purego

package kernel

// peakFor returns the multiply-add loop of isa: 12 vectors of sums.
func peakFor(isa ISA) peakOps {
	switch isa {
	case AVX512:
		return peakOps{run: peakAVX512, floats: 12 * 16}
	case AVX2:
		return peakOps{run: peakAVX2, floats: 12 * 8}
	}
	return plainPeak()
}
