//go:build amd64 && !purego

package asm

import "lockstep/compute"

// strassenFor returns the additions of isa.
func strassenFor(isa compute.ISA) StrassenOps {
	o := plainStrassen()
	switch isa {
	case compute.AVX512:
		o.setAVX512()
	case compute.AVX2:
		o.setAVX2()
	}
	return o
}
