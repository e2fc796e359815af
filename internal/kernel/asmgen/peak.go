package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// peakVectors is how many sums of vectors the peak loops keep in flight: a multiply-add takes four
// cycles or five and two start in one, so that ten are needed at least.
const peakVectors = 12

// peak writes the loops that do nothing but multiply and add in registers; package asm's PeakOps
// says what they compute.
func peak(a *assembler) {
	for _, wide := range []bool{false, true} {
		v := &vectors{assembler: a, wide: wide}
		v.peakConstants()
		v.peak()
	}
}

// peakConstants emits one half and one, once for both widths.
func (v *vectors) peakConstants() {
	if v.wide {
		return
	}
	v.StaticGlobal("peakConstants")
	v.DataAttributes(attr.RODATA | attr.NOPTR)
	v.AddDatum(0, operand.F32(0.5))
	v.AddDatum(4, operand.F32(1))
}

func (v *vectors) peak() {
	v.declare("peak", "func(sums []float32, turns int)")
	base := v.Load(v.Param("sums").Base(), v.GP64())
	turns := v.Load(v.Param("turns"), v.GP64())
	half, one := v.vector(), v.vector()
	v.VBROADCASTSS(operand.NewDataAddr(operand.Symbol{Name: "peakConstants", Static: true}, 0), half)
	v.VBROADCASTSS(operand.NewDataAddr(operand.Symbol{Name: "peakConstants", Static: true}, 4), one)
	var sums [peakVectors]reg.Register
	at := func(i int) operand.Mem { return operand.Mem{Base: base, Disp: i * v.lanes() * 4} }
	for i := range sums {
		sums[i] = v.load(at(i), false)
	}
	v.Label("turn")
	for _, s := range sums {
		v.VFMADD213PS(one, half, s)
	}
	v.DECQ(turns)
	v.JNZ(operand.LabelRef("turn"))
	for i, s := range sums {
		v.store(s, at(i), false)
	}
	v.VZEROUPPER()
	v.RET()
}
