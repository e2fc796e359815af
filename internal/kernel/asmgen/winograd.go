package main

import (
	"strconv"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// winograd writes the transforms of Winograd convolutions; winograd_plain.go in the kernel package says
// what each computes.
func winograd(a *assembler) {
	table := a.StaticGlobal("winogradFactors")
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, f := range winogradFactors {
		a.AppendDatum(operand.F32(f))
	}
	for _, wide := range []bool{false, true} {
		for _, t := range squares {
			t.vectors = &vectors{assembler: a, wide: wide}
			t.factors = map[float32]reg.Register{}
			t.write(table)
		}
	}
}

// winogradFactors are the constants of the transforms.
var winogradFactors = []float32{2, 4, 8, 0.5, 0.25, 1. / 9, 2. / 9, -1. / 18, pointA, pointB, squareA, squareB, factor0, factorA, factorB,
	factorA * pointA, factorB * pointB}

// The constants of F(4x4, 3x3), as in the kernel package.
const (
	pointA, pointB   = 5. / 8, 3. / 2
	squareA, squareB = pointA * pointA, pointB * pointB

	factor0 = 1 / (squareA * squareB)
	factorA = 1 / (2 * squareA * (squareA - squareB))
	factorB = 1 / (2 * squareB * (squareB - squareA))
)

// square is a transform of squares of side x side vectors: f is applied to each line, then across.
type square struct {
	*vectors
	place    string // of the transform, in WinogradOps
	side     int
	from, to ends
	needs    []float32
	f        func(s *square, d []reg.Register) []reg.Register

	args    gotypes.Component
	factors map[float32]reg.Register
	work    reg.Register // what lies between the two passes, then the places of the table's pixels
	at      reg.Register // bytes from the first channel
	ahead   reg.Register // floats from taps to those that are fetched
}

// ends says what a transform reads or writes.
type ends int

const (
	ofPoints ends = iota // Stride apart
	ofTaps               // TapStride apart
	ofPixels             // found through a table
)

// tilePoints are what most transforms of F(4x4, 3x3) multiply by.
var tilePoints = []float32{pointA, pointB, squareA, squareB}

var squares = []square{
	{place: "Tile.Input", side: 6, from: ofPixels, needs: tilePoints, f: (*square).input},
	{place: "Tile.Output", side: 6, to: ofPixels, needs: tilePoints, f: (*square).output},
	{place: "Tile.Filter", side: 3, from: ofTaps, needs: append(tilePoints, factor0, factorA, factorB),
		f: (*square).filter},
	{place: "Tile.OutputGrad", side: 4, from: ofPixels, needs: tilePoints, f: (*square).outputGrad},
	{place: "Tile.FilterGrad", side: 6, to: ofTaps, needs: []float32{squareA, squareB, factor0, factorA, factorB,
		factorA * pointA, factorB * pointB}, f: (*square).filterGrad},
	{place: "Map.Input", side: 2, from: ofPixels, f: (*square).mapInput},
	{place: "Map.Output", side: 3, to: ofPixels, f: (*square).mapOutput},
	{place: "Map.Filter", side: 3, from: ofTaps, f: (*square).mapFilter},
	{place: "Map.OutputGrad", side: 2, from: ofPixels, f: (*square).mapOutputGrad},
	{place: "Map.FilterGrad", side: 3, to: ofTaps, f: (*square).mapFilterGrad},
	{place: "Strided.Input", side: 9, from: ofPixels, needs: []float32{2, 0.5}, f: (*square).stridedInput},
	{place: "Strided.Output", side: 9, to: ofPixels, needs: []float32{2, 4, 8}, f: (*square).stridedOutput},
	{place: "Strided.Filter", side: 3, from: ofTaps, needs: []float32{2, 1. / 9, 2. / 9, -1. / 18},
		f: (*square).stridedFilter},
	{place: "Strided.OutputGrad", side: 4, from: ofPixels, needs: []float32{2}, f: (*square).stridedOutputGrad},
	{place: "Strided.FilterGrad", side: 9, to: ofTaps, needs: []float32{2, 0.25, 1. / 9, 2. / 9},
		f: (*square).stridedFilterGrad},
	{place: "Spread.Input", side: 5, from: ofPixels, needs: []float32{2, 0.5}, f: (*square).spreadInput},
	{place: "Spread.Output", side: 9, to: ofPixels, needs: []float32{2, 4, 8}, f: (*square).spreadOutput},
}

// placesAt is where in work the places of pixels begin.
const placesAt = 4 * 16 * 81

// write emits the function.
func (s *square) write(table operand.Mem) {
	name := "winograd" + strings.ReplaceAll(s.place, ".", "") + s.suffix()
	s.serve(name, s.place, s.suffix())
	s.args = s.function(name, "WinogradArgs", name+" is "+s.place+" of WinogradOps.")
	s.work = s.field(s.args, "Work")
	if s.from == ofPixels {
		s.places(s.field(s.args, "Src"), s.field(s.args, "Zero"))
	} else if s.to == ofPixels {
		none := s.GP64()
		s.XORQ(none, none)
		s.places(s.field(s.args, "Dst"), none)
	}
	for i, f := range winogradFactors {
		for _, need := range s.needs {
			if f == need {
				s.factors[f] = s.vector()
				s.VBROADCASTSS(table.Offset(4*i), s.factors[f])
			}
		}
	}
	width := s.field(s.args, "Width")
	s.SHLQ(operand.Imm(2), width)
	if s.from == ofTaps || s.to == ofTaps {
		s.ahead = s.field(s.args, "FetchStride")
	}
	s.at = s.GP64()
	s.XORQ(s.at, s.at)
	s.Label("channels")
	lines := s.lines()
	s.across(lines)
	s.ADDQ(operand.Imm(uint64(4*s.lanes())), s.at)
	s.CMPQ(s.at, width)
	s.JLT(operand.LabelRef("channels"))
	s.VZEROUPPER()
	s.RET()
}

// places turns the table's offsets from base into addresses, negative ones into none.
func (s *square) places(base, none reg.Register) {
	table, place, left := s.field(s.args, "Table"), s.GP64(), s.GP64()
	s.Load(s.args.Field("Table").Len(), left)
	to := s.GP64()
	s.LEAQ(operand.Mem{Base: s.work, Disp: placesAt}, to)
	s.Label("places")
	s.MOVLQSX(operand.Mem{Base: table}, place)
	s.TESTQ(place, place)
	s.LEAQ(operand.Mem{Base: base, Index: place, Scale: 4}, place)
	s.CMOVQLT(none, place)
	s.MOVQ(place, operand.Mem{Base: to})
	s.ADDQ(operand.Imm(4), table)
	s.ADDQ(operand.Imm(8), to)
	s.DECQ(left)
	s.JNZ(operand.LabelRef("places"))
}

// pixel returns the address of pixel number i of the table.
func (s *square) pixel(i int) reg.Register {
	p := s.GP64()
	s.MOVQ(operand.Mem{Base: s.work, Disp: placesAt + 8*i}, p)
	return p
}

// step returns the address of the channels in a slice, and the bytes from there to the next ones.
func (s *square) step(slice, stride string) (next, bytes reg.Register) {
	next, bytes = s.field(s.args, slice), s.field(s.args, stride)
	s.SHLQ(operand.Imm(2), bytes)
	s.ADDQ(s.at, next)
	return next, bytes
}

// lines transforms each line of the source into one of work and returns the new length of a line.
func (s *square) lines() int {
	var next, bytes reg.Register
	switch {
	case s.from == ofTaps:
		next, bytes = s.step("Src", "TapStride")
	case s.from == ofPoints:
		next, bytes = s.step("Src", "Stride")
	}
	side := 0
	for line := range s.side {
		d := make([]reg.Register, s.side)
		for i := range d {
			d[i] = s.vector()
			if s.from == ofPixels {
				s.VMOVUPS(operand.Mem{Base: s.pixel(line*s.side + i), Index: s.at, Scale: 1}, d[i])
				continue
			}
			s.VMOVUPS(operand.Mem{Base: next}, d[i])
			s.fetch(s.from, next)
			s.ADDQ(bytes, next)
		}
		result := s.f(s, d)
		side = len(result)
		for i, x := range result {
			s.VMOVUPS(x, s.between(line*side+i))
		}
	}
	return side
}

// across transforms the columns of work, of which there are side, into lines of the destination.
func (s *square) across(side int) {
	var next, bytes, flags, bias reg.Register
	switch {
	case s.to == ofPixels:
		flags, bias = s.field(s.args, "Flags"), s.field(s.args, "Bias")
		s.ADDQ(s.at, bias)
	case s.to == ofTaps:
		next, bytes = s.step("Dst", "TapStride")
		flags = s.field(s.args, "Flags")
	default:
		next, bytes = s.step("Dst", "Stride")
	}
	for column := range side {
		d := make([]reg.Register, s.side)
		for i := range d {
			d[i] = s.vector()
			s.VMOVUPS(s.between(i*side+column), d[i])
		}
		for i, x := range s.f(s, d) {
			if s.to == ofPixels {
				s.finish(column*side+i, x, flags, bias)
				continue
			}
			if s.to == ofTaps {
				s.addIf(flags, x, operand.Mem{Base: next}, column*side+i)
			}
			s.VMOVUPS(x, operand.Mem{Base: next})
			s.fetch(s.to, next)
			s.ADDQ(bytes, next)
		}
	}
}

// fetch fetches the taps FetchStride after those at next.
func (s *square) fetch(what ends, next reg.Register) {
	if what == ofTaps {
		s.PREFETCHT0(operand.Mem{Base: next, Index: s.ahead, Scale: 4})
	}
}

// addIf adds what dst holds to x if the flags say so; i tells the uses apart.
func (s *square) addIf(flags, x reg.Register, dst operand.Mem, i int) {
	added := operand.LabelRef("added" + strconv.Itoa(i))
	s.TESTQ(operand.U32(tileAdd), flags)
	s.JZ(added)
	s.VADDPS(dst, x, x)
	s.Label(string(added))
}

// between returns the place in work of vector number i between the two passes.
func (s *square) between(i int) operand.Mem {
	return operand.Mem{Base: s.work, Disp: 4 * s.lanes() * i}
}

// finish writes x to pixel number i, if it exists.
func (s *square) finish(i int, x, flags, bias reg.Register) {
	label := func(name string) string { return name + strconv.Itoa(i) }
	dst := operand.Mem{Base: s.pixel(i), Index: s.at, Scale: 1}
	s.TESTQ(dst.Base, dst.Base)
	s.JZ(operand.LabelRef(label("outside")))
	s.VADDPS(operand.Mem{Base: bias}, x, x)
	s.addIf(flags, x, dst, i)
	s.TESTQ(operand.U32(tileReLU), flags)
	s.JZ(operand.LabelRef(label("store")))
	zero := s.vector()
	s.VXORPS(zero, zero, zero)
	s.VMAXPS(x, zero, x)
	s.Label(label("store"))
	s.VMOVUPS(x, dst)
	s.Label(label("outside"))
}

// plus returns b + k*a, rounded once.
func (s *square) plus(b reg.Register, k float32, a reg.Register) reg.Register {
	x := s.vector()
	s.VMOVAPS(b, x)
	s.VFMADD231PS(s.factors[k], a, x)
	return x
}

// minus returns b - k*a, rounded once.
func (s *square) minus(b reg.Register, k float32, a reg.Register) reg.Register {
	x := s.vector()
	s.VMOVAPS(b, x)
	s.VFNMADD231PS(s.factors[k], a, x)
	return x
}

// times returns k*a.
func (s *square) times(k float32, a reg.Register) reg.Register { return s.mul(s.factors[k], a) }

func (s *square) input(d []reg.Register) []reg.Register {
	even, odd := s.minus(d[4], squareB, d[2]), s.minus(d[3], squareB, d[1])
	even2, odd2 := s.minus(d[4], squareA, d[2]), s.minus(d[3], squareA, d[1])
	return []reg.Register{
		s.minus(even, squareA, s.minus(d[2], squareB, d[0])),
		s.plus(even, pointA, odd), s.minus(even, pointA, odd),
		s.plus(even2, pointB, odd2), s.minus(even2, pointB, odd2),
		s.minus(s.minus(d[5], squareB, d[3]), squareA, odd),
	}
}

func (s *square) output(m []reg.Register) []reg.Register {
	sum, diff := s.add(m[1], m[2]), s.times(pointA, s.sub(m[1], m[2]))
	sum2, diff2 := s.add(m[3], m[4]), s.times(pointB, s.sub(m[3], m[4]))
	return []reg.Register{
		s.add(s.add(m[0], sum), sum2),
		s.add(diff, diff2),
		s.plus(s.times(squareA, sum), squareB, sum2),
		s.plus(s.plus(m[5], squareA, diff), squareB, diff2),
	}
}

func (s *square) filter(w []reg.Register) []reg.Register {
	ends, ends2 := s.plus(w[0], squareA, w[2]), s.plus(w[0], squareB, w[2])
	return []reg.Register{
		s.times(factor0, w[0]),
		s.times(factorA, s.plus(ends, pointA, w[1])), s.times(factorA, s.minus(ends, pointA, w[1])),
		s.times(factorB, s.plus(ends2, pointB, w[1])), s.times(factorB, s.minus(ends2, pointB, w[1])),
		w[2],
	}
}

func (s *square) outputGrad(d []reg.Register) []reg.Register {
	even, odd := s.plus(d[0], squareA, d[2]), s.plus(d[1], squareA, d[3])
	even2, odd2 := s.plus(d[0], squareB, d[2]), s.plus(d[1], squareB, d[3])
	return []reg.Register{
		d[0],
		s.plus(even, pointA, odd), s.minus(even, pointA, odd),
		s.plus(even2, pointB, odd2), s.minus(even2, pointB, odd2),
		d[3],
	}
}

func (s *square) filterGrad(u []reg.Register) []reg.Register {
	sum, diff := s.times(factorA, s.add(u[1], u[2])), s.times(factorA*pointA, s.sub(u[1], u[2]))
	sum2, diff2 := s.times(factorB, s.add(u[3], u[4])), s.sub(u[3], u[4])
	return []reg.Register{
		s.plus(s.add(sum, sum2), factor0, u[0]),
		s.plus(diff, factorB*pointB, diff2),
		s.plus(s.plus(u[5], squareB, sum2), squareA, sum),
	}
}

func (s *square) mapInput(d []reg.Register) []reg.Register {
	return []reg.Register{s.add(d[0], d[1]), d[1], d[0]}
}

func (s *square) mapOutput(m []reg.Register) []reg.Register {
	return []reg.Register{s.add(m[0], m[1]), s.add(m[0], m[2])}
}

func (s *square) mapFilter(w []reg.Register) []reg.Register {
	return []reg.Register{w[1], s.sub(w[2], w[1]), s.sub(w[0], w[1])}
}

func (s *square) mapOutputGrad(d []reg.Register) []reg.Register {
	return []reg.Register{s.add(d[0], d[1]), d[0], d[1]}
}

func (s *square) mapFilterGrad(u []reg.Register) []reg.Register {
	return []reg.Register{u[2], s.sub(u[0], s.add(u[1], u[2])), u[1]}
}

func (s *square) stridedInput(d []reg.Register) []reg.Register {
	line := []reg.Register{d[1], d[3], d[5], d[7]}
	return append(line, s.pairs([]reg.Register{d[0], d[2], d[4], d[6], d[8]})...)
}

func (s *square) spreadInput(d []reg.Register) []reg.Register {
	return append(d[:4:4], s.pairs(d)...)
}

// pairs multiplies d by B' of F(4, 2).
func (s *square) pairs(d []reg.Register) []reg.Register {
	last := s.plus(d[3], 0.5, s.sub(d[2], d[1]))
	var v []reg.Register
	for i := range 4 {
		v = append(v, s.minus(d[i+1], 2, d[i]))
	}
	both := s.minus(v[2], 0.5, v[1])
	return []reg.Register{
		s.add(s.minus(v[1], 0.5, v[0]), both),
		both,
		s.add(v[1], v[2]),
		last,
		s.add(both, s.minus(v[3], 0.5, v[2])),
	}
}

func (s *square) stridedOutput(m []reg.Register) []reg.Register {
	y := s.ofPairs(m[4:])
	for i := range y {
		y[i] = s.add(m[i], y[i])
	}
	return y
}

func (s *square) spreadOutput(m []reg.Register) []reg.Register {
	y := s.ofPairs(m[4:])
	return []reg.Register{m[0], y[0], m[1], y[1], m[2], y[2], m[3], y[3]}
}

// ofPairs multiplies m by A' of F(4, 2).
func (s *square) ofPairs(m []reg.Register) []reg.Register {
	return []reg.Register{
		s.plus(s.add(s.add(m[0], m[1]), m[3]), 8, m[2]),
		s.plus(s.sub(s.times(2, m[3]), m[1]), 4, m[2]),
		s.plus(s.plus(m[1], 2, m[2]), 4, m[3]),
		s.add(s.plus(s.sub(m[2], m[1]), 8, m[3]), m[4]),
	}
}

func (s *square) stridedFilter(w []reg.Register) []reg.Register {
	return []reg.Register{
		w[1], w[1], w[1], w[1],
		w[0],
		s.times(2./9, s.sub(w[2], w[0])), s.times(-1./18, s.plus(w[2], 2, w[0])),
		s.times(1./9, s.plus(w[0], 2, w[2])),
		w[2],
	}
}

func (s *square) stridedOutputGrad(d []reg.Register) []reg.Register {
	return []reg.Register{
		d[0], d[1], d[2], d[3],
		d[0],
		s.sub(s.add(d[0], d[2]), s.add(d[1], d[3])),
		s.plus(d[3], 2, s.plus(d[2], 2, s.plus(d[1], 2, d[0]))),
		s.plus(d[0], 2, s.plus(d[1], 2, s.plus(d[2], 2, d[3]))),
		d[3],
	}
}

func (s *square) stridedFilterGrad(u []reg.Register) []reg.Register {
	return []reg.Register{
		s.plus(u[4], 1./9, s.minus(s.sub(u[7], u[6]), 2, u[5])),
		s.add(s.add(u[0], u[1]), s.add(u[2], u[3])),
		s.plus(u[8], 2./9, s.minus(s.add(u[5], u[7]), 0.25, u[6])),
	}
}
