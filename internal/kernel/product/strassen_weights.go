package product

import (
	"lockstep/compute"
	"lockstep/internal/kernel/asm"
)

// strassenWeights is the gradient of a linear layer's weights by one step of Strassen's algorithm
// (asm.StrassenOps):
//
//	dw[c, k] = sum over rows p of x[p, c] * dy[p, k]
//
// With c and k cut in halves, and even and odd rows, the quarters are
//
//	A11 = x[even, first c] transposed   B11 = dy[even, first k]   C11 = dw[first c, first k]
//	A12 = x[odd, first c] transposed    B12 = dy[even, last k]    C12 = dw[first c, last k]
//	A21 = x[even, last c] transposed    B21 = dy[odd, first k]    C21 = dw[last c, first k]
//	A22 = x[odd, last c] transposed     B22 = dy[odd, last k]     C22 = dw[last c, last k]
//
// A last row without a neighbour meets zeros.
//
// Order of the sum: the pairs of rows are cut into parcels; a product of quarters sums each in order from
// zero, and adds the parcels' sums in order. Then the products are added as asm.StrassenOps says.
//
// Threads share dw, and each makes its own operands: if one made them for all, the others would fetch them
// from its caches.
type strassenWeights struct {
	cpu    *CPU
	direct weightsPlan // for few rows, after resize
	rows   int
	// Of the shape.
	depth, width int
	cols         int // columns of a block of a quarter
	stride       int // floats between the rows of a sum of quarters of x
	strips       []strip
	grid         grid // of strips and blocks
	// Pairs of OuterArgs, for strips of sums, of quarters of x, and of copies by height.
	summed, quarters []int32
	copied           [asm.TileRows + 1][]int32
	zero             []float32
	parts            []*strassenWeightsPart

	// The call in progress.
	dw, x, dy []float32
	products  []float32 // [product][row][column]
}

// strip is the columns of a quarter of x that a tile multiplies.
type strip struct{ first, rows int }

// strassenWeightsPart holds what one thread hands to the inner loops.
type strassenWeightsPart struct {
	outer asm.OuterArgs
	strip asm.StripArgs
	add   asm.StrassenArgs
	left  []float32 // sums of quarters of x, [sum][pair][column]
	right []float32 // operands made of a band of dy, [operand][block][pair][column]
	copy  []float32 // of a strip, where rows that lie apart take longer

	strips, blocks [2]int       // of the part in progress
	column         int          // of a quarter of x: the first of left
	first          int          // pair of the parcel
	band           [2]int       // blocks of right
	next           [2][]float32 // rows of the next parcel to fetch
}

// strassenParcel is how many pairs of rows a parcel has. Changing it changes results (docs/design/0047). The
// blocks that are multiplied by a strip at a time are a band of bandColumns.
const strassenParcel = 256

// newStrassenWeights plans the sum over rows; direct computes it over few.
func newStrassenWeights(c *CPU, rows, depth, width int, direct weightsPlan) *strassenWeights {
	ops := &c.ops.Gemm
	o := &strassenWeights{cpu: c, direct: direct, rows: rows, depth: depth, width: width,
		cols: ops.Widths[0] * ops.Lanes, zero: make([]float32, max(depth, width))}
	for first := 0; first < depth/2; {
		rows := asm.TileHeight(depth/2 - first)
		o.strips = append(o.strips, strip{first, rows})
		first += rows
	}
	o.grid = o.gridFor(c.Threads())
	most := (len(o.strips) + o.grid.rows - 1) / o.grid.rows
	o.stride = LineUp(most*asm.TileRows) + 2*asm.LineFloats
	for p := range int32(strassenParcel) {
		o.summed = append(o.summed, p*int32(o.stride), p)
		o.quarters = append(o.quarters, p*2*int32(depth), p)
		for _, h := range asm.TileHeights() {
			if !ops.ReadsApart {
				o.copied[h] = append(o.copied[h], p*int32(h), p)
			}
		}
	}
	for range c.Threads() {
		o.parts = append(o.parts, &strassenWeightsPart{})
	}
	return o
}

// blocks returns the blocks of columns of a quarter of dw.
func (o *strassenWeights) blocks() int { return o.width / 2 / o.cols }

// gridFor returns how threads share dw, by an estimate of the cycles of a pair of rows: two for seven columns
// of x, two for five of dy, and one for nine elements of dw.
func (o *strassenWeights) gridFor(threads int) grid {
	return newGrid(threads, len(o.strips), o.blocks(), func(rows, columns float64) float64 {
		c, k := float64(o.depth)*rows, float64(o.width)*columns
		return c*2/7 + k*2/5 + c*k/9
	})
}

// Floats of scratch: of the products, and of a thread.
func (o *strassenWeights) productFloats() int {
	return asm.StrassenProducts * o.depth / 2 * o.width / 2
}
func (o *strassenWeights) leftFloats() int { return asm.StrassenSums * strassenParcel * o.stride }
func (o *strassenWeights) copyFloats() int {
	return LineUp(strassenParcel*asm.TileRows + asm.TurnLanes)
}
func (o *strassenWeights) rightFloats() int {
	most := (o.blocks() + o.grid.columns - 1) / o.grid.columns
	return asm.StrassenProducts * strassenParcel * min(most*o.cols, bandColumns)
}

