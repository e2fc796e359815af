package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// split writes the products of parts on the matrix unit. split_plain.go in the kernel package says what
// they compute.
func split(a *assembler) {
	config := a.StaticGlobal("tiles")
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	a.AppendDatum(U64(1)) // palette 1
	a.AppendDatum(U64(0))
	for i := range 2 * 8 { // bytes of a row of each tile, 16 bits each; the second eight do not exist
		a.AppendDatum(U16(64 * (1 - i/8)))
	}
	for i := range 2 * 8 { // rows
		a.AppendDatum(U8(16 * (1 - i/8)))
	}
	for parts := 1; parts <= 3; parts++ {
		a.splitRows(parts)
		a.splitPairs(parts)
		a.splitTurn(parts)
		a.splitSums(parts, config)
	}
	a.splitStore("splitStoreAVX512", "splitStoreAVX512 is splitStorePlain for more than one part.", false)
	a.splitStore("splitStoreOneAVX512", "splitStoreOneAVX512 is splitStorePlain for one part.", true)
	a.splitAVX2()
	a.splitDot()
}

// tileBytes is the size of a tile, of 16 rows of 16 pairs, and of a row.
const (
	tileBytes   = 1024
	tileRow     = 64
	tilesOfStep = 2
)

// splitter cuts vectors in parts and packs them.
type splitter struct {
	*assembler
	parts      int
	half, high reg.VecVirtual
	// For a single part.
	one, nan, exponent reg.VecVirtual
}

// newSplitter loads the constants.
func (a *assembler) newSplitter(parts int) *splitter {
	s := &splitter{assembler: a, parts: parts, half: a.ZMM(), high: a.ZMM()}
	r := a.GP32()
	load := func(bits uint32, to reg.VecVirtual) {
		a.MOVL(U32(bits), r)
		a.VPBROADCASTD(r, to)
	}
	load(0xffff0000, s.high)
	if parts > 1 {
		load(0x8000, s.half)
		return s
	}
	s.one, s.nan, s.exponent = a.ZMM(), a.ZMM(), a.ZMM()
	load(0x7fff, s.half)
	load(1, s.one)
	load(quietNaN, s.nan)
	load(exponentBits, s.exponent)
	return s
}

// quietNaN is what a NaN becomes in a single part.
const quietNaN = 0x7fc00000

// exponentBits are the bits of a float that are zero if it is zero or denormal.
const exponentBits = 0x7f800000

// nearest returns x rounded to bf16, ties to even, denormals as zeros, with anything in the lower half.
func (s *splitter) nearest(x reg.VecVirtual) reg.VecVirtual {
	odd, isNaN, isNormal := s.ZMM(), s.K(), s.K()
	s.VPTESTMD(s.exponent, x, isNormal)
	s.VMOVDQA32_Z(x, isNormal, x)
	s.VPSRLD(Imm(16), x, odd)
	s.VPANDD(s.one, odd, odd)
	s.VPADDD(s.half, odd, odd)
	s.VPADDD(x, odd, odd)
	s.VCMPPS(Imm(unordered), x, x, isNaN)
	s.VMOVDQA32(s.nan, isNaN, odd)
	return odd
}

// cut returns the parts of x, of which all but the last have no bits in the lower half. The lower half of
// a single one or of the last of two is to be left out; the last of three has none.
func (s *splitter) cut(x reg.VecVirtual) (list []reg.VecVirtual) {
	if s.parts == 1 {
		return []reg.VecVirtual{s.nearest(x)}
	}
	for range s.parts - 1 {
		top, rest := s.ZMM(), s.ZMM()
		s.VPADDD(s.half, x, top)
		s.VPANDD(s.high, top, top)
		s.VSUBPS(top, x, rest)
		list, x = append(list, top), rest
	}
	if s.parts == 2 {
		s.VPADDD(s.half, x, x)
	}
	return append(list, x)
}

