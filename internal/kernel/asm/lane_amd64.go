//go:build amd64 && !purego

package asm

import "lockstep/compute"

// laneFor returns the tiles with an image in each lane of isa.
func laneFor(isa compute.ISA) LaneOps {
	o := plainLane()
	switch isa {
	case compute.AVX512:
		o.Lanes, o.Most = 16, 4
		o.setAVX512()
	case compute.AVX2:
		o.Lanes, o.Most = 8, 2
		o.setAVX2()
	}
	return o
}
