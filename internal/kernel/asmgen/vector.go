package main

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Comparisons of VCMPPS, none of which signals.
const (
	equal          = 0x00
	unordered      = 0x03 // a or b is NaN
	notLessOrEqual = 0x16 // a > b, or one is NaN
	greater        = 0x1e
)

// tailMasks is the table that AVX2 tails read their mask from: 8 lanes on, 8 lanes off.
const tailMasks = "tailMasks"

// vectors emits float32 vector code in one of two widths: AVX-512, where lanes are chosen by mask
// registers, or AVX2, where they are chosen by vectors of ones and zeros. It has no fused
// multiply-add, so both give the same bits, and those of the plain Go twin.
type vectors struct {
	*assembler
	wide   bool
	tail   reg.Register // lanes of the last, partial vector
	zero   reg.Register
	rest   reg.Register // floats of the partial vector at hand, where they are in a register
	labels string       // begins the names of the labels of walk
	stores int          // partial stores so far, to tell their labels apart
	chains bool         // walk takes the vectors of a turn abreast
}

// lanes returns the number of floats in a vector.
func (v *vectors) lanes() int {
	if v.wide {
		return 16
	}
	return 8
}

// suffix ends the names of functions of this width.
func (v *vectors) suffix() string {
	if v.wide {
		return "AVX512"
	}
	return "AVX2"
}

// vector returns a fresh vector register.
func (v *vectors) vector() reg.Register {
	if v.wide {
		return v.ZMM()
	}
	return v.YMM()
}

// lanesMask returns a fresh register to choose lanes.
func (v *vectors) lanesMask() reg.Register {
	if v.wide {
		return v.K()
	}
	return v.YMM()
}

// table emits the constants that the functions of this width refer to.
func (v *vectors) table() {
	if v.wide {
		return
	}
	v.StaticGlobal(tailMasks)
	v.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		on := operand.U32(0xffffffff)
		if i >= 8 {
			on = 0
		}
		v.AddDatum(4*i, on)
	}
}

// begin sets up tail for slices of n floats, and zero.
func (v *vectors) begin(n reg.GPVirtual) {
	v.zero = v.vector()
	rest := v.GP64()
	v.MOVQ(n, rest)
	v.ANDQ(operand.Imm(uint64(v.lanes()-1)), rest)
	v.tail = v.lanesMask()
	if v.wide {
		v.VPXORD(v.zero, v.zero, v.zero)
		ones := v.GP32()
		v.MOVL(operand.U32(1), ones)
		v.MOVQ(rest, reg.RCX)
		v.SHLL(reg.CL, ones)
		v.DECL(ones)
		v.KMOVW(ones, v.tail)
		return
	}
	v.VXORPS(v.zero, v.zero, v.zero)
	table := v.GP64()
	v.LEAQ(operand.NewDataAddr(operand.Symbol{Name: tailMasks, Static: true}, 0), table)
	v.NEGQ(rest)
	v.VMOVDQU(operand.Mem{Base: table, Index: rest, Scale: 4, Disp: 32}, v.tail)
}

// load returns the vector at m; of a partial one, the lanes beyond the tail are 0.
func (v *vectors) load(m operand.Mem, partial bool) reg.Register {
	x := v.vector()
	switch {
	case !partial:
		v.VMOVUPS(m, x)
	case v.wide:
		v.VMOVUPS_Z(m, v.tail, x)
	default:
		v.VMASKMOVPS(m, v.tail, x)
	}
	return x
}

// store writes x to m; of a partial one only the lanes of the tail.
func (v *vectors) store(x reg.Register, m operand.Mem, partial bool) {
	switch {
	case !partial:
		v.VMOVUPS(x, m)
	case v.wide:
		v.VMOVUPS(x, v.tail, m)
	case v.rest != nil:
		v.storeRest(x, m)
	default:
		v.VMASKMOVPS(x, v.tail, m)
	}
}