// put stores the pairs of two vectors' parts, a tile's parts lying step bytes apart.
func (s *splitter) put(x, y reg.VecVirtual, dst Mem) {
	low, high := s.cut(x), s.cut(y)
	for i := range low {
		s.VPSRLD(Imm(16), low[i], low[i])
		s.VPTERNLOGD(Imm(0xF8), s.high, high[i], low[i]) // low | high & s.high
		s.VMOVDQU32(low[i], dst.Offset(i*tilesOfStep*tileBytes))
	}
}

// rowAddress returns where row i of the table lies, or the zeros.
func (a *assembler) rowAddress(args gotypes.Component, table reg.Register, i Mem, src, row reg.Register) {
	a.MOVLQSX(i, row)
	a.TESTQ(row, row)
	a.LEAQ(Mem{Base: src, Index: row, Scale: 4}, row)
	a.CMOVQLT(a.address(args, "Zero"), row)
}

// splitRows writes the copy of rows to tiles.
func (a *assembler) splitRows(parts int) {
	a.splitCopy("splitRows", parts, 32, 1, func(s *splitter, from []reg.GPVirtual, out Mem) {
		x, y := a.ZMM(), a.ZMM()
		a.VMOVUPS(Mem{Base: from[0]}, x)
		a.VMOVUPS(Mem{Base: from[0], Disp: 64}, y)
		s.put(x, y, out)
	})
}

// splitPairs writes the copy of pairs of rows to tiles.
func (a *assembler) splitPairs(parts int) {
	a.splitCopy("splitPairs", parts, 16, 2, func(s *splitter, from []reg.GPVirtual, out Mem) {
		for half := range 2 {
			x, y := a.ZMM(), a.ZMM()
			a.VMOVUPS(Mem{Base: from[0], Disp: 64 * half}, x)
			a.VMOVUPS(Mem{Base: from[1], Disp: 64 * half}, y)
			s.put(x, y, out.Offset(half*tileBytes))
		}
	})
}

// splitCopy writes a copy that takes each of so many rows of a tile from one row of src, or from two that are
// 16 apart in the table. copy moves 32 columns.
func (a *assembler) splitCopy(family string, parts, rows, sources int,
	copy func(s *splitter, from []reg.GPVirtual, out Mem)) {
	name := fmt.Sprintf("%sAVX512_%d", family, parts)
	args := a.function(name, "SplitArgs", fmt.Sprintf("%s is %sPlain.", name, family))
	s := a.newSplitter(parts)
	table, src, dst := a.field(args, "Table"), a.field(args, "Src"), a.field(args, "Dst")
	step := a.Load(args.Field("DstStep"), a.GP64())
	a.SHLQ(Imm(2), step)
	from := make([]reg.GPVirtual, sources)
	for j := range from {
		from[j] = a.GP64()
	}
	out, left, i := a.GP64(), a.GP64(), a.GP64()
	a.XORQ(i, i)
	a.Label("row")
	for j := range from {
		a.rowAddress(args, table, Mem{Base: table, Index: i, Scale: 4, Disp: 64 * j}, src, from[j])
	}
	a.Load(args.Field("N"), left)
	a.MOVQ(dst, out)
	a.Label("columns")
	copy(s, from, Mem{Base: out})
	for j := range from {
		a.ADDQ(Imm(128), from[j])
	}
	a.ADDQ(step, out)
	a.DECQ(left)
	a.JNZ(LabelRef("columns"))
	a.ADDQ(Imm(tileRow), dst)
	a.INCQ(i)
	a.CMPQ(i, Imm(uint64(rows)))
	a.JLT(LabelRef("row"))
	a.VZEROUPPER()
	a.RET()
}

