package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// splitDot writes the products of one part by the dot products of pairs of AVX512_BF16. A step's tiles hold
// pairs of neighbouring terms, the earlier one in the upper half: VDPBF16PS multiplies that first. So eight
// pairs are the matrix unit's sum of the first 16 terms, and eight more that of the last 16.
func (a *assembler) splitDot() {
	index := a.StaticGlobal("pairIndex")
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 { // the second vector's, the first's
		a.AppendDatum(U16(16 + i))
		a.AppendDatum(U16(i))
	}
	a.dotRows()
	a.dotPairs(index)
	a.dotTurn(index)
	a.dotFlip()
	a.dotTile()
}

// The instructions of AVX512_BF16 are unknown to the assembler and written as bytes.

// vectorBytes writes an instruction of three vectors by its opcode among those of 0F38, and its prefix.
func (a *assembler) vectorBytes(opcode, prefix byte, x, y, to reg.VecPhysical, isSum bool) {
	code := func(r reg.VecPhysical) byte { return byte(reg.ToPhysical(r).PhysicalIndex()) }
	absent := func(r reg.VecPhysical, bit, at byte) byte { return (^code(r) >> bit & 1) << at }
	a.bytes(0x62, absent(to, 3, 7)|absent(x, 4, 6)|absent(x, 3, 5)|absent(to, 4, 4)|2,
		(^code(y)&15)<<3|4|prefix, 0x40|absent(y, 4, 3), opcode)
	last := &ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(0xC0 | code(to)&7<<3 | code(x)&7)},
		Inputs: []Op{x, y}, Outputs: []Op{to}}
	if isSum {
		last.Inputs = append(last.Inputs, to)
	}
	a.Instruction(last)
}

// addPairs writes VDPBF16PS: to is added the product of the upper halves of x and y, then that of the lower.
func (a *assembler) addPairs(x, y, to reg.VecPhysical) { a.vectorBytes(0x52, 2, x, y, to, true) }

// roundBoth writes VCVTNE2PS2BF16: the lower half of to is x as bf16, the upper half y, to nearest, ties to
// even, denormals as zeros.
func (a *assembler) roundBoth(x, y, to reg.VecPhysical) { a.vectorBytes(0x72, 3, x, y, to, false) }

// swapHalves is the rotation that exchanges the halves of a pair.
const swapHalves = 16

// dotRows writes the copy of rows to tiles.
func (a *assembler) dotRows() {
	a.dotCopy("splitRowsDot", "splitRowsDot is splitRowsPlain for one part, with pairs of neighbours.", 32,
		1, func(from []reg.GPVirtual, out Mem) {
			a.roundRow(Mem{Base: from[0]}, reg.Z0)
			a.VMOVDQU32(reg.Z0, out)
		})
}

// roundRow rounds 32 floats to 16 pairs.
func (a *assembler) roundRow(from Mem, to reg.VecPhysical) {
	a.VMOVUPS(from, reg.Z30)
	a.VMOVUPS(from.Offset(64), reg.Z31)
	a.roundBoth(reg.Z30, reg.Z31, to)
	a.VPROLD(Imm(swapHalves), to, to)
}

// dotPairs writes the copy of pairs of rows to tiles.
func (a *assembler) dotPairs(index Mem) {
	const name = "splitPairsDot"
	order := reg.Z29
	a.dotCopy(name, name+" is splitPairsPlain for one part, with pairs of neighbours.", 16, 2,
		func(from []reg.GPVirtual, out Mem) {
			a.VMOVDQU32(index, order)
			for half := range 2 {
				a.roundPair(Mem{Base: from[0], Disp: 64 * half}, Mem{Base: from[1], Disp: 64 * half}, order,
					reg.Z0)
				a.VMOVDQU32(reg.Z0, out.Offset(half*tileBytes))
			}
		})
}

// roundPair rounds 16 floats of an earlier and of a later row to 16 pairs.
func (a *assembler) roundPair(early, late Mem, order, to reg.VecPhysical) {
	a.VMOVUPS(early, reg.Z30)
	a.VMOVUPS(late, reg.Z31)
	a.roundBoth(reg.Z30, reg.Z31, to)
	a.VPERMW(to, order, to)
}

// dotCopy writes a copy that takes each of so many rows of a tile from one row of src, or from two that are
// neighbours in the table. copy moves 32 columns.
func (a *assembler) dotCopy(name, doc string, rows, sources int, copy func(from []reg.GPVirtual, out Mem)) {
	args := a.function(name, "SplitArgs", doc)
	table, src, dst := a.field(args, "Table"), a.field(args, "Src"), a.field(args, "Dst")
	step := a.Load(args.Field("DstStep"), a.GP64())
	a.SHLQ(Imm(2), step)
	from := make([]reg.GPVirtual, sources)
	out, left, i := a.GP64(), a.GP64(), a.GP64()
	a.MOVQ(U32(uint32(rows)), i)
	a.Label("row")
	for j := range from {
		from[j] = a.GP64()
		a.rowAddress(args, table, Mem{Base: table, Disp: 4 * j}, src, from[j])
	}
	a.Load(args.Field("N"), left)
	a.MOVQ(dst, out)
	a.Label("columns")
	copy(from, Mem{Base: out})
	for j := range from {
		a.ADDQ(Imm(128), from[j])
	}
	a.ADDQ(step, out)
	a.DECQ(left)
	a.JNZ(LabelRef("columns"))
	a.ADDQ(Imm(tileRow), dst)
	a.ADDQ(Imm(uint64(4*sources)), table)
	a.DECQ(i)
	a.JNZ(LabelRef("row"))
	a.VZEROUPPER()
	a.RET()
}

