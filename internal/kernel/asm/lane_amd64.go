//go:build amd64 && !purego

package asm

import "lockstep/compute"

// laneFor returns the tiles with an image in each lane of isa.
func laneFor(isa compute.ISA) LaneOps {
	type (
		tiles  = [TileRows + 1]func(*LaneArgs)
		outers = [TileRows + 1]func(*LaneOuterArgs)
	)
	switch isa {
	case compute.AVX512:
		return LaneOps{Lanes: 16, Most: 4, Tile: [5]tiles{
			4: {1: laneAVX512_4x1, 2: laneAVX512_4x2, 4: laneAVX512_4x4, 6: laneAVX512_4x6},
			2: {1: laneAVX512_2x1, 2: laneAVX512_2x2, 4: laneAVX512_2x4, 6: laneAVX512_2x6},
			1: {1: laneAVX512_1x1, 2: laneAVX512_1x2, 4: laneAVX512_1x4, 6: laneAVX512_1x6},
		}, Outer: [5]outers{
			4: {1: laneOuterAVX512_4x1, 2: laneOuterAVX512_4x2,
				4: laneOuterAVX512_4x4, 6: laneOuterAVX512_4x6},
			2: {1: laneOuterAVX512_2x1, 2: laneOuterAVX512_2x2,
				4: laneOuterAVX512_2x4, 6: laneOuterAVX512_2x6},
			1: {1: laneOuterAVX512_1x1, 2: laneOuterAVX512_1x2,
				4: laneOuterAVX512_1x4, 6: laneOuterAVX512_1x6},
		}}
	case compute.AVX2:
		return LaneOps{Lanes: 8, Most: 2, Tile: [5]tiles{
			2: {1: laneAVX2_2x1, 2: laneAVX2_2x2, 4: laneAVX2_2x4, 6: laneAVX2_2x6},
			1: {1: laneAVX2_1x1, 2: laneAVX2_1x2, 4: laneAVX2_1x4, 6: laneAVX2_1x6},
		}, Outer: [5]outers{
			2: {1: laneOuterAVX2_2x1, 2: laneOuterAVX2_2x2,
				4: laneOuterAVX2_2x4, 6: laneOuterAVX2_2x6},
			1: {1: laneOuterAVX2_1x1, 2: laneOuterAVX2_1x2,
				4: laneOuterAVX2_1x4, 6: laneOuterAVX2_1x6},
		}}
	}
	return plainLane()
}