// splitTurn writes the transposing copy of rows to tiles: 16 by 16 floats of each half are transposed and
// left in the work floats, where the parts are taken from.
func (a *assembler) splitTurn(parts int) {
	name := fmt.Sprintf("splitTurnAVX512_%d", parts)
	args := a.function(name, "SplitArgs", name+" is splitTurnPlain.")
	table, src, dst := a.field(args, "Table"), a.field(args, "Src"), a.field(args, "Dst")
	step := a.Load(args.Field("DstStep"), a.GP64())
	a.SHLQ(Imm(2), step)
	left, at := a.Load(args.Field("N"), a.GP64()), a.GP64()
	a.XORQ(at, at)
	a.Label("tile")
	half, from := a.GP64(), a.field(args, "Work")
	a.MOVQ(table, half)
	for h := range 2 {
		rows := make([]reg.VecVirtual, 16)
		for i := range rows {
			row := a.GP64()
			a.rowAddress(args, table, Mem{Base: half, Disp: 64*h + 4*i}, src, row)
			rows[i] = a.ZMM()
			a.VMOVUPS(Mem{Base: row, Index: at, Scale: 1}, rows[i])
		}
		for i, column := range a.transpose16(rows) {
			a.VMOVUPS(column, Mem{Base: from, Disp: h*tileBytes + i*tileRow})
		}
	}
	s := a.newSplitter(parts)
	for i := range 16 {
		x, y := a.ZMM(), a.ZMM()
		a.VMOVUPS(Mem{Base: from, Disp: i * tileRow}, x)
		a.VMOVUPS(Mem{Base: from, Disp: tileBytes + i*tileRow}, y)
		s.put(x, y, Mem{Base: dst, Disp: i * tileRow})
	}
	a.ADDQ(Imm(128), at)
	a.ADDQ(step, dst)
	a.DECQ(left)
	a.JNZ(LabelRef("tile"))
	a.VZEROUPPER()
	a.RET()
}

// transpose16 returns the columns of a 16x16 square given by rows. Only one register more than rows is in
// use at a time: each step replaces two vectors by their interleaving.
func (a *assembler) transpose16(rows []reg.VecVirtual) []reg.VecVirtual {
	r := append([]reg.VecVirtual(nil), rows...)
	swap := func(i, j int, low, high func(x, y, z reg.VecVirtual)) {
		x, y := a.ZMM(), a.ZMM()
		low(r[i], r[j], x)
		high(r[i], r[j], y)
		r[i], r[j] = x, y
	}
	for i := 0; i < 16; i += 2 { // pairs of rows: floats
		swap(i, i+1, func(x, y, z reg.VecVirtual) { a.VUNPCKLPS(y, x, z) },
			func(x, y, z reg.VecVirtual) { a.VUNPCKHPS(y, x, z) })
	}
	for i := 0; i < 16; i += 4 { // fours of rows: pairs of floats
		for j := range 2 {
			swap(i+j, i+j+2, func(x, y, z reg.VecVirtual) { a.VUNPCKLPD(y, x, z) },
				func(x, y, z reg.VecVirtual) { a.VUNPCKHPD(y, x, z) })
		}
	}
	// Now r[4g+...] holds, in lane l of four floats, rows 4g..4g+3 of column 4l+c, where c follows from
	// the place: 0, 2, 1, 3.
	for g := 0; g < 16; g += 8 { // eights of rows: lanes of fours
		for j := range 4 {
			swap(g+j, g+j+4, func(x, y, z reg.VecVirtual) { a.VSHUFF32X4(Imm(0x88), y, x, z) },
				func(x, y, z reg.VecVirtual) { a.VSHUFF32X4(Imm(0xDD), y, x, z) })
		}
	}
	for j := range 8 {
		swap(j, j+8, func(x, y, z reg.VecVirtual) { a.VSHUFF32X4(Imm(0x88), y, x, z) },
			func(x, y, z reg.VecVirtual) { a.VSHUFF32X4(Imm(0xDD), y, x, z) })
	}
	// After VSHUFF32X4 with 0x88 lanes 0 and 2 are left, with 0xDD lanes 1 and 3, twice: r[j] of the
	// first half of places holds lane 0, r[j+4] lane 1, r[j+8] lane 2, r[j+12] lane 3.
	columns := make([]reg.VecVirtual, 16)
	order := [4]int{0, 2, 1, 3}
	for place := range 4 {
		for lane := range 4 {
			columns[4*lane+order[place]] = r[place+4*lane]
		}
	}
	return columns
}

