package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// strassen is a linear layer, forward or for the gradient of the data, by one step of Strassen's algorithm
// (asm.StrassenOps): seven eighths of the products.
//
//	dst[p, k] = bias[k] + sum over d of src[p, d] * w[d, k]
//
// With d and k cut in halves, and even and odd rows, the quarters are
//
//	A11 = src[even, first d]   B11 = w[first d, first k]   C11 = dst[even, first k]
//	A12 = src[even, last d]    B12 = w[first d, last k]    C12 = dst[even, last k]
//	A21 = src[odd, first d]    B21 = w[last d, first k]    C21 = dst[odd, first k]
//	A22 = src[odd, last d]     B22 = w[last d, last k]     C22 = dst[odd, last k]
//
// so that a row meets its neighbour alone. A last row without a neighbour meets zeros.
//
// Order of the sum: half the channels are cut into chunks by the shape; a product of quarters sums each in
// order from zero, and adds the chunks' sums in order. Then the products are added as asm.StrassenOps says.
type strassen struct {
	cpu    *CPU
	direct rowsPlan // for few rows, after resize
	rows   int
	// Of the shape.
	depth, width int
	flip         bool // w is [width][depth]
	cols         int  // columns of a block of a quarter
	chunk        int  // channels of a chunk
	stride       int  // floats between the rows of a sum of quarters of src
	summed       []int32
	quarters     []int32 // tables of tiles of sums, and of quarters of src
	zero         []float32
	parts        []*strassenPart
	alone        []rowRun // of dst, by thread

	// The call in progress.
	dst, src, w, bias []float32
	flags             int
	panels            []float32 // [block][operand][channel][column]
	then              finishing // of rows of dst, if any
}

// strassenPart holds what one thread hands to the inner loops.
type strassenPart struct {
	tile asm.TileArgs
	pack asm.PackArgs
	turn asm.TurnArgs
	add  asm.StrassenArgs

	left     []float32    // sums of quarters of a batch of src, [sum][pair][channel]
	products []float32    // of a batch and a run of blocks, [product][pair][column]
	mixed    []float32    // two quarters of w, for a block and a chunk
	nowhere  []float32    // where the row after the last would go
	wanted   [4][]float32 // to fetch: the next panel, what the Finisher reads, the next batch
}

// Note: sizes of Strassen's algorithm
//
// strassenRows is the least number of rows, strassenLeast the least number of terms and of columns,
// strassenUnit what the columns are multiples of: below them, the additions take what the products save.
// strassenBatch is how many pairs of rows are multiplied at a time: products and sums of a quarter then share
// the second-level cache, and the tiles of a batch fetch a panel while they multiply by the one before.
// strassenRun is how many columns of a quarter of the result are added up at a time, so that its rows are
// written four cache lines at a time.
// strassenFew is how many pairs, or rows of weights, are added in one call, so that a call is short, and rows
// that are read again are still in a cache. All of these: docs/design/0033 and 0047.
const (
	strassenRows  = 384
	strassenLeast = 256
	strassenUnit  = 128
	strassenBatch = 16 * asm.TileRows
	strassenRun   = strassenUnit / 2
	strassenFew   = 16
)

// The operands of products M1 to M7: places among the sums of quarters, or quarters 11 and 22 themselves.
const (
	quarter11 = asm.StrassenSums
	quarter22 = asm.StrassenSums + 1
)

var (
	strassenLeft  = [asm.StrassenProducts]int{0, 1, quarter11, quarter22, 2, 3, 4}
	strassenRight = [asm.StrassenProducts]int{0, quarter11, 4, 3, quarter22, 2, 1}
)

// usesStrassen reports whether a linear layer, folded, is computed by Strassen's algorithm.
func (c *CPU) usesStrassen(s ConvShape) bool {
	return c.Math() == compute.Fast && s.H*s.W*s.R*s.S == 1 && s.Pad == 0 && s.N >= strassenRows &&
		min(s.C, s.K) >= strassenLeast && s.C%strassenUnit == 0 && s.K%strassenUnit == 0
}

