package kernel

import "math"

// plainSplit returns the portable loops.
func plainSplit(parts int) splitOps {
	return splitOps{
		parts: parts,
		rows:  func(a *splitArgs) { splitRowsPlain(parts, a) },
		pairs: func(a *splitArgs) { splitPairsPlain(parts, a) },
		turn:  func(a *splitArgs) { splitTurnPlain(parts, a) },
		tile:  func(a *splitTileArgs) { splitTilePlain(parts, a) },
		store: splitStorePlain,
	}
}

// row returns n floats of row i from column from on.
func (a *splitArgs) row(i, from, n int) []float32 {
	if a.table[i] < 0 {
		return a.zero[from:][:n]
	}
	return a.src[int(a.table[i])+from:][:n]
}

// cut returns the parts of x as the bits of bf16: each the nearest to what is left, ties away from zero.
func cut(parts int, x float32) (list [3]uint32) {
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

// put writes the pairs of x and y, the tiles of parts lying two apart.
func put(parts int, dst []uint32, x, y float32) {
	low, high := cut(parts, x), cut(parts, y)
	for i := range parts {
		dst[2*tileWords*i] = low[i]&0xffff | high[i]<<16
	}
}

// splitRowsPlain is the portable copy of rows.
func splitRowsPlain(parts int, a *splitArgs) {
	for i := range splitSide {
		for s := range a.n {
			row := a.row(i, s*splitSide, splitSide)
			for j := range tileSide {
				put(parts, a.dst[s*a.dstStep+i*tileSide+j:], row[j], row[j+tileSide])
			}
		}
	}
}

// splitPairsPlain is the portable copy of pairs of rows.
func splitPairsPlain(parts int, a *splitArgs) {
	for i := range tileSide {
		for p := range a.n {
			x, y := a.row(i, p*splitSide, splitSide), a.row(i+tileSide, p*splitSide, splitSide)
			for j := range splitSide {
				at := p*a.dstStep + j/tileSide*tileWords + i*tileSide + j%tileSide
				put(parts, a.dst[at:], x[j], y[j])
			}
		}
	}
}

// splitTurnPlain is the portable transposing copy.
func splitTurnPlain(parts int, a *splitArgs) {
	for s := range a.n {
		for j := range tileSide {
			x, y := a.row(j, s*splitSide, tileSide), a.row(j+tileSide, s*splitSide, tileSide)
			for i := range tileSide {
				put(parts, a.dst[s*a.dstStep+i*tileSide+j:], x[i], y[i])
			}
		}
	}
}

// splitProducts lists the products of parts in order: all whose places add up to less than parts.
func splitProducts(parts int) [][2]int {
	if parts == 2 {
		return [][2]int{{0, 1}, {0, 0}, {1, 0}}
	}
	return [][2]int{{2, 0}, {0, 0}, {0, 2}, {0, 1}, {1, 1}, {1, 0}}
}

// splitTilePlain is the portable product of tiles.
func splitTilePlain(parts int, a *splitTileArgs) {
	step := 2 * parts * tileWords
	for block := range a.blocks {
		for i := range splitSide {
			for j := range splitSide {
				var sum float32
				for s := range a.steps {
					x := a.a[(block*a.steps+s)*step+i/tileSide*tileWords+i%tileSide*tileSide:]
					y := a.b[s*step+j/tileSide*tileWords+j%tileSide:]
					for _, p := range splitProducts(parts) {
						sum = flush(sum + dotPairs(x[2*p[0]*tileWords:], y[2*p[1]*tileWords:]))
					}
				}
				a.sums[(block*splitSide+i)*splitSide+j] = sum
			}
		}
	}
}

// dotPairs returns what TDPBF16PS adds to a sum: a row of x times a column of y, the first of the pairs
// and the second summed in order on their own, denormals being zero.
func dotPairs(x, y []uint32) float32 {
	var even, odd float32
	for k := range tileSide {
		even = flush(even + float32(low(x[k])*low(y[k*tileSide])))
		odd = flush(odd + float32(high(x[k])*high(y[k*tileSide])))
	}
	return flush(even + odd)
}

// low and high return the two bf16 of a pair, denormals as zero.
func low(pair uint32) float32  { return flush(math.Float32frombits(pair << 16)) }
func high(pair uint32) float32 { return flush(math.Float32frombits(pair & 0xffff0000)) }

// flush returns x, or zero with its sign if it is denormal.
func flush(x float32) float32 {
	if b := math.Float32bits(x); b&0x7f800000 == 0 {
		return math.Float32frombits(b & 0x80000000)
	}
	return x
}

// splitStorePlain is the portable way of sums to their destination.
func splitStorePlain(a *splitStoreArgs) {
	for i := range a.rows {
		dst := a.dst[a.table[i]:][:splitSide]
		for j := range dst {
			sum := a.bias[j] + a.sums[i*splitSide+j]
			if a.flags&tileAdd != 0 {
				sum += dst[j]
			}
			if a.flags&tileReLU != 0 && sum < 0 {
				sum = 0
			}
			dst[j] = sum
		}
	}
}