// The matrix unit's instructions are unknown to the assembler and written as bytes. Their tiles and
// registers are fixed: bases AX and DI, strides CX and DX.

// bytes writes an instruction that reads the given registers.
func (a *assembler) bytes(list ...byte) {
	for _, b := range list {
		a.Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(b)}})
	}
}

// Codes of the registers that hold addresses and strides of tiles.
const (
	codeAX, codeCX, codeDX, codeDI, codeSI = 0, 1, 2, 7, 6
)

// tileMemory writes TILELOADD (prefix 3) or TILESTORED (prefix 2) of tile t at base+disp.
func (a *assembler) tileMemory(prefix byte, t, base, stride, disp int) {
	d := uint32(disp)
	a.bytes(0xC4, 0xE2, 0x78|prefix, 0x4B, 0x84|byte(t<<3), byte(stride<<3|base),
		byte(d), byte(d>>8), byte(d>>16), byte(d>>24))
}

func (a *assembler) tileLoad(t, base, stride, disp int)  { a.tileMemory(3, t, base, stride, disp) }
func (a *assembler) tileStore(t, base, stride, disp int) { a.tileMemory(2, t, base, stride, disp) }

// tileZero writes TILEZERO.
func (a *assembler) tileZero(t int) { a.bytes(0xC4, 0xE2, 0x7B, 0x49, 0xC0|byte(t<<3)) }

// tileMultiply writes TDPBF16PS: tile sum += tile x times tile y.
func (a *assembler) tileMultiply(sum, x, y int) {
	a.bytes(0xC4, 0xE2, byte(15-y)<<3|2, 0x5C, 0xC0|byte(sum<<3|x))
}

// splitProducts lists the products of parts, so ordered that each shares an operand with the one before.
func splitProducts(parts int) [][2]int {
	switch parts {
	case 1:
		return [][2]int{{0, 0}}
	case 2:
		return [][2]int{{0, 1}, {0, 0}, {1, 0}}
	}
	return [][2]int{{2, 0}, {0, 0}, {0, 2}, {0, 1}, {1, 1}, {1, 0}}
}

// splitSums writes the product of tiles: sums are tiles 0 to 3, operands 4 to 7.
func (a *assembler) splitSums(parts int, config Mem) {
	name := fmt.Sprintf("splitSumsAMX_%d", parts)
	args := a.function(name, "SplitTileArgs", name+" is splitSumsPlain.")
	x, y, sum := reg.RAX, reg.RDI, reg.RSI
	a.Load(args.Field("A").Base(), x)
	a.Load(args.Field("Sums").Base(), sum)
	a.MOVQ(U32(tileRow), reg.RCX)
	a.MOVQ(U32(2*tileRow), reg.RDX)
	a.LEAQ(config, reg.R8)
	a.bytes(0xC4, 0xC2, 0x78, 0x49, 0x00) // LDTILECFG (R8)
	a.Load(args.Field("Blocks"), reg.R9)
	a.Load(args.Field("Out").Base(), reg.R11)
	a.Load(args.Field("Dst").Base(), reg.R12)
	a.Label("block")
	a.MOVQ(U32(32), reg.R13)
	for t := range 4 {
		a.tileZero(t)
	}
	a.Load(args.Field("B").Base(), y)
	a.Load(args.Field("Steps"), reg.R10)
	a.TESTQ(reg.R10, reg.R10)
	a.JZ(LabelRef("store"))
	a.Label("step")
	was := [2]int{-1, -1}
	for i, product := range splitProducts(parts) {
		for side, part := range product {
			for half := range 2 {
				if part != was[side] {
					a.tileLoad(4+2*side+half, [2]int{codeAX, codeDI}[side], codeCX,
						(part*tilesOfStep+half)*tileBytes)
				}
			}
		}
		was = product
		for t := range 4 {
			a.tileMultiply(t, 4+t/2, 6+t%2)
		}
		a.fetchRows(fmt.Sprintf("fetched%d", i))
	}
	a.ADDQ(U32(uint32(parts*tilesOfStep*tileBytes)), x)
	a.ADDQ(U32(uint32(parts*tilesOfStep*tileBytes)), y)
	a.DECQ(reg.R10)
	a.JNZ(LabelRef("step"))
	a.Label("store")
	for t := range 4 {
		a.tileStore(t, codeSI, codeDX, t/2*2*tileBytes+t%2*tileRow)
	}
	a.SHLQ(Imm(2), reg.R13)
	a.ADDQ(reg.R13, reg.R11) // rows that were not asked for
	a.ADDQ(U32(4*tileBytes), sum)
	a.DECQ(reg.R9)
	a.JNZ(LabelRef("block"))
	a.bytes(0xC4, 0xE2, 0x78, 0x49, 0xC0) // TILERELEASE
	a.RET()
}

