package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gemm writes the tiles that multiply: convolutions, linear layers and their gradients. tile.go in
// the kernel package says what each computes.
func gemm(a *assembler) {
	mask := a.StaticGlobal("lanes")
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 2 * 8 { // eight ones, then eight zeros: a window of it is a mask
		a.AppendDatum(I32(-int32(1 - i/8)))
	}
	for _, v := range []vector{
		{name: "AVX512", bytes: 64, widths: []int{4, 2, 1}, register: a.zmm},
		{name: "AVX2", bytes: 32, widths: []int{2, 1}, register: a.ymm, mask: mask},
	} {
		for _, width := range v.widths {
			for _, rows := range []int{6, 4, 2, 1} {
				a.tile(v, rows, width)
				a.outer(v, rows, width)
			}
			a.pack(v, width)
		}
	}
	a.turn()
	a.strip(mask)
}

// tileRows is the number of rows in a tile's table, whatever the height of the tile.
const tileRows = 6

// flags of TileArgs and OuterArgs
const (
	tileAdd  = 1
	tileReLU = 2
)

// vector is an instruction set's vector.
type vector struct {
	name     string
	bytes    int
	widths   []int // of tiles, in vectors
	register func() reg.VecVirtual
	mask     Mem // table of masks, where there are no mask registers
}

func (v vector) wide() bool { return v.bytes == 64 }

func (a *assembler) zmm() reg.VecVirtual { return a.ZMM() }
func (a *assembler) ymm() reg.VecVirtual { return a.YMM() }

// field loads a field of the arguments into a new register; the base of a slice.
func (a *assembler) field(args gotypes.Component, name string) reg.Register {
	return a.Load(a.part(args, name), a.GP64())
}

// part returns a field of the arguments; the base of a slice.
func (a *assembler) part(args gotypes.Component, name string) gotypes.Component {
	switch c := args.Field(name); name {
	case "Taps", "Depth", "TapStride", "Tail", "Flags", "BStride", "Stride", "Rows", "Width",
		"AheadStride", "AheadMask", "FetchStride", "NextStride", "DstAhead", "QuarterStride", "SumStride",
		"RowStride":
		return c
	default:
		return c.Base()
	}
}