// newStrassen plans the products of the given rows; direct computes few.
func newStrassen(c *CPU, rows int, s gatherShape, direct rowsPlan) *strassen {
	o := &c.ops.Gemm
	g := &strassen{cpu: c, direct: direct, rows: rows, depth: s.depth, width: s.width, flip: s.flip,
		cols: o.Widths[0] * o.Lanes, alone: make([]rowRun, c.Threads())}
	g.chunk = chunkOf(1, g.half())
	g.stride = g.half() + asm.LineFloats
	g.zero = make([]float32, max(g.half(), g.width))
	g.summed, g.quarters = rowTable(strassenRun, g.stride), rowTable(strassenRun, 2*g.depth)
	for range c.Threads() {
		g.parts = append(g.parts, &strassenPart{})
	}
	return g
}

// half returns the channels of a quarter of src.
func (g *strassen) half() int { return g.depth / 2 }

// blocks returns the blocks of columns of a quarter of dst.
func (g *strassen) blocks() int { return g.width / 2 / g.cols }

// chunks returns the chunks of channels of a quarter of src.
func (g *strassen) chunks() int { return (g.half() + g.chunk - 1) / g.chunk }

// Floats of scratch: of all panels, and of a thread's slices.
func (g *strassen) panelsFloats() int  { return asm.StrassenProducts * g.half() * g.width / 2 }
func (g *strassen) leftFloats() int    { return asm.StrassenSums * strassenBatch * g.stride }
func (g *strassen) productFloats() int { return asm.StrassenProducts * strassenBatch * strassenRun }
func (g *strassen) mixedFloats() int   { return 2 * g.chunk * g.cols }

func (g *strassen) resize(rows int) { g.rows = rows; g.direct.resize(rows) }

func (g *strassen) scratchFloats() int {
	each := g.leftFloats() + g.productFloats() + g.mixedFloats() + g.width
	return max(g.panelsFloats()+g.cpu.Threads()*each, g.direct.scratchFloats())
}

func (g *strassen) run(dst, src, w, bias []float32, flags int, then finishing, scratch []float32) {
	if g.rows < strassenRows {
		g.direct.run(dst, src, w, bias, flags, then, scratch)
		return
	}
	g.dst, g.src, g.w, g.bias, g.flags, g.then = dst, src, w, bias, flags, then
	if bias == nil {
		g.bias = g.zero
	}
	g.panels = take(&scratch, g.panelsFloats())
	for _, p := range g.parts {
		p.left, p.products = take(&scratch, g.leftFloats()), take(&scratch, g.productFloats())
		p.mixed, p.nowhere = take(&scratch, g.mixedFloats()), take(&scratch, g.width)
	}
	g.cpu.Share((*strassenPanels)(g), len(g.panels))
	clear(g.alone)
	g.then.alone = g.alone
	g.cpu.RunParts((*strassenCompute)(g), g.cpu.PartsOf(g.items(), strassenBatch/asm.TileRows))
	g.cpu.finish(g.then)
	g.dst, g.src, g.w, g.bias, g.then = nil, nil, nil, nil, finishing{}
}

// panel returns the panel of an operand of block b from channel first on.
func (g *strassen) panel(b, operand, first int) []float32 {
	return g.panels[((b*asm.StrassenProducts+operand)*g.half()+first)*g.cols:]
}

// strassenPanels packs the operands made of the weights.
type strassenPanels strassen

// Do packs some chunks of some blocks.
func (t *strassenPanels) Do(thread, part, parts int) {
	g, p := (*strassen)(t), t.parts[thread]
	lo, hi := compute.Span(g.blocks()*g.chunks(), part, parts)
	for u := lo; u < hi; u++ {
		b, first := u/g.chunks(), u%g.chunks()*g.chunk
		n := min(g.chunk, g.half()-first)
		a := &p.add
		*a = asm.StrassenArgs{Rows: 1, Width: n * g.cols,
			Q11: g.panel(b, quarter11, first), Q12: p.mixed,
			Q21: p.mixed[n*g.cols:], Q22: g.panel(b, quarter22, first),
			Sums: g.panel(b, 0, first), SumStride: g.half() * g.cols}
		for i, dst := range [][]float32{a.Q11, a.Q12, a.Q21, a.Q22} {
			g.packQuarter(p, dst, i/2*g.half()+first, i%2*g.width/2+b*g.cols, n)
		}
		g.cpu.ops.Strassen.Operand(a)
	}
}