// fetchRows asks for the next four rows of the table at R11, unless none of the block's R13 is left.
func (a *assembler) fetchRows(done string) {
	const rows = 4
	a.TESTQ(reg.R13, reg.R13)
	a.JZ(LabelRef(done))
	for i := range rows {
		a.MOVLQSX(Mem{Base: reg.R11, Disp: 4 * i}, reg.R14)
		a.PREFETCHT0(Mem{Base: reg.R12, Index: reg.R14, Scale: 4})
		a.PREFETCHT0(Mem{Base: reg.R12, Index: reg.R14, Scale: 4, Disp: 64})
	}
	a.ADDQ(Imm(4*rows), reg.R11)
	a.SUBQ(Imm(rows), reg.R13)
	a.Label(done)
}

// splitStore writes the copy of sums to their destination, in which denormals may count as zero.
func (a *assembler) splitStore(name, doc string, flushes bool) {
	args := a.function(name, "SplitTileArgs", doc)
	var control Mem
	if flushes {
		control = a.flush()
	}
	out, dst, sum := a.field(args, "Out"), a.field(args, "Dst"), a.field(args, "Sums")
	flags, bias := a.field(args, "Flags"), a.field(args, "Bias")
	b, s := []Op{a.ZMM(), a.ZMM()}, []Op{a.ZMM(), a.ZMM()}
	zero := a.ZMM()
	a.VPXORD(zero, zero, zero)
	for half := range b {
		a.VMOVUPS(Mem{Base: bias, Disp: 64 * half}, b[half])
	}
	left, row := a.field(args, "Rows"), a.GP64()
	a.TESTQ(left, left)
	a.JZ(LabelRef("done"))
	a.Label("row")
	a.MOVLQSX(Mem{Base: out}, row)
	a.LEAQ(Mem{Base: dst, Index: row, Scale: 4}, row)
	for half := range s {
		a.VADDPS(Mem{Base: sum, Disp: 64 * half}, b[half], s[half])
	}
	a.putRow("", flags, row, zero, s, 64)
	a.ADDQ(Imm(4), out)
	a.ADDQ(Imm(128), sum)
	a.DECQ(left)
	a.JNZ(LabelRef("row"))
	a.Label("done")
	if flushes {
		a.LDMXCSR(control)
	}
	a.VZEROUPPER()
	a.RET()
}

// putRow stores vectors of so many bytes as a row of the destination, plus what it holds and without negative
// values, as flags say. The name tells its labels from those of other rows.
func (a *assembler) putRow(name string, flags, row reg.Register, zero Op, list []Op, bytes int) {
	a.TESTQ(U32(tileAdd), flags)
	a.JZ(LabelRef(name + "added"))
	for i, v := range list {
		a.VADDPS(Mem{Base: row, Disp: i * bytes}, v, v)
	}
	a.Label(name + "added")
	a.TESTQ(U32(tileReLU), flags)
	a.JZ(LabelRef(name + "positive"))
	for _, v := range list {
		a.VMAXPS(v, zero, v) // the operand that is returned if it is NaN comes first
	}
	a.Label(name + "positive")
	for i, v := range list {
		a.VMOVUPS(v, Mem{Base: row, Disp: i * bytes})
	}
}
