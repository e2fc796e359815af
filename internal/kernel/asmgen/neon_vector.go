package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// halves are the registers that hold the halves of a vector: the same one twice if those are equal.
type halves [2]int

// num returns how many registers the vector's work is done in.
func (h halves) num() int {
	if h[0] == h[1] {
		return 1
	}
	return 2
}

// vector returns the registers of an operand. One in memory is loaded, of constants that are the same float
// eight times only the first half.
func (t *translation) vector(o operand.Op) halves {
	r, is := o.(reg.Register)
	if !is {
		m := o.(operand.Mem)
		register, offset := t.base(m)
		if m.Symbol.Name == rowConstants || t.width() == 1 {
			v := t.free(reg.KindVector)
			t.transfer("FMOVQ", at(register, offset), v, true)
			return halves{v, v}
		}
		v := t.freePair()
		t.whole(register, offset, v[0], v[1], true)
		return v
	}
	n := t.home[r.ID()]
	if t.isPair(r.ID()) && r.Size() == 32 {
		return halves{n, n + 1}
	}
	return halves{n, n}
}

// width returns the registers of a result of the instruction at hand, 1 or 2.
func (t *translation) width() int {
	for _, r := range t.at.Registers() {
		if r.Kind() == reg.KindVector && r.Size() == 32 && t.isPair(r.ID()) {
			return 2
		}
	}
	return 1
}

// isFactor reports whether an operand is a float in the first lane.
func (t *translation) isFactor(o operand.Op) bool {
	r, is := o.(reg.Register)
	return is && t.kinds[r.ID()] == factor
}

// Instructions that Go's assembler lacks.
const (
	fadd, fsub, fmul, fdiv       = 0x4e20d400, 0x4ea0d400, 0x6e20dc00, 0x6e20fc00
	fcmeq, fcmge, fcmgt          = 0x4e20e400, 0x6e20e400, 0x6ea0e400
	bic, not, fsqrt              = 0x4e601c00, 0x6e205800, 0x6ea1f800
	fcmltZero                    = 0x4ea0e800
	fmlaFactor, fmlsFactor       = 0x4f801000, 0x4f805000
	fmulFactor                   = 0x4f809000
	umull, xtn, sshll, sshllHigh = 0x2ea0c000, 0x0ea12800, 0x0f10a400, 0x4f10a400
)

// floats emits an instruction on the lanes of three registers.
func (t *translation) floats(bits uint32, name string, d, n, m int) {
	t.word(bits, fmt.Sprintf("%s V%d.4S, V%d.4S, V%d.4S", name, d, n, m), d, n, m)
}

// bits emits an instruction on the bits of two or three registers.
func (t *translation) bits(word uint32, name string, d, n int, m ...int) {
	comment, last := fmt.Sprintf("%s V%d.16B, V%d.16B", name, d, n), 0
	for _, m := range m {
		comment, last = fmt.Sprintf("%s, V%d.16B", comment, m), m
	}
	t.word(word, comment, d, n, last)
}

// lanes emits an operation on the lanes of two operands, of which avo names the second first.
func lanes(bits uint32, name string) func(t *translation, o []operand.Op) {
	return func(t *translation, o []operand.Op) {
		d, m, n := t.vector(o[2]), t.vector(o[0]), t.vector(o[1])
		for h := range d.num() {
			t.floats(bits, name, d[h], n[h], m[h])
		}
	}
}

// logic emits an operation on all bits, or on integers in the lanes of an arrangement.
func logic(opcode, arrangement string) func(t *translation, o []operand.Op) {
	return func(t *translation, o []operand.Op) {
		d, m, n := t.vector(o[2]), t.vector(o[0]), t.vector(o[1])
		for h := range d.num() {
			t.line(opcode, "V%d.%s, V%d.%[2]s, V%[4]d.%[2]s", m[h], arrangement, n[h], d[h])
		}
	}
}

// shift emits a shift of the integers of an arrangement.
func shift(opcode, arrangement string) func(t *translation, o []operand.Op) {
	return func(t *translation, o []operand.Op) {
		d, n := t.vector(o[2]), t.vector(o[1])
		for h := range d.num() {
			t.line(opcode, "%s, V%d.%s, V%d.%[3]s", constant(o[0]), n[h], arrangement, d[h])
		}
	}
}