// packQuarter copies n rows of weights, from channel first on, of a block of columns, from column on.
func (g *strassen) packQuarter(p *strassenPart, dst []float32, first, column, n int) {
	o := &g.cpu.ops.Gemm
	block := block{vectors: o.Widths[0], columns: g.cols, tail: o.Lanes}
	if g.flip {
		turnBlock(&p.turn, o, dst, g.w[column*g.depth+first:], n, g.depth, &block)
	} else {
		packBlock(&p.pack, o, dst, g.w[first*g.width+column:], n, g.width, &block)
	}
}

// items returns the number of tiles of pairs of rows.
func (g *strassen) items() int { return (g.pairs() + asm.TileRows - 1) / asm.TileRows }

// pairs returns the number of pairs of rows, of which the last may lack one.
func (g *strassen) pairs() int { return (g.rows + 1) / 2 }

// strassenCompute multiplies.
type strassenCompute strassen

// Do computes some rows.
func (t *strassenCompute) Do(thread, part, parts int) {
	g, p := (*strassen)(t), t.parts[thread]
	lo, end := compute.Span(g.items(), part, parts)
	lo, end = lo*asm.TileRows, min(end*asm.TileRows, g.pairs())
	owns, isFirst := g.cpu.Owns(thread, part, parts)
	if isFirst {
		g.alone[thread] = startsAt(2 * lo)
	}
	for lo < end {
		hi := min(lo+strassenBatch, end)
		from, to := 2*lo, min(2*hi, g.rows)
		p.wanted = [4][]float32{}
		if owns && g.then.then != nil {
			reads := g.then.reads.piece(from, to, g.width)
			copy(p.wanted[1:], reads[:])
		}
		p.wanted[3] = g.src[to*g.depth : min(to+2*strassenBatch, g.rows)*g.depth]
		g.addRows(p, lo, hi)
		for b := range g.blocks() {
			g.multiply(p, b, lo, hi)
			if end := (b + 1) * g.cols; end%strassenRun == 0 {
				g.store(p, end-strassenRun, lo, hi)
			}
		}
		if owns && g.then.then != nil {
			g.then.advance(thread, &g.alone[thread], from, to)
		}
		lo = hi
	}
}

// addRows computes the sums of quarters of pairs [lo, hi) of rows of src.
func (g *strassen) addRows(p *strassenPart, lo, hi int) {
	a, half := &p.add, g.half()
	*a = asm.StrassenArgs{QuarterStride: 2 * g.depth, Width: half, RowStride: g.stride,
		SumStride: strassenBatch * g.stride}
	for i, n := lo, 0; i < hi; i += n {
		row := g.src[2*i*g.depth:]
		a.Sums, a.Q11, a.Q12 = p.left[(i-lo)*g.stride:], row, row[half:]
		if n = min(i+strassenFew, hi, g.rows/2) - i; n > 0 {
			a.Rows, a.Q21, a.Q22 = n, row[g.depth:], row[g.depth+half:]
		} else { // the last row has no neighbour
			n, a.Rows, a.Q21, a.Q22 = 1, 1, g.zero, g.zero
		}
		g.cpu.ops.Strassen.Operand(a)
	}
}

// multiply computes the seven products of block b for pairs [lo, hi).
func (g *strassen) multiply(p *strassenPart, b, lo, hi int) {
	for m := range asm.StrassenProducts {
		for first := 0; first < g.half(); first += g.chunk {
			p.wanted[0] = g.nextPanel(b, m, first)
			g.product(p, b, m, first, lo, hi)
		}
	}
}

// nextPanel returns the panel that is multiplied after that of product m of block b and the chunk at first.
func (g *strassen) nextPanel(b, m, first int) []float32 {
	if first += g.chunk; first >= g.half() {
		m, first = m+1, 0
	}
	if m == asm.StrassenProducts {
		b, m = (b+1)%g.blocks(), 0
	}
	return g.panel(b, strassenRight[m], first)[:min(g.chunk, g.half()-first)*g.cols]
}

