//go:build amd64 && !purego

package asm

import "lockstep/compute"

// elementFor returns the memory-bound inner loops of isa.
func elementFor(isa compute.ISA) ElementOps {
	o := plainElement()
	if isa != compute.Plain {
		o.setAVX2()
		o.Narrow = o.PoolOps
	}
	if isa == compute.AVX512 {
		o.setAVX512()
	}
	return o
}
