//go:build amd64 && !purego

package asm

import "lockstep/compute"

// elementFor returns the memory-bound inner loops of isa.
func elementFor(isa compute.ISA) ElementOps {
	o := plainElement()
	var narrow ElementOps
	narrow.setAVX2()
	switch isa {
	case compute.AVX512:
		o.setAVX512()
		o.Narrow = narrow.PoolOps
	case compute.AVX2:
		o.setAVX2()
		o.Narrow = narrow.PoolOps
	}
	return o
}