// storeRest writes the first v.rest floats of x, 1 to 7, to m, by halves: on processors of AMD a masked store
// takes as long as a dozen whole ones.
func (v *vectors) storeRest(x reg.Register, m operand.Mem) {
	v.stores++
	label := func(name string) operand.LabelRef { return operand.LabelRef(fmt.Sprint(name, v.stores)) }
	low, high := x.(reg.VecVirtual).AsX(), v.XMM()
	at := func(floats int) operand.Mem {
		m := m
		m.Disp += 4 * floats
		return m
	}
	v.TESTQ(operand.U32(4), v.rest)
	v.JZ(label("below4_"))
	v.VMOVUPS(low, at(0))
	v.VEXTRACTF128(operand.Imm(1), x, high)
	pair := func(name string, x reg.Register, first int) {
		v.TESTQ(operand.U32(2), v.rest)
		v.JZ(label(name))
		v.VMOVLPS(x, at(first))
		v.TESTQ(operand.U32(1), v.rest)
		v.JZ(label("stored"))
		v.VEXTRACTPS(operand.Imm(2), x, at(first+2))
		v.JMP(label("stored"))
		v.Label(string(label(name)))
		v.TESTQ(operand.U32(1), v.rest)
		v.JZ(label("stored"))
		v.VMOVSS(x, at(first))
	}
	pair("below6_", high, 4)
	v.JMP(label("stored"))
	v.Label(string(label("below4_")))
	pair("below2_", low, 0)
	v.Label(string(label("stored")))
}

// abreast emits the bodies 0 to n-1, which do not depend on each other, instruction by instruction in turn, so
// that the processor, which does not look far ahead, finds something to do while a result is on its way.
func (v *vectors) abreast(n int, body func(i int)) {
	f := v.active()
	start := len(f.Nodes)
	var bodies [][]ir.Node
	for i := range n {
		first := len(f.Nodes)
		body(i)
		bodies = append(bodies, slices.Clone(f.Nodes[first:]))
	}
	f.Nodes = f.Nodes[:start]
	for at := range bodies[0] {
		for _, b := range bodies {
			f.Nodes = append(f.Nodes, b[at])
		}
	}
}

// active returns the function that is being written.
func (v *vectors) active() *ir.Function {
	file, _ := v.Result() // errors are reported at the end
	functions := file.Functions()
	return functions[len(functions)-1]
}

// broadcast returns a vector of the scalar parameter called name.
func (v *vectors) broadcast(name string) reg.Register {
	p, err := v.Param(name).Resolve()
	if err != nil {
		panic(err) // a stream whose scalars are not its parameters
	}
	x := v.vector()
	v.VBROADCASTSS(p.Addr, x)
	return x
}

func (v *vectors) add(a, b reg.Register) reg.Register {
	x := v.vector()
	v.VADDPS(b, a, x)
	return x
}

func (v *vectors) sub(a, b reg.Register) reg.Register {
	x := v.vector()
	v.VSUBPS(b, a, x)
	return x
}

func (v *vectors) mul(a, b reg.Register) reg.Register {
	x := v.vector()
	v.VMULPS(b, a, x)
	return x
}

// rectify returns max(a, 0), keeping NaN and the sign of zeros as VMAXPS does for its second source.
func (v *vectors) rectify(a reg.Register) reg.Register {
	x := v.vector()
	v.VMAXPS(a, v.zero, x)
	return x
}

// compare returns the lanes where a is so compared to b.
func (v *vectors) compare(how uint64, a, b reg.Register) reg.Register {
	m := v.lanesMask()
	v.VCMPPS(operand.Imm(how), b, a, m)
	return m
}

// either returns the lanes of a and those of b.
func (v *vectors) either(a, b reg.Register) reg.Register {
	m := v.lanesMask()
	if v.wide {
		v.KORW(a, b, m)
	} else {
		v.VORPS(a, b, m)
	}
	return m
}

// keep returns a in the lanes of m, 0 elsewhere.
func (v *vectors) keep(a, m reg.Register) reg.Register {
	x := v.vector()
	if v.wide {
		v.VMOVAPS_Z(a, m, x)
	} else {
		v.VANDPS(a, m, x)
	}
	return x
}

// xor returns a without the bits of b: what keep left out, if b is what it kept of a.
func (v *vectors) xor(a, b reg.Register) reg.Register {
	x := v.vector()
	if v.wide {
		v.VPXORD(b, a, x)
	} else {
		v.VXORPS(b, a, x)
	}
	return x
}

// replace sets a to b in the lanes of m.
func (v *vectors) replace(a, b, m reg.Register) {
	if v.wide {
		v.VMOVAPS(b, m, a)
	} else {
		v.VBLENDVPS(m, b, a, a)
	}
}

// gate returns d where t > 0 or NaN, 0 elsewhere.
func (v *vectors) gate(d, t reg.Register) reg.Register {
	return v.keep(d, v.positive(t))
}

// positive returns the lanes where t > 0 or NaN.
func (v *vectors) positive(t reg.Register) reg.Register {
	return v.compare(notLessOrEqual, t, v.zero)
}

// beats returns the lanes where a takes the place of the maximum m so far: a > m, or a is NaN.
func (v *vectors) beats(a, m reg.Register) reg.Register {
	return v.either(v.compare(greater, a, m), v.compare(unordered, a, a))
}
