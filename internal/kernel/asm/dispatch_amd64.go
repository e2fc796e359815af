//go:build amd64 && !purego

package asm

import "lockstep/compute"

// gemmFor returns the tiles of isa.
func gemmFor(isa compute.ISA) GemmOps {
	o := plainGemm()
	if isa != compute.Plain {
		o.Turn, o.Strip = turnAVX2, stripAVX2
	}
	switch isa {
	case compute.AVX2:
		o.Lanes, o.Widths, o.Serial = 8, []int{2, 1}, 1<<19
		o.Tile[6] = [5]func(*TileArgs){1: tileAVX2_6x8, 2: tileAVX2_6x16}
		o.Tile[4] = [5]func(*TileArgs){1: tileAVX2_4x8, 2: tileAVX2_4x16}
		o.Tile[2] = [5]func(*TileArgs){1: tileAVX2_2x8, 2: tileAVX2_2x16}
		o.Tile[1] = [5]func(*TileArgs){1: tileAVX2_1x8, 2: tileAVX2_1x16}
		o.Outer[6] = [5]func(*OuterArgs){1: outerAVX2_6x8, 2: outerAVX2_6x16}
		o.Outer[4] = [5]func(*OuterArgs){1: outerAVX2_4x8, 2: outerAVX2_4x16}
		o.Outer[2] = [5]func(*OuterArgs){1: outerAVX2_2x8, 2: outerAVX2_2x16}
		o.Outer[1] = [5]func(*OuterArgs){1: outerAVX2_1x8, 2: outerAVX2_1x16}
		o.Pack = [5]func(*PackArgs){1: packAVX2_8, 2: packAVX2_16}
	case compute.AVX512:
		o.Lanes, o.Widths, o.Serial = 16, []int{4, 2, 1}, 1<<20
		o.Tile[6] = [5]func(*TileArgs){1: tileAVX512_6x16, 2: tileAVX512_6x32, 4: tileAVX512_6x64}
		o.Tile[4] = [5]func(*TileArgs){1: tileAVX512_4x16, 2: tileAVX512_4x32, 4: tileAVX512_4x64}
		o.Tile[2] = [5]func(*TileArgs){1: tileAVX512_2x16, 2: tileAVX512_2x32, 4: tileAVX512_2x64}
		o.Tile[1] = [5]func(*TileArgs){1: tileAVX512_1x16, 2: tileAVX512_1x32, 4: tileAVX512_1x64}
		o.Outer[6] = [5]func(*OuterArgs){1: outerAVX512_6x16, 2: outerAVX512_6x32, 4: outerAVX512_6x64}
		o.Outer[4] = [5]func(*OuterArgs){1: outerAVX512_4x16, 2: outerAVX512_4x32, 4: outerAVX512_4x64}
		o.Outer[2] = [5]func(*OuterArgs){1: outerAVX512_2x16, 2: outerAVX512_2x32, 4: outerAVX512_2x64}
		o.Outer[1] = [5]func(*OuterArgs){1: outerAVX512_1x16, 2: outerAVX512_1x32, 4: outerAVX512_1x64}
		o.Pack = [5]func(*PackArgs){1: packAVX512_16, 2: packAVX512_32, 4: packAVX512_64}
	}
	return o
}
