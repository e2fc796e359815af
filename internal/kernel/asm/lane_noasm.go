//go:build (!amd64 && !arm64) || purego

package asm

import "lockstep/compute"

// laneFor returns the tiles with an image in each lane of isa.
func laneFor(compute.ISA) LaneOps { return plainLane() }
