//go:build amd64 && !purego

package asm

import "lockstep/compute"

// peakFor returns the multiply-add loop of isa: 12 vectors of sums.
func peakFor(isa compute.ISA) PeakOps {
	o := plainPeak()
	switch isa {
	case compute.AVX512:
		o.Floats = 12 * 16
		o.setAVX512()
	case compute.AVX2:
		o.Floats = 12 * 8
		o.setAVX2()
	}
	return o
}
