package product

import (
	"slices"

	"lockstep/internal/kernel/asm"
)

// Small multiplies matrices that fit the cache, on one thread, with the tiles of gather.go and outer.go.
// Attention is computed with it.
type Small struct {
	Ops   *asm.GemmOps
	table [asm.TileRows + 1 + asm.TileRows]int32
	bias  []float32 // zeros
	pairs []int32
	tile  asm.TileArgs
	outer asm.OuterArgs
	pack  asm.PackArgs
	turn  asm.TurnArgs
}

// NewSmall returns products whose sums over rows have at most rows terms.
func NewSmall(o *asm.GemmOps, rows int) *Small {
	return &Small{Ops: o, bias: make([]float32, o.Widths[0]*o.Lanes), pairs: make([]int32, 2*rows)}
}

// Columns are those of a right operand: how many, and the blocks that Small cuts them into.
type Columns struct {
	Width  int
	blocks []block
}

// NewColumns returns as many columns as are given, with room for the blocks of fewer.
func NewColumns(o *asm.GemmOps, most int) (c Columns) {
	c.Cut(o, most)
	c.blocks = slices.Grow(c.blocks, len(o.Widths)) // fewer columns may be cut into more blocks
	return c
}

// Cut makes them width columns.
func (c *Columns) Cut(o *asm.GemmOps, width int) {
	c.Width = width
	c.blocks, _ = appendBlocks(o, c.blocks[:0], width)
}

// PanelFloats returns the size of the panels of depth rows of width columns.
func (p *Small) PanelFloats(depth, width int) int {
	lanes := p.Ops.Lanes
	return depth * ((width + lanes - 1) / lanes * lanes)
}

// Panels are a right operand of depth rows, block after block of its columns.
type Panels struct {
	Columns
	floats []float32
	depth  int
}

// Within returns the panels up to the block that holds column n-1. Products by them may write the columns of
// that block behind it.
func (p Panels) Within(n int) Panels {
	for i := range p.blocks {
		if p.blocks[i].first >= n {
			p.blocks = p.blocks[:i]
			break
		}
	}
	p.Width = min(p.Width, n)
	return p
}

// Packed returns panels, in the memory given, of a matrix of depth rows, stride floats apart.
func (p *Small) Packed(panels, src []float32, stride, depth int, c Columns) Panels {
	for i := range c.blocks {
		b := &c.blocks[i]
		packBlock(&p.pack, p.Ops, panels[depth*b.at:], src[b.first:], depth, stride, b)
	}
	return Panels{c, panels, depth}
}

// Turned returns panels, in the memory given, of the transpose of a matrix of depth columns, whose rows are
// stride floats apart.
func (p *Small) Turned(panels, src []float32, stride, depth int, c Columns) Panels {
	for i := range c.blocks {
		b := &c.blocks[i]
		turnBlock(&p.turn, p.Ops, panels[depth*b.at:], src[b.first*stride:], depth, stride, b)
	}
	return Panels{c, panels, depth}
}

// Matrix is rows of floats, stride apart.
type Matrix struct {
	Floats []float32
	Stride int
}

// Row returns the first n floats of a row.
func (m Matrix) Row(i, n int) []float32 { return m.Floats[i*m.Stride:][:n] }

// From returns the matrix from element j of row i on.
func (m Matrix) From(i, j int) Matrix { return Matrix{m.Floats[i*m.Stride+j:], m.Stride} }

// Times computes dst = src times the panels' first terms rows, or with add adds it to dst: dst[i,k] = sum
// over d of src[i,d]*panel[d,k], d in order, for rows rows.
func (p *Small) Times(dst, src Matrix, rows, terms int, panels Panels, add bool) {
	for i := range asm.TileRows {
		p.table[i], p.table[asm.TileRows+1+i] = int32(i*dst.Stride), int32(i*src.Stride)
	}
	a := &p.tile
	*a = asm.TileArgs{Table: p.table[:], Taps: 1, Depth: terms, Zero: p.bias, Bias: p.bias,
		Flags: addFlag(add), AheadStride: 4 * dst.Stride, AheadMask: aheadMask(terms)}
	for j := range panels.blocks {
		b := &panels.blocks[j]
		a.Weights, a.Tail = panels.floats[panels.depth*b.at:], b.tail
		for i := 0; i < rows; i += a.Rows {
			a.Rows = asm.TileHeight(rows - i)
			a.Src, a.Dst = src.Floats[i*src.Stride:], dst.Floats[i*dst.Stride+b.first:]
			a.Ahead = a.Dst[min(a.Rows*dst.Stride, len(a.Dst)):]
			p.Ops.Tile[a.Rows][b.vectors](a)
		}
	}
	*a = asm.TileArgs{}
}

// addFlag returns the flags of tiles that add to what is there, or do not.
func addFlag(add bool) int {
	if add {
		return asm.TileAdd
	}
	return 0
}

// Transposed computes dst = transposed a times b, or with add adds it to dst: dst[j,k] = sum over i of
// a[i,j]*b[i,k], i in order, for rows rows of dst and terms rows of a and b. The columns of b must be whole
// vectors.
func (p *Small) Transposed(dst, a, b Matrix, rows, terms int, add bool, c Columns) {
	o := &p.outer
	*o = asm.OuterArgs{BStride: b.Stride, Stride: dst.Stride, Pairs: p.pairs[:2*terms], Flags: addFlag(add)}
	for i := range terms {
		o.Pairs[2*i], o.Pairs[2*i+1] = int32(i*a.Stride), int32(i)
	}
	for j := range c.blocks {
		v := &c.blocks[j]
		o.Tail, o.B = v.tail, b.Floats[v.first:]
		for i := 0; i < rows; i += o.Rows {
			o.Rows = asm.TileHeight(rows - i)
			o.A, o.Dst = a.Floats[i:], dst.Floats[i*dst.Stride+v.first:]
			p.Ops.Outer[o.Rows][v.vectors](o)
		}
	}
	*o = asm.OuterArgs{}
}
