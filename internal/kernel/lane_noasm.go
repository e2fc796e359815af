//go:build !amd64 || purego

package kernel

// laneFor returns the tiles with an image in each lane of isa.
func laneFor(ISA) laneOps { return plainLane() }
