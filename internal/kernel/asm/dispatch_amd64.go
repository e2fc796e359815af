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
		// A Xeon, which starts twice as many 512-bit multiply-adds, waits for the second-level cache then:
		// results/kernels/products-zen4.md.
		o.ReadsApart = compute.HasDotProducts(isa)
	}
	return o
}
