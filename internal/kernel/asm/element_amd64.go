//go:build amd64 && !purego

package asm

import "lockstep/compute"

// elementFor returns the memory-bound inner loops of isa.
func elementFor(isa compute.ISA) ElementOps {
	o := plainElement()
	switch isa {
	case compute.AVX512:
		o.setAVX512()
	case compute.AVX2:
		o.setAVX2()
	}
	return o
}
