//go:build amd64 && !purego

package asm

import "lockstep/compute"

// rowFor returns the row loops of isa.
func rowFor(isa compute.ISA) RowOps {
	o := plainRow()
	switch isa {
	case compute.AVX512:
		o.setAVX512()
	case compute.AVX2:
		o.setAVX2()
	}
	return o
}
