//go:build amd64 && !purego

package asm

import "lockstep/compute"

// peakFor returns the multiply-add loop of isa: 12 vectors of sums.
func peakFor(isa compute.ISA) PeakOps {
	switch isa {
	case compute.AVX512:
		return PeakOps{Run: peakAVX512, Floats: 12 * 16}
	case compute.AVX2:
		return PeakOps{Run: peakAVX2, Floats: 12 * 8}
	}
	return plainPeak()
}
