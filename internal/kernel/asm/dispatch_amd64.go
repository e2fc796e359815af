//go:build amd64 && !purego

package asm

import "lockstep/compute"

// gemmFor returns the tiles of isa.
func gemmFor(isa compute.ISA) GemmOps {
	o := plainGemm()
	switch isa {
	case compute.AVX2:
		o.Lanes, o.Widths, o.Serial = 8, []int{2, 1}, 1<<19
		o.setAVX2()
	case compute.AVX512:
		o.Lanes, o.Widths, o.Serial = 16, []int{4, 2, 1}, 1<<20
		o.setAVX512()
		// A Zen 4 gains by it; a Xeon, whose tiles take half the time, waits for the second-level cache
		// (results/kernels/products-zen4.md). So it is decided by the maker.
		o.ReadsApart = compute.HasDotProducts(isa)
	}
	return o
}
