package kernel

// The tiles are the innermost loops of every convolution and linear layer. This file holds their
// arguments and their portable form; asmgen reads the structs to find the fields from assembly.

// tileRows is the number of pixels a full tile computes at once. Six rows by four AVX-512 vectors (or
// by two AVX2 vectors) of sums, with the operands, fill the vector registers.
const tileRows = 6

// tileArgs describes one tile of an indirect matrix product,
//
//	dst[out[i] + k] = bias[k] + sum_t sum_d src[from[t,i] + d] * weights[tap[t]*tapStride + d*width + k]
//
// for i < rows and k < width. The sum is taken in the order written, t outermost.
type tileArgs struct {
	// table holds out[0..5], then tap[t], from[t,0..5] for each t; from < 0 means a row of zeros.
	table []int32
	// taps is the number of t, depth the number of d.
	taps, depth int
	src, zero   []float32
	// weights is a packed panel; a row has width floats, of which the last may be padding.
	weights   []float32
	tapStride int
	// bias has width floats.
	bias []float32
	dst  []float32
	// tail is how many lanes of the last vector are written, 1 to all.
	tail int
	// flags may be tileAdd and tileReLU.
	flags int
	// rows is the height of the tile, for the portable form; each assembly tile knows its own.
	rows int
	// fetch is memory that will be wanted soon: the tile asks for tileRows floats for each d.
	fetch []float32
	// ahead is where the next tile will write, whose rows are aheadStride bytes apart: the tile asks for
	// one row whenever a tap's channel d, a multiple of 4, has no bit of aheadMask/4.
	ahead                  []float32
	aheadStride, aheadMask int
}

// flags of tileArgs and outerArgs
const (
	tileAdd  = 1 // start from zero instead of the bias and add the sum to dst
	tileReLU = 2 // replace negative results by zero
)

// outerArgs describes one tile of a sum of outer products,
//
//	dst[i*stride + k] = sum_p a[pairs[p,0] + i] * b[pairs[p,1]*bStride + k]
//
// for i < rows and k < width, p in order; with tileAdd the sum is added to dst.
type outerArgs struct {
	pairs   []int32
	a, b    []float32
	bStride int
	dst     []float32
	stride  int
	tail    int
	flags   int
	rows    int
	// fetch is memory that will be wanted soon: the tile asks for a cache line of it for each p.
	fetch []float32
}

// packArgs describes the copy of a panel, dst[i*width + k] = src[i*stride + k], i < rows, where
// columns beyond the last vector's tail lanes are zero.
type packArgs struct {
	dst, src     []float32
	rows, stride int
	tail         int
}

// turnLanes is the side of the squares that a transposing copy handles at a time.
const turnLanes = 8

// turnArgs describes a transposing copy of a panel, dst[d*width + j] = src[j*stride + d] for d < rows and
// j < columns, multiples of turnLanes.
type turnArgs struct {
	dst, src      []float32
	rows, columns int
	stride, width int
}

// stripArgs describes the gathering copy of the rows of a tile, dst[p*rows + i] = src[pairs[p,0] + i] for
// i < rows. It may write turnLanes floats from the last row's first on.
type stripArgs struct {
	pairs    []int32
	dst, src []float32
	rows     int
}

// gemmOps holds the tiles of one ISA by height (1, 2, 4 or 6 rows) and width in vectors.
type gemmOps struct {
	lanes  int   // floats in a vector
	widths []int // widths of tiles in vectors, widest first
	tile   [tileRows + 1][5]func(*tileArgs)
	outer  [tileRows + 1][5]func(*outerArgs)
	pack   [5]func(*packArgs)
	turn   func(*turnArgs)
	strip  func(*stripArgs)
	// serial is the number of products, some 10 us of work, below which waking threads does not pay.
	serial int
}

// tileHeights lists the heights of tiles, tallest first: n rows are cut greedily.
func tileHeights() [4]int { return [4]int{tileRows, 4, 2, 1} }

// tileHeight returns the tallest tile for n remaining rows.
func tileHeight(n int) int {
	for _, h := range tileHeights() {
		if h <= n {
			return h
		}
	}
	panic("kernel: tile of no rows")
}