func (o *strassenWeights) scratchFloats() int {
	each := o.leftFloats() + o.rightFloats() + o.copyFloats()
	return max(o.productFloats()+len(o.parts)*each, o.direct.scratchFloats())
}

func (o *strassenWeights) resize(rows int) { o.rows = rows; o.direct.resize(rows) }

func (o *strassenWeights) run(dw, x, dy, scratch []float32) {
	if o.rows < strassenRows {
		o.direct.run(dw, x, dy, scratch)
		return
	}
	o.dw, o.x, o.dy = dw, x, dy
	o.products = take(&scratch, o.productFloats())
	for _, p := range o.parts {
		p.left, p.right = take(&scratch, o.leftFloats()), take(&scratch, o.rightFloats())
		p.copy = take(&scratch, o.copyFloats())
	}
	o.cpu.RunParts((*strassenOuter)(o), o.grid.parts())
	o.dw, o.x, o.dy = nil, nil, nil
}

// strassenOuter computes dw.
type strassenOuter strassenWeights

// Do computes some parts of the grid.
func (t *strassenOuter) Do(thread, part, parts int) {
	o := (*strassenWeights)(t)
	p := o.parts[thread]
	lo, hi := compute.Span(o.grid.parts(), part, parts)
	for ; lo < hi; lo++ {
		p.strips, p.blocks = o.grid.share(lo, len(o.strips), o.blocks())
		p.column = o.strips[p.strips[0]].first &^ (asm.LineFloats - 1)
		for p.first = 0; 2*p.first < o.rows; p.first += strassenParcel {
			p.next = o.nextRows(p, thread)
			o.parcel(p)
		}
		o.store(p)
	}
}

// parcel adds a parcel to the products.
func (o *strassenWeights) parcel(p *strassenWeightsPart) {
	o.eachFew(p, (*strassenWeights).addX)
	band := bandColumns / o.cols
	for first := p.blocks[0]; first < p.blocks[1]; first += band {
		p.band = [2]int{first, min(first+band, p.blocks[1])}
		o.eachFew(p, (*strassenWeights).addDY)
		for m := range asm.StrassenProducts {
			for at := p.strips[0]; at < p.strips[1]; at++ {
				o.tiles(p, m, at)
			}
		}
	}
}

// pairs returns how many pairs of rows the parcel has, and how many of them are whole.
func (o *strassenWeights) pairs(p *strassenWeightsPart) (n, whole int) {
	return min(strassenParcel, (o.rows+1)/2-p.first), min(strassenParcel, o.rows/2-p.first)
}

// panel returns the panel of an operand of block b of the band.
func (o *strassenWeights) panel(p *strassenWeightsPart, operand, b int) []float32 {
	n := p.band[1] - p.band[0]
	return p.right[(operand*n+b-p.band[0])*strassenParcel*o.cols:]
}

// eachFew calls add for a few pairs of the parcel at a time, which are whole or lack their second row.
func (o *strassenWeights) eachFew(p *strassenWeightsPart,
	add func(o *strassenWeights, p *strassenWeightsPart, lo, hi int, whole bool)) {
	n, whole := o.pairs(p)
	for lo := 0; lo < whole; lo += strassenFew {
		add(o, p, lo, min(lo+strassenFew, whole), true)
	}
	if whole < n {
		add(o, p, whole, n, false)
	}
}

// lastColumn returns the end of the columns of a quarter of x that a part multiplies.
func (o *strassenWeights) lastColumn(p *strassenWeightsPart) int {
	last := o.strips[p.strips[1]-1]
	return last.first + last.rows
}

// addX makes the operands of pairs [lo, hi) of the strips.
func (o *strassenWeights) addX(p *strassenWeightsPart, lo, hi int, whole bool) {
	x := o.x[2*(p.first+lo)*o.depth+p.column:]
	p.add = asm.StrassenArgs{Rows: hi - lo, Width: LineUp(o.lastColumn(p) - p.column),
		QuarterStride: 2 * o.depth, RowStride: o.stride,
		SumStride: strassenParcel * o.stride, Sums: p.left[lo*o.stride:],
		Q11: x, Q21: x[o.depth/2:], Q12: o.zero, Q22: o.zero}
	if whole {
		p.add.Q12, p.add.Q22 = x[o.depth:], x[o.depth+o.depth/2:]
	}
	o.cpu.ops.Strassen.Operand(&p.add)
}

// addDY makes the operands of pairs [lo, hi) of the band, of which two are quarters.
func (o *strassenWeights) addDY(p *strassenWeightsPart, lo, hi int, whole bool) {
	a, half := &p.add, o.width/2
	for b := p.band[0]; b < p.band[1]; b++ {
		dy, at := o.dy[2*(p.first+lo)*o.width+b*o.cols:], lo*o.cols
		*a = asm.StrassenArgs{Rows: hi - lo, Width: o.cols, QuarterStride: 2 * o.width, RowStride: o.cols,
			SumStride: (p.band[1] - p.band[0]) * strassenParcel * o.cols, Sums: o.panel(p, 0, b)[at:],
			Q11: dy, Q12: dy[half:], Q21: o.zero, Q22: o.zero, Flags: asm.StrassenCopies}
		if whole {
			a.Q21, a.Q22 = dy[o.width:], dy[o.width+half:]
		}
		o.cpu.ops.Strassen.Operand(a)
	}
}