// vector128 holds the translations of the instructions on vectors.
var vector128 = map[string]func(t *translation, o []operand.Op){
	"VADDPS": lanes(fadd, "FADD"), "VSUBPS": lanes(fsub, "FSUB"), "VDIVPS": lanes(fdiv, "FDIV"),
	"VMULPS": multiply, "VFMADD231PS": multiplyAdd, "VFNMADD231PS": multiplyAdd,
	"VSQRTPS": squareRoot, "VMAXPS": maximum, "VCMPPS": compareLanes, "VBLENDVPS": blend,
	"VANDPS": logic("VAND", "B16"), "VPAND": logic("VAND", "B16"), "VORPS": logic("VORR", "B16"),
	"VPXOR": logic("VEOR", "B16"), "VXORPS": exclusive,
	"VPADDD": logic("VADD", "S4"), "VPADDQ": logic("VADD", "D2"), "VPMAXUW": logic("VUMAX", "H8"),
	"VPCMPEQW": logic("VCMEQ", "H8"),
	"VPSLLD":   shift("VSHL", "S4"), "VPSLLQ": shift("VSHL", "D2"), "VPSRLQ": shift("VUSHR", "D2"),
	"VPMULUDQ": wideProduct, "VPMOVSXWD": widen,
	"VMOVUPS": copyVector, "VMOVDQU": copyVector, "VMOVAPS": copyVector, "VMOVNTPS": copyVector,
	"VMOVSS": part("FMOVS"), "MOVSS": part("FMOVS"), "VMOVLPS": part("FMOVD"), "VEXTRACTPS": third,
	"VBROADCASTSS": repeat("S"), "VPBROADCASTD": repeat("S"), "VPBROADCASTQ": repeat("D"),
	"VPBROADCASTW": repeat("H"), "VMOVD": fromInteger,
	"VEXTRACTF128": upper, "VEXTRACTI128": upper, "VBROADCASTF128": lowerOnly, "VINSERTF128": insertUpper,
	"VUNPCKLPS": interleave("VZIP1", "S4"), "VUNPCKHPS": interleave("VZIP2", "S4"), "VSHUFPS": shuffle,
	"VMOVHLPS": highPair, "VMOVSHDUP": interleaveSelf,
	loadTail: func(t *translation, o []operand.Op) {
		v := t.vector(o[2])
		t.tail(o[0].(operand.Mem), t.number(o[1]), v[0], v[1], true)
	},
	storeTail: func(t *translation, o []operand.Op) {
		v := t.vector(o[0])
		t.tail(o[2].(operand.Mem), t.number(o[1]), v[0], v[1], false)
	},
}

// byFactor emits a product with a float in the first lane of m.
func (t *translation) byFactor(bits uint32, name string, d, n, m int) {
	t.word(bits, fmt.Sprintf("%s V%d.4S, V%d.4S, V%d.S[0]", name, d, n, m), d, n, m)
}

func multiply(t *translation, o []operand.Op) {
	if t.isFactor(o[1]) {
		o = []operand.Op{o[1], o[0], o[2]}
	}
	d, m, n := t.vector(o[2]), t.vector(o[0]), t.vector(o[1])
	for h := range d.num() {
		if t.isFactor(o[0]) {
			t.byFactor(fmulFactor, "FMUL", d[h], n[h], m[h])
		} else {
			t.floats(fmul, "FMUL", d[h], n[h], m[h])
		}
	}
}

// multiplyAdd emits the addition or the subtraction of a product, rounded once.
func multiplyAdd(t *translation, o []operand.Op) {
	name, bits := "FMLA", uint32(fmlaFactor)
	if t.at.Opcode == "VFNMADD231PS" {
		name, bits = "FMLS", fmlsFactor
	}
	if t.isFactor(o[1]) {
		o = []operand.Op{o[1], o[0], o[2]}
	}
	d, m, n := t.vector(o[2]), t.vector(o[0]), t.vector(o[1])
	for h := range d.num() {
		if t.isFactor(o[0]) {
			t.byFactor(bits, name, d[h], n[h], m[h])
		} else {
			t.line("V"+name, "V%d.S4, V%d.S4, V%d.S4", m[h], n[h], d[h])
		}
	}
}

func squareRoot(t *translation, o []operand.Op) {
	d, n := t.vector(o[1]), t.vector(o[0])
	for h := range d.num() {
		t.word(fsqrt, fmt.Sprintf("FSQRT V%d.4S, V%d.4S", d[h], n[h]), d[h], n[h], 0)
	}
}