// address returns where a field of the arguments lies.
func (a *assembler) address(args gotypes.Component, name string) Mem {
	b, err := a.part(args, name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// sums are the accumulators of a tile, by row and vector.
type sums [][]reg.VecVirtual

// newSums returns rows x width registers.
func newSums(v vector, rows, width int) sums {
	s := make(sums, rows)
	for i := range s {
		for range width {
			s[i] = append(s[i], v.register())
		}
	}
	return s
}

// clear sets the sums to zero.
func (a *assembler) clear(v vector, s sums) {
	for _, row := range s {
		for _, r := range row {
			if v.wide() {
				a.VPXORD(r, r, r)
			} else {
				a.VXORPS(r, r, r)
			}
		}
	}
}

// prefetch fetches the cache lines of a row of a tile.
func (a *assembler) prefetch(v vector, width int, row Mem) {
	for at := 0; at < v.bytes*width; at += 64 {
		a.PREFETCHT0(row.Offset(at))
	}
}

// multiply adds the products of one channel: the row of the panel at b with one float per row of the
// tile, whose place x gives.
func (a *assembler) multiply(v vector, s sums, b Mem, x func(row int) Mem) {
	panel := make([]reg.VecVirtual, len(s[0]))
	for j := range panel {
		panel[j] = v.register()
		a.VMOVUPS(b.Offset(j*v.bytes), panel[j])
	}
	for i, row := range s {
		if v.wide() && len(panel) == 1 {
			a.VFMADD231PS_BCST(x(i), panel[0], row[0])
			continue
		}
		value := v.register()
		a.VBROADCASTSS(x(i), value)
		for j, r := range row {
			a.VFMADD231PS(panel[j], value, r)
		}
	}
}

// tile writes an indirect product.
func (a *assembler) tile(v vector, rows, width int) {
	name := fmt.Sprintf("tile%s_%dx%d", v.name, rows, width*v.bytes/4)
	a.serve(name, fmt.Sprintf("Tile[%d][%d]", rows, width), v.name)
	args := a.function(name, "TileArgs", name+" is tilePlain for a tile of this size.")
	s := newSums(v, rows, width)
	table := a.field(args, "Table")
	a.startSums(v, s, args)

	taps := a.field(args, "Taps")
	a.TESTQ(taps, taps)
	a.JZ(LabelRef("finish"))
	a.ADDQ(Imm(4*tileRows), table)
	ahead := a.field(args, "Ahead")
	a.Label("tap")
	a.tapSums(v, s, table, ahead, args)
	a.ADDQ(Imm(4*(tileRows+1)), table)
	a.DECQ(taps)
	a.JNZ(LabelRef("tap"))

	a.Label("finish")
	out := a.field(args, "Table")
	offset := a.GP64()
	a.finish(v, s, args, func(i int, dst reg.Register) Mem {
		a.MOVLQSX(Mem{Base: out, Disp: 4 * i}, offset)
		return Mem{Base: dst, Index: offset, Scale: 4}
	})
}

// startSums sets each row of sums to the bias.
func (a *assembler) startSums(v vector, s sums, args gotypes.Component) {
	bias := a.field(args, "Bias")
	for j := range s[0] {
		a.VMOVUPS(Mem{Base: bias, Disp: j * v.bytes}, s[0][j])
		for i := 1; i < len(s); i++ {
			a.VMOVAPS(s[0][j], s[i][j])
		}
	}
}

// tapSums adds the products of one tap.
func (a *assembler) tapSums(v vector, s sums, table, ahead reg.Register, args gotypes.Component) {
	panel := a.GP64()
	a.MOVLQSX(Mem{Base: table}, panel)
	a.IMULQ(a.address(args, "TapStride"), panel)
	a.SHLQ(Imm(2), panel)
	a.ADDQ(a.address(args, "Weights"), panel)

	src := a.field(args, "Src")
	from := make([]reg.GPVirtual, len(s))
	for i := range from {
		from[i] = a.GP64()
		a.MOVLQSX(Mem{Base: table, Disp: 4 * (i + 1)}, from[i])
		a.TESTQ(from[i], from[i])
		a.LEAQ(Mem{Base: src, Index: from[i], Scale: 4}, from[i])
		a.CMOVQLT(a.address(args, "Zero"), from[i])
	}

	const unroll = 4
	row := len(s[0]) * v.bytes
	at, left := a.GP64(), a.field(args, "Depth")
	a.XORQ(at, at)
	fetch := a.field(args, "Fetch")
	step := func(u int) {
		a.multiply(v, s, Mem{Base: panel, Disp: u * row}, func(i int) Mem {
			return Mem{Base: from[i], Index: at, Scale: 1, Disp: 4 * u}
		})
	}
	a.SUBQ(Imm(unroll), left)
	a.JLT(LabelRef("rest"))
	a.Label("channels")
	for u := range unroll {
		a.PREFETCHT0(Mem{Base: panel, Disp: (u + 2*unroll) * row})
		step(u)
	}
	a.PREFETCHT0(Mem{Base: fetch})
	a.PREFETCHT0(Mem{Base: fetch, Disp: 64})
	a.ADDQ(Imm(4*unroll*tileRows), fetch)
	a.ADDQ(I32(int32(unroll*row)), panel)
	a.TESTQ(at, a.address(args, "AheadMask"))
	a.JNZ(LabelRef("fetched"))
	a.prefetch(v, len(s[0]), Mem{Base: ahead})
	a.ADDQ(a.address(args, "AheadStride"), ahead)
	a.Label("fetched")
	a.ADDQ(Imm(4*unroll), at)
	a.SUBQ(Imm(unroll), left)
	a.JGE(LabelRef("channels"))
	a.Label("rest")
	a.ADDQ(Imm(unroll), left)
	a.JZ(LabelRef("tapped"))
	a.Label("channel")
	step(0)
	a.ADDQ(I32(int32(row)), panel)
	a.ADDQ(Imm(4), at)
	a.DECQ(left)
	a.JNZ(LabelRef("channel"))
	a.Label("tapped")
}

// outer writes a sum of outer products.
func (a *assembler) outer(v vector, rows, width int) {
	name := fmt.Sprintf("outer%s_%dx%d", v.name, rows, width*v.bytes/4)
	a.serve(name, fmt.Sprintf("Outer[%d][%d]", rows, width), v.name)
	args := a.function(name, "OuterArgs", name+" is outerPlain for a tile of this size.")
	s := newSums(v, rows, width)
	a.clear(v, s)
	stride := a.field(args, "Stride")
	a.SHLQ(Imm(2), stride)
	next := a.field(args, "Dst")
	for i := range rows {
		a.prefetch(v, width, Mem{Base: next})
		if i < rows-1 {
			a.ADDQ(stride, next)
		}
	}
	left := a.Load(args.Field("Pairs").Len(), a.GP64())
	a.TESTQ(left, left)
	a.JZ(LabelRef("finish"))
	pairs, x, b := a.field(args, "Pairs"), a.field(args, "A"), a.field(args, "B")
	bStride := a.field(args, "BStride")
	a.SHLQ(Imm(2), bStride)
	fromA, fromB, fetch := a.GP64(), a.GP64(), a.field(args, "Fetch")
	a.Label("pixel")
	a.PREFETCHT1(Mem{Base: fetch})
	a.ADDQ(a.address(args, "FetchStride"), fetch)
	a.MOVLQSX(Mem{Base: pairs}, fromA)
	a.MOVLQSX(Mem{Base: pairs, Disp: 4}, fromB)
	a.IMULQ(bStride, fromB)
	a.multiply(v, s, Mem{Base: b, Index: fromB, Scale: 1}, func(i int) Mem {
		return Mem{Base: x, Index: fromA, Scale: 4, Disp: 4 * i}
	})
	a.ADDQ(Imm(8), pairs)
	a.SUBQ(Imm(2), left)
	a.JNZ(LabelRef("pixel"))

	a.Label("finish")
	a.finish(v, s, args, func(i int, dst reg.Register) Mem {
		if i > 0 {
			a.ADDQ(stride, dst)
		}
		return Mem{Base: dst}
	})
}

// finish adds what the destination holds, applies the ReLU, both if asked to, and stores the sums.
// place gives the place of a row; it is called for the rows in order.
func (a *assembler) finish(v vector, s sums, args gotypes.Component,
	place func(row int, dst reg.Register) Mem) {
	m := a.tailMask(v, args)
	flags := a.field(args, "Flags")
	a.TESTQ(U32(tileAdd), flags)
	a.JZ(LabelRef("added"))
	dst := a.field(args, "Dst")
	for i, row := range s {
		at := place(i, dst)
		for j, r := range row {
			if at := at.Offset(j * v.bytes); j == len(row)-1 {
				a.addTail(v, m, at, r)
			} else {
				a.VADDPS(at, r, r)
			}
		}
	}
	a.Label("added")
	a.TESTQ(U32(tileReLU), flags)
	a.JZ(LabelRef("store"))
	zero := v.register()
	a.clear(v, sums{{zero}})
	for _, row := range s {
		for _, r := range row {
			a.VMAXPS(r, zero, r) // the operand that is returned if it is NaN comes first
		}
	}
	a.Label("store")
	if !v.wide() {
		a.CMPQ(a.address(args, "Tail"), Imm(uint64(v.bytes/4)))
		a.JNE(LabelRef("tail"))
		a.storeSums(v, s, args, place, func(r reg.VecVirtual, at Mem) { a.VMOVUPS(r, at) })
		a.Label("tail")
	}
	a.storeSums(v, s, args, place, func(r reg.VecVirtual, at Mem) { a.storeTail(v, m, r, at) })
}

// storeSums stores the sums, the last vector of a row by store, and returns. A whole vector is not stored by a
// mask: masked stores of AVX2 are slow on processors of AMD (results/kernels/passes-avx2.md).
func (a *assembler) storeSums(v vector, s sums, args gotypes.Component,
	place func(row int, dst reg.Register) Mem, store func(reg.VecVirtual, Mem)) {
	dst := a.field(args, "Dst")
	for i, row := range s {
		at := place(i, dst)
		last := len(row) - 1
		for j, r := range row[:last] {
			a.VMOVUPS(r, at.Offset(j*v.bytes))
		}
		store(row[last], at.Offset(last*v.bytes))
	}
	a.VZEROUPPER()
	a.RET()
}

// tailMask returns the mask of the last vector: a mask register or a vector.
func (a *assembler) tailMask(v vector, args gotypes.Component) reg.Register {
	tail := a.field(args, "Tail")
	if v.wide() {
		ones, m := a.GP32(), a.K()
		a.MOVL(U32(0xffffffff), ones)
		a.BZHIL(tail.(reg.GPVirtual).As32(), ones, ones)
		a.KMOVW(ones, m)
		return m
	}
	table, m := a.GP64(), v.register()
	a.LEAQ(v.mask, table)
	a.NEGQ(tail)
	a.VMOVUPS(Mem{Base: table, Index: tail, Scale: 4, Disp: 4 * 8}, m)
	return m
}

// addTail adds the last vector of a row in memory to r.
func (a *assembler) addTail(v vector, m reg.Register, at Mem, r reg.VecVirtual) {
	if v.wide() {
		a.VADDPS(at, r, m, r)
		return
	}
	old := v.register()
	a.VMASKMOVPS(at, m, old)
	a.VADDPS(old, r, r)
}

// loadTail loads the last vector of a row with zeros beyond the tail.
func (a *assembler) loadTail(v vector, m reg.Register, at Mem, r reg.VecVirtual) {
	if v.wide() {
		a.VMOVUPS_Z(at, m, r)
	} else {
		a.VMASKMOVPS(at, m, r)
	}
}

// storeTail stores the last vector of a row.
func (a *assembler) storeTail(v vector, m reg.Register, r reg.VecVirtual, at Mem) {
	if v.wide() {
		a.VMOVUPS(r, m, at)
	} else {
		a.VMASKMOVPS(r, m, at)
	}
}

// pack writes the copy of a panel.
func (a *assembler) pack(v vector, width int) {
	name := fmt.Sprintf("pack%s_%d", v.name, width*v.bytes/4)
	a.serve(name, fmt.Sprintf("Pack[%d]", width), v.name)
	args := a.function(name, "PackArgs", name+" is packPlain for a panel of this width.")
	m := a.tailMask(v, args)
	left, stride := a.field(args, "Rows"), a.field(args, "Stride")
	dst, src := a.field(args, "Dst"), a.field(args, "Src")
	a.SHLQ(Imm(2), stride)
	a.Label("row")
	for j := range width {
		r := v.register()
		if at := (Mem{Base: src, Disp: j * v.bytes}); j == width-1 {
			a.loadTail(v, m, at, r)
		} else {
			a.VMOVUPS(at, r)
		}
		a.VMOVUPS(r, Mem{Base: dst, Disp: j * v.bytes})
	}
	a.ADDQ(stride, src)
	a.ADDQ(I32(int32(width*v.bytes)), dst)
	a.DECQ(left)
	a.JNZ(LabelRef("row"))
	a.VZEROUPPER()
	a.RET()
}

// turn writes the transposing copy of a panel, 8x8 floats at a time.
func (a *assembler) turn() {
	a.serve("turnAVX2", "Turn", "AVX2", "AVX512")
	args := a.function("turnAVX2", "TurnArgs", "turnAVX2 is turnPlain.")
	dst, src := newStrided(a, args, "Dst", "Width"), newStrided(a, args, "Src", "Stride")
	columns := a.Load(args.Field("Columns"), a.GP64())
	from, to, left := a.GP64(), a.GP64(), a.GP64()
	a.Label("columns")
	a.MOVQ(src.base, from)
	a.MOVQ(dst.base, to)
	a.Load(args.Field("Rows"), left)
	a.Label("square")
	rows := src.from(a, from)
	for _, row := range rows { // far apart, the next lines are found by no prefetcher
		a.PREFETCHT1(row.Offset(64))
	}
	a.turnSquare(dst.from(a, to), rows, func(x reg.VecVirtual, to Mem) { a.VMOVUPS(x, to) })
	a.ADDQ(Imm(4*8), from)
	a.LEAQ(Mem{Base: to, Index: dst.step, Scale: 8}, to)
	a.SUBQ(Imm(8), left)
	a.JNZ(LabelRef("square"))
	a.LEAQ(Mem{Base: src.base, Index: src.step, Scale: 8}, src.base)
	a.ADDQ(Imm(4*8), dst.base)
	a.SUBQ(Imm(8), columns)
	a.JNZ(LabelRef("columns"))
	a.VZEROUPPER()
	a.RET()
}

// strided addresses rows of floats that lie step bytes apart.
type strided struct{ base, step, triple reg.Register }

// newStrided loads the slice and the distance of its rows.
func newStrided(a *assembler, args gotypes.Component, slice, step string) strided {
	s := strided{a.field(args, slice), a.field(args, step), a.GP64()}
	a.SHLQ(Imm(2), s.step)
	a.LEAQ(Mem{Base: s.step, Index: s.step, Scale: 2}, s.triple)
	return s
}

// from returns where the eight rows from base on lie.
func (s strided) from(a *assembler, base reg.Register) [8]Mem {
	fifth := a.GP64()
	a.LEAQ(Mem{Base: base, Index: s.step, Scale: 4}, fifth)
	var rows [8]Mem
	for i := range 4 {
		for half, b := range []reg.Register{base, fifth} {
			rows[4*half+i] = []Mem{{Base: b}, {Base: b, Index: s.step, Scale: 1},
				{Base: b, Index: s.step, Scale: 2}, {Base: b, Index: s.triple, Scale: 1}}[i]
		}
	}
	return rows
}

// turnSquare copies the columns of the 8x8 square src to the rows of dst, four at a time, by store: of these
// the rows i and i+4 are loaded into the halves of a vector, pairs are interleaved within the halves, then
// pairs of pairs.
func (a *assembler) turnSquare(dst, src [8]Mem, store func(reg.VecVirtual, Mem)) {
	for half := range 2 {
		var rows, pairs, fours [4]reg.VecVirtual
		for i := range 4 {
			rows[i], pairs[i], fours[i] = a.YMM(), a.YMM(), a.YMM()
			a.VBROADCASTF128(src[i].Offset(16*half), rows[i]) // the lower half, of which only this counts
			a.VINSERTF128(Imm(1), src[4+i].Offset(16*half), rows[i], rows[i])
		}
		for i := range 2 {
			a.VUNPCKLPS(rows[2*i+1], rows[2*i], pairs[2*i])
			a.VUNPCKHPS(rows[2*i+1], rows[2*i], pairs[2*i+1])
		}
		for i := range 2 {
			a.VSHUFPS(Imm(0x44), pairs[2+i], pairs[i], fours[2*i])
			a.VSHUFPS(Imm(0xEE), pairs[2+i], pairs[i], fours[2*i+1])
		}
		for i := range 4 {
			store(fours[i], dst[4*half+i])
		}
	}
}

// strip writes the gathering copy of a tile's rows. Vectors are stored whole: what one has too much, the
// next overwrites.
func (a *assembler) strip(mask Mem) {
	a.serve("stripAVX2", "Strip", "AVX2", "AVX512")
	args := a.function("stripAVX2", "StripArgs", "stripAVX2 is stripPlain.")
	rows := a.field(args, "Rows")
	table, m := a.GP64(), a.YMM()
	a.LEAQ(mask, table)
	a.NEGQ(rows)
	a.VMOVUPS(Mem{Base: table, Index: rows, Scale: 4, Disp: 4 * 8}, m)
	a.NEGQ(rows)
	left := a.Load(args.Field("Pairs").Len(), a.GP64())
	pairs, src, dst := a.field(args, "Pairs"), a.field(args, "Src"), a.field(args, "Dst")
	from, r := a.GP64(), a.YMM()
	a.Label("row")
	a.MOVLQSX(Mem{Base: pairs}, from)
	a.VMASKMOVPS(Mem{Base: src, Index: from, Scale: 4}, m, r)
	a.VMOVUPS(r, Mem{Base: dst})
	a.LEAQ(Mem{Base: dst, Index: rows, Scale: 4}, dst)
	a.ADDQ(Imm(8), pairs)
	a.SUBQ(Imm(2), left)
	a.JNZ(LabelRef("row"))
	a.VZEROUPPER()
	a.RET()
}