// dotTurn writes the transposing copy of rows to tiles.
func (a *assembler) dotTurn(index Mem) {
	const name = "splitTurnDot"
	a.dotSquares(name, name+" is splitTurnPlain for one part, with pairs of neighbours.",
		func(row func(i int) Mem, to []reg.VecPhysical) {
			a.VMOVDQU32(index, reg.Z29)
			for i := range to {
				a.roundPair(row(2*i), row(2*i+1), reg.Z29, to[i])
			}
		})
}

// dotFlip writes the copy of rows of terms to columns of tiles.
func (a *assembler) dotFlip() {
	const name = "splitFlipDot"
	a.dotSquares(name, name+" is splitTurnPlain of rows of terms for one part, with pairs of neighbours.",
		func(row func(i int) Mem, to []reg.VecPhysical) {
			for i := range to {
				a.roundRow(row(i), to[i])
			}
		})
}

// dotSquares writes a copy that rounds rows to 16 vectors of pairs, and writes what these are transposed.
func (a *assembler) dotSquares(name, doc string, load func(row func(i int) Mem, to []reg.VecPhysical)) {
	args := a.function(name, "SplitArgs", doc)
	table, src, dst := a.field(args, "Table"), a.field(args, "Src"), a.field(args, "Dst")
	step := a.Load(args.Field("DstStep"), a.GP64())
	left, at := a.Load(args.Field("N"), a.GP64()), a.GP64()
	a.XORQ(at, at)
	a.Label("tile")
	rows := []reg.VecPhysical{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9,
		reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15}
	load(func(i int) Mem {
		row := a.GP64()
		a.rowAddress(args, table, Mem{Base: table, Disp: 4 * i}, src, row)
		return Mem{Base: row, Index: at, Scale: 1}
	}, rows)
	virtual := make([]reg.VecVirtual, len(rows))
	for i := range rows {
		virtual[i] = a.ZMM()
		a.VMOVDQA32(rows[i], virtual[i])
	}
	for i, column := range a.transpose16(virtual) {
		a.VMOVUPS(column, Mem{Base: dst, Disp: i * tileRow})
	}
	a.ADDQ(Imm(128), at)
	a.LEAQ(Mem{Base: dst, Index: step, Scale: 4}, dst)
	a.DECQ(left)
	a.JNZ(LabelRef("tile"))
	a.VZEROUPPER()
	a.RET()
}

// dotRowsAtOnce is the rows of a block whose sums stay in registers over all steps: with two vectors of
// columns, three registers for each hold the sum so far and those of the first and of the last 16 terms.
const dotRowsAtOnce = 4

// splitBatch is the blocks of a call that asks for the whole panel that follows; one of fewer asks for its
// start.
const splitBatch = 8

// dotTile writes the product of tiles and the way of its sums to their destination.
func (a *assembler) dotTile() {
	const name = "splitTileDot"
	args := a.function(name, "SplitTileArgs", name+" is splitTilePlain for one part, with pairs of neighbours.")
	control := a.flush()
	blocks, rows := a.Load(args.Field("Blocks"), a.GP64()), a.field(args, "Rows")
	x, y, steps, group, line := a.field(args, "A"), a.GP64(), a.GP64(), a.GP64(), a.GP64()
	a.XORQ(line, line)
	panel := a.field(args, "NextB")
	a.Label("block")
	a.MOVQ(U32(32/dotRowsAtOnce), group)
	a.Label("group")
	a.dotAhead(args, line)
	next := a.dotNext(args, line)
	a.Load(args.Field("B").Base(), y)
	a.Load(args.Field("Steps"), steps)
	at := a.GP64()
	a.MOVQ(x, at)
	for _, s := range dotSums() {
		a.VPXORD(s, s, s)
	}
	a.TESTQ(steps, steps)
	a.JZ(LabelRef("store"))
	a.Label("step")
	for _, place := range next {
		a.PREFETCHT2(Mem{Base: place})
		a.PREFETCHT2(Mem{Base: place, Disp: 64})
		a.ADDQ(a.address(args, "NextStride"), place)
	}
	a.PREFETCHT1(Mem{Base: panel})
	a.ADDQ(Imm(tilesOfStep*tileBytes/(splitBatch*32/dotRowsAtOnce)), panel)
	a.dotStep(at, y)
	a.ADDQ(U32(tilesOfStep*tileBytes), at)
	a.ADDQ(U32(tilesOfStep*tileBytes), y)
	a.DECQ(steps)
	a.JNZ(LabelRef("step"))
	a.Label("store")
	a.dotStore(args, line, rows)
	a.ADDQ(U32(dotRowsAtOnce*tileRow), x)
	a.ADDQ(U32(4*dotRowsAtOnce), line)
	a.SUBQ(Imm(dotRowsAtOnce), rows)
	a.DECQ(group)
	a.JNZ(LabelRef("group"))
	// x is at the end of the block's first step.
	a.Load(args.Field("Steps"), steps)
	a.SHLQ(Imm(11), steps)
	a.LEAQ(Mem{Base: x, Index: steps, Scale: 1, Disp: -tilesOfStep * tileBytes}, x)
	a.DECQ(blocks)
	a.JNZ(LabelRef("block"))
	a.LDMXCSR(control)
	a.VZEROUPPER()
	a.RET()
}

