package main

import (
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// splitAVX2 writes the products of one part by multiply-adds of float32. A step's tiles hold floats rounded
// to bf16 in two planes, the first of the pairs and the second: [plane][half][16][16]. Sums are taken in the
// matrix unit's order, so their bits are the same.
func (a *assembler) splitAVX2() {
	a.roundCopy("splitRowsAVX2", "splitRowsAVX2 is splitRowsPlain for one part, in planes.", false)
	a.roundCopy("splitPairsAVX2", "splitPairsAVX2 is splitPairsPlain for one part, in planes.", true)
	a.roundTurn()
	a.roundBlock(vector{name: "AVX2", bytes: 32, register: a.ymm}, 3)
	a.roundBlock(vector{name: "AVX512", bytes: 64, register: a.zmm}, 6)
	a.splitStoreNarrow()
}

// planeBytes is the distance of the two planes.
const planeBytes = 2 * tileBytes

// rounder rounds vectors to bf16.
type rounder struct {
	*assembler
	half, high, one, nan, exponent, zero reg.VecVirtual
}

// newRounder loads the constants.
func (a *assembler) newRounder() *rounder {
	r := &rounder{a, a.YMM(), a.YMM(), a.YMM(), a.YMM(), a.YMM(), a.YMM()}
	bits := a.GP32()
	for i, v := range []reg.VecVirtual{r.half, r.high, r.one, r.nan, r.exponent, r.zero} {
		a.MOVL(U32([]uint32{0x7fff, 0xffff0000, 1, quietNaN, exponentBits, 0}[i]), bits)
		a.VMOVD(bits, v.AsX())
		a.VPBROADCASTD(v.AsX(), v)
	}
	return r
}

// round stores x rounded to bf16, ties to even, denormals as zeros, as floats. It changes x.
func (r *rounder) round(x reg.VecVirtual, dst Mem) {
	y, isNaN := r.YMM(), r.YMM()
	r.VPAND(r.exponent, x, y)
	r.VPCMPEQD(r.zero, y, y)
	r.VPANDN(x, y, x)
	r.VPSRLD(Imm(16), x, y)
	r.VPAND(r.one, y, y)
	r.VPADDD(r.half, y, y)
	r.VPADDD(x, y, y)
	r.VPAND(r.high, y, y)
	r.VCMPPS(Imm(unordered), x, x, isNaN)
	r.VBLENDVPS(isNaN, r.nan, y, y)
	r.VMOVUPS(y, dst)
}

// roundCopy writes the copy of 32 rows of 32 columns each. Columns are cut between the planes, or for pairs
// rows are and columns between the halves.
func (a *assembler) roundCopy(name, doc string, isPairs bool) {
	args := a.function(name, "SplitArgs", doc)
	r := a.newRounder()
	table, src, dst := a.field(args, "Table"), a.field(args, "Src"), a.field(args, "Dst")
	step := a.Load(args.Field("DstStep"), a.GP64())
	a.SHLQ(Imm(2), step)
	from, out, left, i := a.GP64(), a.GP64(), a.GP64(), a.GP64()
	a.XORQ(i, i)
	a.Label("row")
	a.rowAddress(args, table, Mem{Base: table, Index: i, Scale: 4}, src, from)
	a.Load(args.Field("N"), left)
	a.MOVQ(dst, out)
	second := planeBytes
	if isPairs {
		second = tileBytes
	}
	a.Label("columns")
	for j := range 4 {
		x := a.YMM()
		a.VMOVUPS(Mem{Base: from, Disp: 32 * j}, x)
		r.round(x, Mem{Base: out, Disp: j/2*second + j%2*32})
	}
	a.ADDQ(Imm(128), from)
	a.ADDQ(step, out)
	a.DECQ(left)
	a.JNZ(LabelRef("columns"))
	a.ADDQ(Imm(tileRow), dst)
	a.INCQ(i)
	if isPairs {
		a.CMPQ(i, Imm(16))
		a.JNE(LabelRef("plane"))
		a.ADDQ(U32(planeBytes-tileBytes), dst)
		a.Label("plane")
	}
	a.CMPQ(i, Imm(32))
	a.JLT(LabelRef("row"))
	a.VZEROUPPER()
	a.RET()
}

// roundTurn writes the transposing copy of rows, eight rows at a time.
func (a *assembler) roundTurn() {
	const name = "splitTurnAVX2"
	args := a.function(name, "SplitArgs", name+" is splitTurnPlain for one part, in planes.")
	r := a.newRounder()
	for eight := range 4 {
		a.turnEight(args, r, eight, []string{"first", "second", "third", "fourth"}[eight])
	}
	a.VZEROUPPER()
	a.RET()
}

// turnEight copies the columns of rows 8 eight to 8 eight + 7.
func (a *assembler) turnEight(args gotypes.Component, r *rounder, eight int, label string) {
	table, src := a.field(args, "Table"), a.field(args, "Src")
	var rows [8]reg.GPVirtual
	for i := range rows {
		rows[i] = a.GP64()
		a.rowAddress(args, table, Mem{Base: table, Disp: 32*eight + 4*i}, src, rows[i])
	}
	out, at := a.field(args, "Dst"), a.GP64()
	left := a.Load(args.Field("N"), a.GP64())
	step := a.Load(args.Field("DstStep"), a.GP64())
	a.XORQ(at, at)
	a.Label(label)
	for eights := range 2 {
		var from, to [8]Mem
		for i := range 8 {
			from[i] = Mem{Base: rows[i], Index: at, Scale: 1, Disp: 32 * eights}
			to[i] = Mem{Base: out, Disp: eight/2*planeBytes + eight%2*32 + (8*eights+i)*tileRow}
		}
		a.turnSquare(to, from, r.round)
	}
	a.ADDQ(Imm(128), at)
	a.LEAQ(Mem{Base: out, Index: step, Scale: 4}, out)
	a.DECQ(left)
	a.JNZ(LabelRef(label))
}

// flushing is the control word that rounds to nearest and takes denormals for zeros, as the matrix unit does.
const flushing = 0x9fc0

// flush sets that control word and returns where the former one is.
func (a *assembler) flush() Mem {
	control := a.AllocLocal(8)
	a.STMXCSR(control)
	word := a.GP32()
	a.MOVL(U32(flushing), word)
	a.MOVL(word, control.Offset(4))
	a.LDMXCSR(control.Offset(4))
	return control
}

// roundBlock writes the sums of one block of 32x32, some rows by two vectors of columns at a time, where each
// has a sum of the first plane's products and one of the second's: twelve vectors of 256 bits, 24 of 512.
func (a *assembler) roundBlock(v vector, rows int) {
	name := "splitBlock" + v.name
	args := a.function(name, "SplitTileArgs",
		name+" adds a block of splitSumsPlain for one part, in planes, to its sums.")
	control := a.flush()
	a.askFor(args)
	x, y := a.Load(args.Field("A").Base(), a.GP64()), a.Load(args.Field("B").Base(), a.GP64())
	steps := a.Load(args.Field("Steps"), a.GP64())
	a.TESTQ(steps, steps)
	a.JZ(LabelRef("done"))
	a.Label("step")
	sums, passes := a.Load(args.Field("Sums").Base(), a.GP64()), a.GP64()
	columns := 2 * v.bytes / 4
	a.MOVQ(U32(uint32(32/columns)), passes)
	a.Label("columns")
	left, whole := a.GP64(), 32/rows
	a.MOVQ(U32(uint32(whole)), left)
	a.Label("rows")
	a.roundRows(v, x, y, sums, rows)
	a.ADDQ(U32(uint32(rows*tileRow)), x)
	a.ADDQ(U32(uint32(rows*2*tileRow)), sums)
	a.DECQ(left)
	a.JNZ(LabelRef("rows"))
	a.roundRows(v, x, y, sums, 32-whole*rows)
	a.SUBQ(U32(uint32(whole*rows*tileRow)), x)
	a.SUBQ(U32(uint32(whole*rows*2*tileRow-4*columns)), sums)
	a.ADDQ(U32(uint32(columns/16*tileBytes)), y)
	a.DECQ(passes)
	a.JNZ(LabelRef("columns"))
	a.ADDQ(U32(2*planeBytes), x)
	a.ADDQ(U32(2*planeBytes-2*tileBytes), y)
	a.DECQ(steps)
	a.JNZ(LabelRef("step"))
	a.Label("done")
	a.LDMXCSR(control)
	a.VZEROUPPER()
	a.RET()
}

// askFor prefetches the 32 rows of the destination.
func (a *assembler) askFor(args gotypes.Component) {
	ahead, dst := a.field(args, "Out"), a.field(args, "Dst")
	left, row := a.GP64(), a.GP64()
	a.MOVQ(U32(32), left)
	a.Label("ask")
	a.MOVLQSX(Mem{Base: ahead}, row)
	a.PREFETCHT0(Mem{Base: dst, Index: row, Scale: 4})
	a.PREFETCHT0(Mem{Base: dst, Index: row, Scale: 4, Disp: 64})
	a.ADDQ(Imm(4), ahead)
	a.DECQ(left)
	a.JNZ(LabelRef("ask"))
}

// roundRows adds a step of so many rows from x, and two vectors of columns from y, to the sums.
func (a *assembler) roundRows(v vector, x, y, sums reg.Register, rows int) {
	column := func(j int) int { // of vector j, in the tiles of a plane
		return j*v.bytes/tileRow*tileBytes + j*v.bytes%tileRow
	}
	var planes [2][]([2]reg.VecVirtual)
	b, z := [2]reg.VecVirtual{v.register(), v.register()}, v.register()
	for k := range 16 {
		for plane := range planes {
			for j := range b {
				a.VMOVUPS(Mem{Base: y, Disp: plane*planeBytes + column(j) + k*tileRow}, b[j])
			}
			for i := range rows {
				a.VBROADCASTSS(Mem{Base: x, Disp: plane*planeBytes + i*tileRow + 4*k}, z)
				if k == 0 {
					planes[plane] = append(planes[plane], [2]reg.VecVirtual{v.register(), v.register()})
				}
				for j, sum := range planes[plane][i] {
					if k == 0 {
						a.VMULPS(z, b[j], sum)
					} else {
						a.VFMADD231PS(z, b[j], sum)
					}
				}
			}
		}
	}
	for i := range rows {
		for j, s := range planes[0][i] {
			at := Mem{Base: sums, Disp: i*2*tileRow + j*v.bytes}
			a.VADDPS(planes[1][i][j], s, s)
			a.VADDPS(at, s, s)
			a.VMOVUPS(s, at)
		}
	}
}

// splitStoreNarrow writes the copy of sums of one part to their destination.
func (a *assembler) splitStoreNarrow() {
	args := a.function("splitStoreAVX2", "SplitTileArgs", "splitStoreAVX2 is splitStorePlain for one part.")
	control := a.flush()
	out, dst, sum := a.field(args, "Out"), a.field(args, "Dst"), a.field(args, "Sums")
	flags, bias := a.field(args, "Flags"), a.field(args, "Bias")
	zero := a.YMM()
	a.VXORPS(zero, zero, zero)
	left, row := a.field(args, "Rows"), a.GP64()
	a.TESTQ(left, left)
	a.JZ(LabelRef("done"))
	var b, s [4]Op
	for j := range b {
		b[j], s[j] = a.YMM(), a.YMM()
		a.VMOVUPS(Mem{Base: bias, Disp: 32 * j}, b[j])
	}
	a.Label("row")
	a.MOVLQSX(Mem{Base: out}, row)
	a.LEAQ(Mem{Base: dst, Index: row, Scale: 4}, row)
	for j := range s {
		a.VADDPS(Mem{Base: sum, Disp: 32 * j}, b[j], s[j])
	}
	a.putRow("", flags, row, zero, s[:], 32)
	a.ADDQ(Imm(4), out)
	a.ADDQ(Imm(128), sum)
	a.DECQ(left)
	a.JNZ(LabelRef("row"))
	a.Label("done")
	a.LDMXCSR(control)
	a.VZEROUPPER()
	a.RET()
}
