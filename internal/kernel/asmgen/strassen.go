package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// strassen writes the additions of Strassen's algorithm; strassen_plain.go in the kernel package says what
// each computes.
func strassen(a *assembler) {
	for _, wide := range []bool{false, true} {
		for _, f := range []struct {
			place string
			write func(*strassenRows)
		}{{"Operand", (*strassenRows).operand}, {"Result", (*strassenRows).result}} {
			s := &strassenRows{vectors: &vectors{assembler: a, wide: wide}}
			name := "strassen" + f.place + s.suffix()
			s.serve(name, f.place, s.suffix())
			s.args = s.function(name, "StrassenArgs", name+" is "+f.place+" of StrassenOps.")
			f.write(s)
		}
	}
}

// strassenRows is a loop over rows of the quarters and of the sums or products.
type strassenRows struct {
	*vectors
	args     gotypes.Component
	quarters [4]reg.Register // rows of 11, 12, 21, 22
	sums     reg.Register    // row of the first
	strides  [2]reg.Register // bytes between sums, and three times as many
	at       reg.Register    // bytes from the first column
}

// rows emits body for each vector of each row; at is the place of the first sum's.
func (s *strassenRows) rows(body func(at reg.Register)) {
	for i, name := range []string{"Q11", "Q12", "Q21", "Q22"} {
		s.quarters[i] = s.field(s.args, name)
	}
	s.sums = s.field(s.args, "Sums")
	one := s.field(s.args, "SumStride")
	s.SHLQ(operand.Imm(2), one)
	three := s.GP64()
	s.LEAQ(operand.Mem{Base: one, Index: one, Scale: 2}, three)
	s.strides = [2]reg.Register{one, three}
	width := s.field(s.args, "Width")
	s.SHLQ(operand.Imm(2), width)
	s.at = s.GP64()
	s.Label("rows")
	s.XORQ(s.at, s.at)
	s.Label("columns")
	at := s.GP64()
	s.LEAQ(operand.Mem{Base: s.sums, Index: s.at, Scale: 1}, at)
	body(at)
	s.ADDQ(operand.Imm(uint64(4*s.lanes())), s.at)
	s.CMPQ(s.at, width)
	s.JLT(operand.LabelRef("columns"))
	s.next("QuarterStride", s.quarters[:]...)
	s.next("RowStride", s.sums)
	s.DECQ(s.address(s.args, "Rows"))
	s.JNZ(operand.LabelRef("rows"))
	s.VZEROUPPER()
	s.RET()
}

// next moves pointers by a stride.
func (s *strassenRows) next(stride string, pointers ...reg.Register) {
	bytes := s.field(s.args, stride)
	s.SHLQ(operand.Imm(2), bytes)
	for _, p := range pointers {
		s.ADDQ(bytes, p)
	}
}

// quarter returns the place of the vector of quarter i.
func (s *strassenRows) quarter(i int) operand.Mem {
	return operand.Mem{Base: s.quarters[i], Index: s.at, Scale: 1}
}

// sum returns the place of the vector of sum or product i, counted from 0, where at holds that of the first.
func (s *strassenRows) sum(i int, at reg.Register) operand.Mem {
	m := operand.Mem{Base: at}
	switch i {
	case 1, 2, 4:
		m.Index, m.Scale = s.strides[0], uint8(i)
	case 3, 6:
		m.Index, m.Scale = s.strides[1], uint8(i/3)
	case 5:
		m.Base = s.GP64()
		s.LEAQ(operand.Mem{Base: at, Index: s.strides[0], Scale: 4}, m.Base)
		m.Index, m.Scale = s.strides[0], 1
	}
	return m
}

// copies is StrassenCopies.
const copies = 4

func (s *strassenRows) operand() {
	flags := s.field(s.args, "Flags")
	s.rows(func(at reg.Register) {
		var q [4]reg.Register
		for i := range q {
			q[i] = s.load(s.quarter(i), false)
		}
		for i, x := range []reg.Register{s.add(q[0], q[3]), s.add(q[2], q[3]), s.add(q[0], q[1]),
			s.sub(q[2], q[0]), s.sub(q[1], q[3])} {
			s.store(x, s.sum(i, at), false)
		}
		s.where(flags, copies, func() {
			s.store(q[0], s.sum(5, at), false)
			s.store(q[3], s.sum(6, at), false)
		})
	})
}

func (s *strassenRows) result() {
	s.zero = s.vector()
	s.VXORPS(s.zero, s.zero, s.zero)
	flags, left, right := s.field(s.args, "Flags"), s.field(s.args, "Bias"), s.field(s.args, "BiasNext")
	s.rows(func(at reg.Register) {
		var m [7]reg.Register
		for i := range m {
			m[i] = s.load(s.sum(i, at), false)
		}
		c := []reg.Register{
			s.add(s.sub(s.add(m[0], m[3]), m[4]), m[6]),
			s.add(m[2], m[4]),
			s.add(m[1], m[3]),
			s.add(s.add(s.sub(m[0], m[1]), m[2]), m[5]),
		}
		for i, x := range c {
			bias := operand.Mem{Base: []reg.Register{left, right}[i%2], Index: s.at, Scale: 1}
			s.VADDPS(bias, x, x)
		}
		s.where(flags, tileAdd, func() {
			for i, x := range c {
				s.VADDPS(s.quarter(i), x, x)
			}
		})
		s.where(flags, tileReLU, func() {
			for _, x := range c {
				s.VMAXPS(x, s.zero, x)
			}
		})
		for i, x := range c {
			s.store(x, s.quarter(i), false)
		}
	})
}

// where emits body, which is passed over if flags lack flag.
func (s *strassenRows) where(flags reg.Register, flag uint32, body func()) {
	past := fmt.Sprint("past", flag)
	s.TESTQ(operand.U32(flag), flags)
	s.JZ(operand.LabelRef(past))
	body()
	s.Label(past)
}
