package asm

import "math"

// plainSplit returns the portable loops.
func plainSplit(parts int) SplitOps {
	return SplitOps{
		pairs: parts,
		Rows:  func(a *SplitArgs) { splitRowsPlain(parts, a) },
		Pairs: func(a *SplitArgs) { splitPairsPlain(parts, a) },
		Turn:  func(a *SplitArgs) { splitTurnPlain(parts, a) },
		Flip:  func(a *SplitArgs) { splitTurnPlain(parts, a) },
		Tile:  func(a *SplitTileArgs) { splitTilePlain(parts, a) },
	}
}

// row returns n floats of row i from column from on.
func (a *SplitArgs) row(i, from, n int) []float32 {
	if a.Table[i] < 0 {
		return a.Zero[from:][:n]
	}
	return a.Src[int(a.Table[i])+from:][:n]
}

// cut returns the parts of x as the bits of bf16: each the nearest to what is left, ties away from zero. A
// single part's ties go to even, denormals are zero, and infinite values and NaN are kept.
func cut(parts int, x float32) (list [3]uint32) {
	if parts == 1 {
		b := math.Float32bits(x)
		switch {
		case x != x:
			b = quietNaN
		case b&exponentBits == 0:
			b = 0
		}
		list[0] = (b + 0x7fff + b>>16&1) >> 16
		return list
	}
	for i := range parts {
		top := (math.Float32bits(x) + 0x8000) >> 16
		if i == 2 {
			top = math.Float32bits(x) >> 16 // at most eight bits are left
		}
		list[i] = top
		x -= math.Float32frombits(top << 16)
	}
	return list
}

// quietNaN is what a NaN becomes in a single part; exponentBits are zero in zeros and denormals.
const (
	quietNaN     = 0x7fc00000
	exponentBits = 0x7f800000
)

// put writes the pairs of x and y, the tiles of parts lying two apart.
func put(parts int, dst []uint32, x, y float32) {
	low, high := cut(parts, x), cut(parts, y)
	for i := range parts {
		dst[2*TileWords*i] = low[i]&0xffff | high[i]<<16
	}
}

// splitRowsPlain is the portable copy of rows.
func splitRowsPlain(parts int, a *SplitArgs) {
	for i := range SplitSide {
		for s := range a.N {
			row := a.row(i, s*SplitSide, SplitSide)
			for j := range TileSide {
				put(parts, a.Dst[s*a.DstStep+i*TileSide+j:], row[j], row[j+TileSide])
			}
		}
	}
}

// splitPairsPlain is the portable copy of pairs of rows.
func splitPairsPlain(parts int, a *SplitArgs) {
	for i := range TileSide {
		for p := range a.N {
			x, y := a.row(i, p*SplitSide, SplitSide), a.row(i+TileSide, p*SplitSide, SplitSide)
			for j := range SplitSide {
				at := p*a.DstStep + j/TileSide*TileWords + i*TileSide + j%TileSide
				put(parts, a.Dst[at:], x[j], y[j])
			}
		}
	}
}

// splitTurnPlain is the portable transposing copy.
func splitTurnPlain(parts int, a *SplitArgs) {
	for s := range a.N {
		for j := range TileSide {
			x, y := a.row(j, s*SplitSide, TileSide), a.row(j+TileSide, s*SplitSide, TileSide)
			for i := range TileSide {
				put(parts, a.Dst[s*a.DstStep+i*TileSide+j:], x[i], y[i])
			}
		}
	}
}

// splitProducts lists the products of parts in order: all whose places add up to less than parts.
func splitProducts(parts int) [][2]int {
	switch parts {
	case 1:
		return [][2]int{{0, 0}}
	case 2:
		return [][2]int{{0, 1}, {0, 0}, {1, 0}}
	}
	return [][2]int{{2, 0}, {0, 0}, {0, 2}, {0, 1}, {1, 1}, {1, 0}}
}

// splitTilePlain is the portable product of tiles and the way of their sums to their destination.
func splitTilePlain(parts int, a *SplitTileArgs) {
	splitSumsPlain(parts, a)
	splitStorePlain(parts, a)
}

// splitSumsPlain computes the sums.
func splitSumsPlain(parts int, a *SplitTileArgs) {
	step := 2 * parts * TileWords
	for block := range a.Blocks {
		for i := range SplitSide {
			for j := range SplitSide {
				var sum float32
				for s := range a.Steps {
					x := a.A[(block*a.Steps+s)*step+i/TileSide*TileWords+i%TileSide*TileSide:]
					y := a.B[s*step+j/TileSide*TileWords+j%TileSide:]
					for _, p := range splitProducts(parts) {
						sum = flush(sum + dotPairs(x[2*p[0]*TileWords:], y[2*p[1]*TileWords:]))
					}
				}
				a.Sums[(block*SplitSide+i)*SplitSide+j] = sum
			}
		}
	}
}

// dotPairs returns what TDPBF16PS adds to a sum: a row of x times a column of y, the first of the pairs
// and the second summed in order on their own, denormals being zero.
func dotPairs(x, y []uint32) float32 {
	var even, odd float32
	for k := range TileSide {
		even = fused(even, low(x[k]), low(y[k*TileSide]))
		odd = fused(odd, high(x[k]), high(y[k*TileSide]))
	}
	return flush(even + odd)
}

// tiny is just below the least float32 that is not denormal. What rounds below that one, given its exponent
// but any number of bits, counts as denormal.
const tiny = 0x1p-126 - 0x1p-151

// fused returns sum + x*y rounded once, denormals being zero.
func fused(sum, x, y float32) float32 {
	product := float64(x) * float64(y) // exact
	exact := float64(sum) + product
	if isHard(exact) {
		exact = toOdd(product, float64(sum), exact)
	}
	if math.Abs(exact) < tiny {
		exact = math.Copysign(0, exact)
	}
	return float32(exact)
}

// low and high return the two bf16 of a pair, denormals as zero.
func low(pair uint32) float32  { return flush(math.Float32frombits(pair << 16)) }
func high(pair uint32) float32 { return flush(math.Float32frombits(pair & 0xffff0000)) }

// flush returns x, or zero with its sign if it is denormal.
func flush(x float32) float32 {
	if b := math.Float32bits(x); b&exponentBits == 0 {
		return math.Float32frombits(b & 0x80000000)
	}
	return x
}

// splitStorePlain is the portable way of sums to their destination. With one part denormals are zero.
func splitStorePlain(parts int, a *SplitTileArgs) {
	plus := func(x, y float32) float32 { return x + y }
	if parts == 1 {
		plus = func(x, y float32) float32 { return flush(flush(x) + flush(y)) }
	}
	for i := range a.Rows {
		dst := a.Dst[a.Out[i]:][:SplitSide]
		for j := range dst {
			sum := plus(a.Bias[j], a.Sums[i*SplitSide+j])
			if a.Flags&TileAdd != 0 {
				sum = plus(sum, dst[j])
			}
			if a.Flags&TileReLU != 0 && sum < 0 {
				sum = 0
			}
			dst[j] = sum
		}
	}
}