// product adds a chunk of channels to product m of block b for pairs [lo, hi).
func (g *strassen) product(p *strassenPart, b, m, first, lo, hi int) {
	a, gemm := &p.tile, &g.cpu.ops.Gemm
	*a = asm.TileArgs{Taps: 1, Depth: min(g.chunk, g.half()-first), Zero: g.zero, Bias: g.zero,
		Weights: g.panel(b, strassenRight[m], first), Tail: gemm.Lanes, Flags: addFlag(first > 0)}
	a.AheadMask = aheadMask(a.Depth)
	src, end, stride := g.operand(p, a, m, first, lo, hi)
	dst := p.products[m*strassenBatch*strassenRun+b*g.cols%strassenRun:]
	ahead := g.aheadOf(a, m, b, lo)
	for i := 0; i < end-lo; i += a.Rows {
		a.Rows = asm.TileHeight(end - lo - i)
		a.Src, a.Dst = src[i*stride:], dst[i*strassenRun:]
		a.Fetch, a.Ahead = fetchNext(p.wanted[:], asm.TileRows*a.Depth, a.Src), a.Dst
		if at := i * 2 * g.width; at < len(ahead) {
			a.Ahead = ahead[at:]
		}
		gemm.Tile[a.Rows][gemm.Widths[0]](a)
	}
	if end < hi { // the last row has no neighbour
		a.Rows, a.Src, a.Dst, a.Fetch, a.Ahead = 1, g.zero, dst[(end-lo)*strassenRun:], g.zero, g.zero
		gemm.Tile[1][gemm.Widths[0]](a)
	}
}

// operand returns the left operand of product m for pairs [lo, hi) from channel first on, the end of the
// pairs that it has, and the floats between its rows, for which it sets the table.
func (g *strassen) operand(p *strassenPart, a *asm.TileArgs, m, first, lo, hi int,
) (src []float32, end, stride int) {
	switch left := strassenLeft[m]; left {
	case quarter11:
		a.Table = g.quarters
		return g.src[2*lo*g.depth+first:], hi, 2 * g.depth
	case quarter22:
		a.Table = g.quarters
		from := (2*lo+1)*g.depth + g.half() + first
		return g.src[min(from, len(g.src)):], min(hi, g.rows/2), 2 * g.depth
	default:
		a.Table = g.summed
		return p.left[left*strassenBatch*g.stride+first:], hi, g.stride
	}
}

// aheadOf returns where the results of block b of pairs of rows from pair lo on go, of which the tiles of
// product m prefetch a quarter: the last four products each take one.
func (g *strassen) aheadOf(a *asm.TileArgs, m, b, lo int) []float32 {
	q := m - 3
	if q < 0 {
		return nil
	}
	a.AheadStride = 4 * 2 * g.width
	from := (2*lo+q/2)*g.width + q%2*g.width/2 + b*g.cols
	return g.dst[min(from, len(g.dst)):]
}

// store adds up a run of columns from column at on, of pairs [lo, hi) of rows of dst.
func (g *strassen) store(p *strassenPart, at, lo, hi int) {
	a, half := &p.add, g.width/2
	*a = asm.StrassenArgs{QuarterStride: 2 * g.width, RowStride: strassenRun, Width: strassenRun,
		SumStride: strassenBatch * strassenRun, Flags: g.flags, Bias: g.bias[at:], BiasNext: g.bias[half+at:]}
	if whole := min(hi, g.rows/2); lo < whole {
		row := g.dst[2*lo*g.width:]
		a.Rows, a.Sums = whole-lo, p.products
		a.Q11, a.Q12, a.Q21, a.Q22 = row[at:], row[half+at:], row[g.width+at:], row[g.width+half+at:]
		g.cpu.ops.Strassen.Result(a)
	}
	if left := g.rows / 2; left < hi {
		row := g.dst[2*left*g.width:]
		a.Rows, a.Sums = 1, p.products[(left-lo)*strassenRun:]
		a.Q11, a.Q12, a.Q21, a.Q22 = row[at:], row[half+at:], p.nowhere, p.nowhere[half:]
		g.cpu.ops.Strassen.Result(a)
	}
}