// dotAhead asks for where the next call puts the sums of some rows. What this call adds to is needed before
// memory could answer. Line is four times the first of the rows.
func (a *assembler) dotAhead(args gotypes.Component, line reg.Register) {
	out, dst, row := a.field(args, "Out"), a.field(args, "Dst"), a.GP64()
	a.ADDQ(a.address(args, "DstAhead"), dst)
	for i := range dotRowsAtOnce {
		a.MOVLQSX(Mem{Base: out, Index: line, Scale: 1, Disp: 4 * i}, row)
		a.PREFETCHT0(Mem{Base: dst, Index: row, Scale: 4})
		a.PREFETCHT0(Mem{Base: dst, Index: row, Scale: 4, Disp: 64})
	}
}

// dotStore puts the sums of some rows in their places, of as many as are left.
func (a *assembler) dotStore(args gotypes.Component, line, rows reg.Register) {
	out, dst, row := a.field(args, "Out"), a.field(args, "Dst"), a.GP64()
	flags, bias := a.field(args, "Flags"), a.field(args, "Bias")
	zero, b := reg.Z0, [2]reg.VecPhysical{reg.Z1, reg.Z2}
	a.VPXORD(zero, zero, zero)
	for j := range b {
		a.VMOVUPS(Mem{Base: bias, Disp: 64 * j}, b[j])
	}
	for i := range dotRowsAtOnce {
		a.CMPQ(rows, Imm(uint64(i)))
		a.JLE(LabelRef("stored"))
		a.MOVLQSX(Mem{Base: out, Index: line, Scale: 1, Disp: 4 * i}, row)
		a.LEAQ(Mem{Base: dst, Index: row, Scale: 4}, row)
		var list []Op
		for j, s := range dotSums()[2*i : 2*i+2] {
			a.VADDPS(s, b[j], s)
			list = append(list, s)
		}
		a.putRow(fmt.Sprintf("row%d", i), flags, row, zero, list, 64)
	}
	a.Label("stored")
}

// dotNext returns where the floats begin that are asked for while some rows are computed.
func (a *assembler) dotNext(args gotypes.Component, line reg.Register) (places [dotRowsAtOnce]reg.GPVirtual) {
	rows, next := a.field(args, "NextRows"), a.field(args, "Next")
	for i := range places {
		places[i] = a.GP64()
		a.MOVLQSX(Mem{Base: rows, Index: line, Scale: 1, Disp: 4 * i}, places[i])
		a.LEAQ(Mem{Base: next, Index: places[i], Scale: 4}, places[i])
	}
	return places
}

// dotSums returns the registers of the sums so far, by row and column.
func dotSums() []reg.VecPhysical {
	return []reg.VecPhysical{reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23}
}

// dotStep adds a step of rows from x and 32 columns from y to the sums.
func (a *assembler) dotStep(x, y reg.Register) {
	chains := [2][]reg.VecPhysical{
		{reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7},
		{reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15}}
	for _, list := range chains {
		for _, s := range list {
			a.VPXORD(s, s, s)
		}
	}
	columns := [2][2]reg.VecPhysical{{reg.Z24, reg.Z25}, {reg.Z26, reg.Z27}}
	z := [4]reg.VecPhysical{reg.Z28, reg.Z29, reg.Z30, reg.Z31}
	for k := range 8 {
		for half, list := range chains {
			pair := k + 8*half
			for j := range 2 {
				a.VMOVUPS(Mem{Base: y, Disp: j*tileBytes + pair*tileRow}, columns[half][j])
			}
			for i := range dotRowsAtOnce {
				a.VPBROADCASTD(Mem{Base: x, Disp: i*tileRow + 4*pair}, z[i])
				for j := range 2 {
					a.addPairs(z[i], columns[half][j], list[2*i+j])
				}
			}
		}
	}
	for i, s := range dotSums() {
		a.VADDPS(chains[1][i], chains[0][i], chains[0][i])
		a.VADDPS(chains[0][i], s, s)
	}
}
