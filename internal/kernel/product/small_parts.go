package product

import "lockstep/internal/kernel/asm"

// SmallParts multiplies matrices that fit the cache, on one thread, by products of parts (split.go), as Small
// does in float32. Terms are filled up with zeros to whole steps of 32, and so are columns that Turned
// copies: then rows of dst, and rows of src and of the left operand of Transposed, must have room for these.
// Packed and Transposed take a multiple of 32 columns, Turned of terms.
type SmallParts struct {
	ops         *asm.SplitOps
	part        *splitPart
	zero        []float32
	left, right []uint32
}

// NewSmallParts returns products of matrices with rows of at most most floats.
func NewSmallParts(o *asm.SplitOps, most int) *SmallParts {
	zero := make([]float32, WholeSteps(max(most, 1))) // a row of zeros, and a bias
	return &SmallParts{ops: o, part: newSplitPart(), zero: zero}
}

// WholeSteps rounds n up to whole steps.
func WholeSteps(n int) int { return (n + asm.SplitSide - 1) / asm.SplitSide * asm.SplitSide }

// PanelFloats returns the size of the panels of depth rows of width columns.
func (p *SmallParts) PanelFloats(depth, width int) int {
	return WholeSteps(depth) / asm.SplitSide * WholeSteps(width) / asm.SplitSide * p.ops.StepWords()
}

// ScratchFloats returns the floats of scratch that Times needs for rows rows and terms terms, and Transposed
// for terms rows, rows terms and width columns.
func (p *SmallParts) ScratchFloats(rows, terms, width int) int {
	return p.PanelFloats(rows, terms) + p.PanelFloats(rows, width) + sumFloats
}

// Use assigns that scratch.
func (p *SmallParts) Use(scratch []float32, rows, terms, width int) {
	p.left = words(take(&scratch, p.PanelFloats(rows, terms)))
	p.right = words(take(&scratch, p.PanelFloats(rows, width)))
	p.part.sums = take(&scratch, sumFloats)
}

// Turned returns panels, in the memory given, of the transpose of a matrix of as many rows as columns are
// given, and depth columns.
func (p *SmallParts) Turned(panels, src []float32, stride, depth int, c Columns) Panels {
	steps, table := depth/asm.SplitSide, p.part.table[:]
	a := &p.part.pack
	*a = asm.SplitArgs{Table: table, Src: src, Zero: p.zero, N: steps, DstStep: p.ops.StepWords(),
		Work: p.part.work}
	for first := 0; first < WholeSteps(c.Width); first += asm.TileSide {
		listTurned(table, first*stride, c.Width-first, stride)
		a.Dst = words(panels)[first/asm.SplitSide*steps*p.ops.StepWords()+
			first%asm.SplitSide/asm.TileSide*asm.TileWords:]
		p.ops.Flip(a)
	}
	return Panels{c, panels, depth}
}

// Packed returns panels, in the memory given, of a matrix of depth rows, stride floats apart.
func (p *SmallParts) Packed(panels, src []float32, stride, depth int, c Columns) Panels {
	p.pack(words(panels), Matrix{src, stride}, depth, c.Width)
	return Panels{c, panels, depth}
}

// pack fills panels with a matrix of depth rows and width columns.
func (p *SmallParts) pack(panels []uint32, src Matrix, depth, width int) {
	step := p.ops.StepWords()
	a := &p.part.pack
	*a = asm.SplitArgs{Table: p.part.table[:], Src: src.Floats, Zero: p.zero, N: width / asm.SplitSide,
		DstStep: WholeSteps(depth) / asm.SplitSide * step}
	for first := 0; first < depth; first += asm.SplitSide {
		listRows(a.Table, first*src.Stride, depth-first, src.Stride)
		a.Dst = panels[first/asm.SplitSide*step:]
		p.ops.Pairs(a)
	}
}

// Times computes dst = src times the panels' first terms rows, or with add adds it to dst, for rows rows.
func (p *SmallParts) Times(dst, src Matrix, rows, terms int, panels Panels, add bool) {
	steps, step := WholeSteps(terms)/asm.SplitSide, p.ops.StepWords()
	a := &p.part.pack
	*a = asm.SplitArgs{Table: p.part.table[:], Src: src.Floats, Zero: p.zero, N: steps, DstStep: step}
	for first := 0; first < rows; first += asm.SplitSide {
		listRows(a.Table, first*src.Stride, rows-first, src.Stride)
		a.Dst = p.left[first/asm.SplitSide*steps*step:]
		p.ops.Rows(a)
	}
	panel := WholeSteps(panels.depth) / asm.SplitSide * step
	p.multiply(dst, rows, steps, words(panels.floats), panel, panels.Width, addFlag(add))
}

// Transposed computes dst = transposed a times b, or with add adds it to dst, for rows rows of dst, terms
// rows of a and b, and width columns.
func (p *SmallParts) Transposed(dst, a, b Matrix, rows, terms int, add bool, c Columns) {
	steps, step := WholeSteps(terms)/asm.SplitSide, p.ops.StepWords()
	o := &p.part.pack
	*o = asm.SplitArgs{Table: p.part.table[:], Zero: p.zero, N: WholeSteps(rows) / asm.SplitSide,
		DstStep: steps * step, Work: p.part.work}
	for i := range steps {
		listRows(o.Table, i*asm.SplitSide*a.Stride, terms-i*asm.SplitSide, a.Stride)
		for half := range 2 {
			o.Src, o.Dst = a.Floats[half*asm.TileSide:], p.left[i*step+half*asm.TileWords:]
			p.ops.Turn(o)
		}
	}
	p.pack(p.right, b, terms, c.Width)
	p.multiply(dst, rows, steps, p.right, steps*step, c.Width, addFlag(add))
}

// multiply multiplies the left operand's tiles by steps steps of panels, which are panel words apart.
func (p *SmallParts) multiply(dst Matrix, rows, steps int, panels []uint32, panel, width, flags int) {
	const batch = splitBatch * asm.SplitSide
	step := p.ops.StepWords()
	for first := 0; first < rows; first += batch {
		n := min(batch, rows-first)
		listRows(p.part.out[:], first*dst.Stride, n, dst.Stride)
		p.part.left = p.left[first/asm.SplitSide*steps*step:]
		for j := range WholeSteps(width) / asm.SplitSide {
			p.part.multiply(p.ops, panels[j*panel:], panel, steps, n, dst.Floats[j*asm.SplitSide:], p.zero,
				flags, &nothing)
		}
	}
}
