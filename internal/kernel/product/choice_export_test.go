package product

import "lockstep/internal/kernel/asm"

// Choice says how a plan computes y and dx. Those that begin alike give an image the same bits.
func (v *Conv) Choice() (forward, data string) { return choice(v.forward), choice(v.data) }

// choice names the algorithm of a plan, then how it goes about it.
func choice(p rowsPlan) string {
	switch p := p.(type) {
	case *stridedForward:
		return choice(p.plan)
	case *stridedData:
		return choice(p.plan)
	case *winograd:
		return "winograd"
	case *strassen:
		if p.rows < strassenRows {
			return choice(p.direct)
		}
		return "strassen"
	case *splitGather:
		return "parts"
	case *lanewise:
		return "direct: an image in each lane"
	case *gather:
		switch {
		case p.byPosition:
			return "direct: one position of several images"
		case p.pad != nil:
			return "direct: copied with padding"
		}
	}
	return "direct: image by image"
}

// ReadApart decides whether gradients of weights read x where it lies.
func (c *CPU) ReadApart(reads bool) { c.ops.Gemm.ReadsApart = reads }

// Without leaves out a part of all products of c, which are wrong then: their "tiles", or the "copies" of
// operands that tiles read.
func (c *CPU) Without(part string) {
	gemm, split := &c.ops.Gemm, &c.ops.Split
	switch part {
	case "tiles":
		for height := range gemm.Tile {
			for width := range gemm.Tile[height] {
				gemm.Tile[height][width] = func(*asm.TileArgs) {}
				gemm.Outer[height][width] = func(*asm.OuterArgs) {}
			}
		}
		lane := &c.ops.Lane
		for height := range lane.Tile {
			for width := range lane.Tile[height] {
				lane.Tile[height][width] = func(*asm.LaneArgs) {}
				lane.Outer[height][width] = func(*asm.LaneOuterArgs) {}
			}
		}
		split.Tile = func(*asm.SplitTileArgs) {}
	case "copies":
		for width := range gemm.Pack {
			gemm.Pack[width] = func(*asm.PackArgs) {}
		}
		gemm.Turn, gemm.Strip = func(*asm.TurnArgs) {}, func(*asm.StripArgs) {}
		none := func(*asm.SplitArgs) {}
		split.Rows, split.Pairs, split.Turn, split.Flip = none, none, none, none
	}
}