// maximum emits d = n > m ? n : m, so m if one is NaN or both are zero. Where n is zero that is m without what
// is below zero.
func maximum(t *translation, o []operand.Op) {
	d, m, n := t.vector(o[2]), t.vector(o[0]), t.vector(o[1])
	isZero := t.isZero(o[1])
	for h := range d.num() {
		mask := t.free(reg.KindVector)
		if isZero {
			t.word(fcmltZero, fmt.Sprintf("FCMLT V%d.4S, V%d.4S, #0.0", mask, m[h]), mask, m[h], 0)
			t.bits(bic, "BIC", d[h], m[h], mask)
		} else {
			t.floats(fcmgt, "FCMGT", mask, n[h], m[h])
			t.line("VBSL", "V%d.B16, V%d.B16, V%d.B16", m[h], n[h], mask)
			t.copyRegister(mask, d[h])
		}
		t.busy[place{reg.KindVector, mask}] = false
	}
}

// isZero reports whether an operand is a register that is only ever set to zero.
func (t *translation) isZero(o operand.Op) bool {
	r, is := o.(reg.Register)
	if !is || t.kinds[r.ID()] != uniform {
		return false
	}
	for _, i := range t.function.Instructions() {
		for _, d := range i.OutputRegisters() {
			if d.ID() == r.ID() && i.Opcode != "VXORPS" {
				return false
			}
		}
	}
	return true
}

// compareLanes emits a comparison of n with m.
func compareLanes(t *translation, o []operand.Op) {
	d, m, n := t.vector(o[3]), t.vector(o[1]), t.vector(o[2])
	for h := range d.num() {
		switch constant(o[0]) {
		case fmt.Sprint("$", equal):
			t.floats(fcmeq, "FCMEQ", d[h], n[h], m[h])
		case fmt.Sprint("$", greater):
			t.floats(fcmgt, "FCMGT", d[h], n[h], m[h])
		case fmt.Sprint("$", notLessOrEqual):
			t.floats(fcmge, "FCMGE", d[h], m[h], n[h])
			t.bits(not, "NOT", d[h], d[h])
		case fmt.Sprint("$", unordered):
			if o[1] != o[2] {
				panic("NaN is looked for in one operand only")
			}
			t.floats(fcmeq, "FCMEQ", d[h], n[h], n[h])
			t.bits(not, "NOT", d[h], d[h])
		}
	}
}

// blend emits the replacement of d by m in the lanes of a mask.
func blend(t *translation, o []operand.Op) {
	if o[2] != o[3] {
		panic("only lanes of the result are replaced")
	}
	d, mask, m := t.vector(o[3]), t.vector(o[0]), t.vector(o[1])
	for h := range d.num() {
		t.line("VBIT", "V%d.B16, V%d.B16, V%d.B16", mask[h], m[h], d[h])
	}
}

// exclusive emits an exclusive or, or zeros.
func exclusive(t *translation, o []operand.Op) {
	if o[0] != o[1] {
		logic("VEOR", "B16")(t, o)
		return
	}
	d := t.vector(o[2])
	for h := range d.num() {
		t.line("VMOVI", "$0, V%d.B16", d[h])
	}
}

// wideProduct emits the products of the lower halves of 64-bit lanes.
func wideProduct(t *translation, o []operand.Op) {
	d, m, n := t.vector(o[2]), t.vector(o[0]), t.vector(o[1])
	a, b := t.free(reg.KindVector), t.free(reg.KindVector)
	for h := range d.num() {
		t.word(xtn, fmt.Sprintf("XTN V%d.2S, V%d.2D", a, m[h]), a, m[h], 0)
		t.word(xtn, fmt.Sprintf("XTN V%d.2S, V%d.2D", b, n[h]), b, n[h], 0)
		t.word(umull, fmt.Sprintf("UMULL V%d.2D, V%d.2S, V%d.2S", d[h], b, a), d[h], b, a)
	}
}

// widen emits the sign extension of eight 16-bit integers.
func widen(t *translation, o []operand.Op) {
	d, n := t.vector(o[1]), t.vector(o[0])
	t.word(sshllHigh, fmt.Sprintf("SSHLL2 V%d.4S, V%d.8H, #0", d[1], n[0]), d[1], n[0], 0)
	t.word(sshll, fmt.Sprintf("SSHLL V%d.4S, V%d.4H, #0", d[0], n[0]), d[0], n[0], 0)
}