// plainLanes is the width of the portable tiles: as many sums as fit the registers of most processors.
const plainLanes = 8

// plainGemm returns the portable tiles.
func plainGemm() gemmOps {
	o := gemmOps{lanes: plainLanes, widths: []int{1}, serial: 1 << 15}
	for _, h := range tileHeights() {
		o.tile[h][1] = tilePlain
		o.outer[h][1] = outerPlain
	}
	o.pack[1] = packPlain
	o.turn = turnPlain
	o.strip = stripPlain
	return o
}

// tilePlain is the portable tile. Products are rounded before they are added.
func tilePlain(a *tileArgs) {
	for i := range a.rows {
		var sum [plainLanes]float32
		if a.flags&tileAdd == 0 {
			copy(sum[:], a.bias)
		}
		for t := range a.taps {
			step := a.table[tileRows+t*(tileRows+1):]
			row := a.zero
			if from := step[1+i]; from >= 0 {
				row = a.src[from:]
			}
			dotPlain(&sum, row[:a.depth], a.weights[int(step[0])*a.tapStride:])
		}
		dst := a.dst[a.table[i]:][:a.tail]
		for k := range dst {
			if a.flags&tileAdd != 0 {
				sum[k] = dst[k] + sum[k]
			}
			if a.flags&tileReLU != 0 && sum[k] < 0 {
				sum[k] = 0
			}
			dst[k] = sum[k]
		}
	}
}

// dotPlain adds row times the panel w to sum.
func dotPlain(sum *[plainLanes]float32, row, w []float32) {
	s0, s1, s2, s3 := sum[0], sum[1], sum[2], sum[3]
	s4, s5, s6, s7 := sum[4], sum[5], sum[6], sum[7]
	for _, x := range row {
		b := (*[plainLanes]float32)(w)
		s0 += float32(x * b[0])
		s1 += float32(x * b[1])
		s2 += float32(x * b[2])
		s3 += float32(x * b[3])
		s4 += float32(x * b[4])
		s5 += float32(x * b[5])
		s6 += float32(x * b[6])
		s7 += float32(x * b[7])
		w = w[plainLanes:]
	}
	*sum = [plainLanes]float32{s0, s1, s2, s3, s4, s5, s6, s7}
}

// outerPlain is the portable outer-product tile.
func outerPlain(a *outerArgs) {
	for i := range a.rows {
		var s0, s1, s2, s3, s4, s5, s6, s7 float32
		for p := 0; p < len(a.pairs); p += 2 {
			x := a.a[int(a.pairs[p])+i]
			b := (*[plainLanes]float32)(a.b[int(a.pairs[p+1])*a.bStride:])
			s0 += float32(x * b[0])
			s1 += float32(x * b[1])
			s2 += float32(x * b[2])
			s3 += float32(x * b[3])
			s4 += float32(x * b[4])
			s5 += float32(x * b[5])
			s6 += float32(x * b[6])
			s7 += float32(x * b[7])
		}
		sum := [plainLanes]float32{s0, s1, s2, s3, s4, s5, s6, s7}
		dst := a.dst[i*a.stride:][:a.tail]
		for k := range dst {
			if a.flags&tileAdd != 0 {
				sum[k] = dst[k] + sum[k]
			}
			dst[k] = sum[k]
		}
	}
}

// packPlain is the portable copy of a panel.
func packPlain(a *packArgs) {
	for i := range a.rows {
		dst := a.dst[i*plainLanes:][:plainLanes]
		clear(dst[copy(dst, a.src[i*a.stride:][:a.tail]):])
	}
}

// turnPlain is the portable transposing copy.
func turnPlain(a *turnArgs) {
	for d := range a.rows {
		row := a.dst[d*a.width:][:a.columns]
		for j := range row {
			row[j] = a.src[j*a.stride+d]
		}
	}
}

// stripPlain is the portable gathering copy.
func stripPlain(a *stripArgs) {
	for p := range len(a.pairs) / 2 {
		copy(a.dst[p*a.rows:][:a.rows], a.src[a.pairs[2*p]:])
	}
}