// tiles multiplies a strip for product m by the band. A product that needs both rows of a pair has no terms
// in a parcel of one row, which is not the first.
func (o *strassenWeights) tiles(p *strassenWeightsPart, m, at int) {
	a, s, gemm := &p.outer, o.strips[at], &o.cpu.ops.Gemm
	*a = asm.OuterArgs{Rows: s.rows, Stride: o.width / 2, BStride: o.cols, Tail: gemm.Lanes,
		Flags: addFlag(p.first > 0)}
	stride := o.operand(p, m, s)
	if len(a.Pairs) == 0 {
		return
	}
	if !gemm.ReadsApart {
		p.strip = asm.StripArgs{Pairs: a.Pairs, Dst: p.copy, Src: a.A, Rows: a.Rows}
		gemm.Strip(&p.strip)
		a.Pairs, a.A = o.copied[a.Rows][:len(a.Pairs)], p.copy
	}
	right := o.panel(p, strassenRight[m], p.band[0])
	products := o.products[(m*o.depth/2+s.first)*o.width/2+p.band[0]*o.cols:]
	for i := range p.band[1] - p.band[0] {
		o.fetch(p, at, i, stride)
		a.B, a.Dst = right[i*strassenParcel*o.cols:], products[i*o.cols:]
		gemm.Outer[a.Rows][gemm.Widths[0]](a)
	}
}

// operand sets the rows of product m that a strip is of, and returns the floats between them. Where the
// second row of a pair is an operand itself, one that is missing is left out.
func (o *strassenWeights) operand(p *strassenWeightsPart, m int, s strip) (stride int) {
	a := &p.outer
	n, whole := o.pairs(p)
	if strassenLeft[m] == quarter22 || strassenRight[m] == quarter22 {
		n = whole
	}
	x := o.x[2*p.first*o.depth+s.first:]
	switch left := strassenLeft[m]; left {
	case quarter11:
		a.A, a.Pairs, stride = x, o.quarters, 2*o.depth
	case quarter22:
		a.A, a.Pairs, stride = x[min(o.depth+o.depth/2, len(x)):], o.quarters, 2*o.depth
	default:
		from := left*strassenParcel*o.stride + s.first - p.column
		a.A, a.Pairs, stride = p.left[from:], o.summed, o.stride
	}
	a.Pairs = a.Pairs[:2*n]
	return stride
}

// fetch sets what a tile fetches while its strip is multiplied by block i of a band: where strips are read in
// rows that are stride floats apart, the cache line of the next strip in each row, or both of them; else rows
// of the next parcel.
func (o *strassenWeights) fetch(p *strassenWeightsPart, at, i, stride int) {
	a := &p.outer
	if o.cpu.ops.Gemm.ReadsApart && at+1 < p.strips[1] && i < 2 {
		from, next := o.strips[at].rows, o.strips[at+1]
		last := from + next.rows - 1
		if i == 0 || next.first%asm.LineFloats+next.rows > asm.LineFloats {
			a.Fetch, a.FetchStride = a.A[[2]int{from, last}[i]:], 4*stride
			return
		}
	}
	a.Fetch, a.FetchStride = fetchNext(p.next[:], len(a.Pairs)/2*asm.LineFloats, a.A), lineBytes
}

// nextRows returns the part of the rows of x and dy of the next parcel that a thread fetches.
func (o *strassenWeights) nextRows(p *strassenWeightsPart, thread int) [2][]float32 {
	lo, hi := compute.Span(2*strassenParcel, thread, o.cpu.Threads())
	from := 2 * (p.first + strassenParcel)
	lo, hi = min(from+lo, o.rows), min(from+hi, o.rows)
	return [2][]float32{o.x[lo*o.depth : hi*o.depth], o.dy[lo*o.width : hi*o.width]}
}

// store adds up the products of a part, whole rows of it, as strips of a cache line each would be far apart.
func (o *strassenWeights) store(p *strassenWeightsPart) {
	half, end, column := o.width/2, o.lastColumn(p), p.blocks[0]*o.cols
	for lo := o.strips[p.strips[0]].first; lo < end; lo += strassenFew {
		upper, lower := o.dw[lo*o.width+column:], o.dw[(o.depth/2+lo)*o.width+column:]
		p.add = asm.StrassenArgs{Rows: min(strassenFew, end-lo), Width: p.blocks[1]*o.cols - column,
			QuarterStride: o.width, RowStride: half, SumStride: o.depth / 2 * half,
			Sums: o.products[lo*half+column:], Bias: o.zero, BiasNext: o.zero,
			Q11: upper, Q12: upper[half:], Q21: lower, Q22: lower[half:]}
		o.cpu.ops.Strassen.Result(&p.add)
	}
}