func (t *translation) copyRegister(from, to int) {
	if from != to {
		t.line("VMOV", "V%d.B16, V%d.B16", from, to)
	}
}

// copyVector emits a load, a store or a copy.
func copyVector(t *translation, o []operand.Op) {
	m, isLoad := o[0].(operand.Mem)
	v := o[1]
	if !isLoad {
		v = o[0]
		if to, is := o[1].(reg.Register); is {
			d, n := t.vector(to), t.vector(o[0])
			for h := range d.num() {
				t.copyRegister(n[h], d[h])
			}
			return
		}
		m = o[1].(operand.Mem)
	}
	register, offset := t.base(m)
	h := t.vector(v)
	if v.(reg.Register).Size() == 32 {
		t.whole(register, offset, h[0], h[1], isLoad)
	} else {
		t.transfer("FMOVQ", at(register, offset), h[0], isLoad)
	}
}

// part emits the load or the store of the first floats of a vector.
func part(opcode string) func(t *translation, o []operand.Op) {
	return func(t *translation, o []operand.Op) {
		if m, is := o[0].(operand.Mem); is {
			t.transfer(opcode, t.address(m), t.vector(o[1])[0], true)
			return
		}
		t.transfer(opcode, t.address(o[1].(operand.Mem)), t.vector(o[0])[0], false)
	}
}

// third emits the store of a vector's third float.
func third(t *translation, o []operand.Op) {
	if constant(o[0]) != "$2" {
		panic("only the third float is stored alone")
	}
	t.line("VST1", "V%d.S[2], (R%d)", t.vector(o[1])[0], t.moved(t.base(o[2].(operand.Mem))))
}

// repeat emits the copy of the first number to all lanes.
func repeat(size string) func(t *translation, o []operand.Op) {
	return func(t *translation, o []operand.Op) {
		d := t.vector(o[1])
		v := d[0]
		if m, is := o[0].(operand.Mem); is {
			t.transfer(map[string]string{"S": "FMOVS", "D": "FMOVD"}[size], t.address(m), v, true)
		} else {
			v = t.vector(o[0])[0]
		}
		if t.isFactor(o[1]) {
			return
		}
		lanes := map[string]string{"S": "S4", "D": "D2", "H": "H8"}[size]
		t.line("VDUP", "V%d.%s[0], V%d.%s", v, size, d[0], lanes)
		t.copyRegister(d[0], d[1])
	}
}

func fromInteger(t *translation, o []operand.Op) {
	t.line("FMOVS", "R%d, F%d", t.number(o[0]), t.vector(o[1])[0])
}

// upper emits the copy of a vector's upper half.
func upper(t *translation, o []operand.Op) {
	t.copyRegister(t.vector(o[1])[1], t.vector(o[2])[0])
}

// lowerOnly emits the load of a lower half; the upper one follows.
func lowerOnly(t *translation, o []operand.Op) {
	t.transfer("FMOVQ", t.address(o[0].(operand.Mem)), t.vector(o[1])[0], true)
}

// insertUpper emits the load of an upper half.
func insertUpper(t *translation, o []operand.Op) {
	if o[2] != o[3] {
		panic("only the result's own half is replaced")
	}
	t.transfer("FMOVQ", t.address(o[1].(operand.Mem)), t.vector(o[3])[1], true)
}

// interleave emits the interleaving of halves of two registers.
func interleave(opcode, arrangement string) func(t *translation, o []operand.Op) {
	return logic(opcode, arrangement)
}

// shuffle emits the joining of the lower or the upper pairs of two registers.
func shuffle(t *translation, o []operand.Op) {
	opcode := map[string]string{"$68": "VZIP1", "$238": "VZIP2"}[constant(o[0])]
	logic(opcode, "D2")(t, o[1:])
}

// highPair emits the copy of the upper two floats to the lower two.
func highPair(t *translation, o []operand.Op) {
	n, d := t.vector(o[0])[0], t.vector(o[2])[0]
	t.line("VZIP2", "V%d.D2, V%d.D2, V%d.D2", n, n, d)
}

// interleaveSelf emits the copy of the odd floats to their even neighbours.
func interleaveSelf(t *translation, o []operand.Op) {
	n, d := t.vector(o[0])[0], t.vector(o[1])[0]
	t.line("VTRN2", "V%d.S4, V%d.S4, V%d.S4", n, n, d)
}
