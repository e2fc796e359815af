package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emit returns the function's instructions. Go's assembler takes arm64's operands in the order of amd64's, the
// result last.
func (t *translation) emit() (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %v", t.at.Opcode, r)
		}
	}()
	t.sums = map[place]operand.Mem{}
	for k, n := range t.function.Nodes {
		switch n := n.(type) {
		case ir.Label:
			clear(t.sums)
			t.lines = append(t.lines, fmt.Sprintf("\n%s:", n))
		case *ir.Instruction:
			t.at, t.flags = n, readsFlags(t.function.Nodes[k+1:])
			t.occupy()
			if t.flags && slices.Contains(changesFlags, n.Opcode) && !slices.Contains(setsFlags, n.Opcode) {
				panic("its flags are read")
			}
			if _, known := general[n.Opcode]; known {
				general[n.Opcode](t, n.Operands)
			} else if _, known := vector128[n.Opcode]; known {
				vector128[n.Opcode](t, n.Operands)
			} else {
				panic("no such instruction for arm64")
			}
			t.forget()
		}
	}
	return strings.Join(t.lines, "\n") + "\n", nil
}

// changesFlags are the instructions on integers of which amd64 changes the flags; of those in setsFlags arm64 sets
// the same ones if it has to.
var (
	setsFlags    = []string{"ADDQ", "SUBQ", "DECQ", "INCQ", "ANDQ", "TESTQ", "CMPQ"}
	changesFlags = append([]string{"XORQ", "SHLQ", "NEGQ", "IMULQ", "IMUL3Q", countTail}, setsFlags...)
)

// readsFlags reports whether the first of the nodes that has to do with flags reads them.
func readsFlags(nodes []ir.Node) bool {
	for _, n := range nodes {
		i, ok := n.(*ir.Instruction)
		switch {
		case !ok:
			return false
		case i.IsConditional || i.Opcode == "CMOVQLT":
			return true
		case i.IsBranch || i.IsTerminal:
			return false
		}
		if slices.Contains(changesFlags, i.Opcode) {
			return false
		}
	}
	return false
}

// occupy notes the registers that the instruction at hand may not use for something of its own.
func (t *translation) occupy() {
	t.busy = map[place]bool{}
	note := func(id reg.ID) {
		n, known := t.home[id]
		if !known {
			return
		}
		t.busy[place{id.Kind(), n}] = true
		if t.isPair(id) {
			t.busy[place{id.Kind(), n + 1}] = true
		}
	}
	for id := range t.at.LiveIn {
		note(id)
	}
	for id := range t.at.LiveOut {
		note(id)
	}
	for _, r := range t.at.Registers() {
		note(r.ID())
	}
	maps.DeleteFunc(t.sums, func(p place, _ operand.Mem) bool { return t.busy[p] })
}

// forget drops the addresses whose parts the instruction at hand has changed.
func (t *translation) forget() {
	for _, r := range t.at.OutputRegisters() {
		maps.DeleteFunc(t.sums, func(_ place, m operand.Mem) bool {
			return m.Base != nil && m.Base.ID() == r.ID() || m.Index != nil && m.Index.ID() == r.ID()
		})
	}
}

// free returns a register for use within the instruction at hand, rather one that holds no address.
func (t *translation) free(k reg.Kind) int {
	list := generalRegisters()
	if k == reg.KindVector {
		list = t.candidates(0)
	}
	for _, spare := range []bool{true, false} {
		for _, n := range list {
			p := place{k, n}
			if _, holds := t.sums[p]; !t.busy[p] && !(spare && holds) {
				t.busy[p] = true
				delete(t.sums, p)
				return n
			}
		}
	}
	panic("no register is free")
}

// freePair returns two neighbouring vector registers.
func (t *translation) freePair() [2]int {
	for n := 0; n < 32; n += 2 {
		a, b := place{reg.KindVector, n}, place{reg.KindVector, n + 1}
		if !t.busy[a] && !t.busy[b] {
			t.busy[a], t.busy[b] = true, true
			return [2]int{n, n + 1}
		}
	}
	return [2]int{t.free(reg.KindVector), t.free(reg.KindVector)}
}

// line appends an instruction.
func (t *translation) line(opcode, operands string, values ...any) {
	t.lines = append(t.lines, fmt.Sprintf("\t%-7s %s", opcode, fmt.Sprintf(operands, values...)))
}

// word appends an instruction that the assembler lacks: its bits with the numbers of the result and of both
// operands put in.
func (t *translation) word(bits uint32, comment string, d, n, m int) {
	t.lines = append(t.lines, fmt.Sprintf("\tWORD    $0x%08x // %s", bits|uint32(m)<<16|uint32(n)<<5|uint32(d),
		comment))
}

// label returns a name for a label inside an instruction's translation.
func (t *translation) label() string {
	t.labels++
	return fmt.Sprint("tail", t.labels)
}

func (t *translation) mark(label string) { t.lines = append(t.lines, label+":") }

// number returns the register of an integer operand, which is first loaded if it is in memory or a constant.
func (t *translation) number(o operand.Op) int {
	switch o := o.(type) {
	case reg.Register:
		return t.home[o.ID()]
	case operand.Mem:
		n := t.free(reg.KindGP)
		t.line("MOVD", "%s, R%d", t.address(o), n)
		return n
	}
	n := t.free(reg.KindGP)
	t.line("MOVD", "%s, R%d", constant(o), n)
	return n
}

// either returns an operand that is a register, or a constant as arm64 takes them.
func (t *translation) either(o operand.Op) string {
	if _, is := o.(operand.Constant); is {
		return constant(o)
	}
	return fmt.Sprint("R", t.number(o))
}

// constant returns a constant in decimal.
func constant(o operand.Op) string {
	var value int64
	if _, err := fmt.Sscanf(o.Asm(), "$%v", &value); err != nil {
		panic(err)
	}
	return fmt.Sprint("$", value)
}

// base returns the register and the offset of an address. Sums of registers are kept for the instructions that
// follow in a straight line.
func (t *translation) base(m operand.Mem) (register, offset int) {
	sum := operand.Mem{Symbol: m.Symbol, Base: m.Base, Index: m.Index, Scale: m.Scale}
	if m.Index == nil && m.Symbol.Name == "" {
		return t.home[m.Base.ID()], m.Disp
	}
	for p, known := range t.sums {
		if known == sum {
			t.busy[p] = true
			return p.number, m.Disp
		}
	}
	n := t.free(reg.KindGP)
	if m.Symbol.Name != "" {
		t.line("MOVD", "$%s+0(SB), R%d", m.Symbol, n)
	} else {
		t.line("ADD", "%s, R%d, R%d", t.scaled(m), t.home[m.Base.ID()], n)
	}
	t.sums[place{reg.KindGP, n}] = sum
	return n, m.Disp
}

// scaled returns the index of an address with its scale.
func (t *translation) scaled(m operand.Mem) string {
	shift := map[uint8]int{1: 0, 2: 1, 4: 2, 8: 3}[m.Scale]
	if shift == 0 {
		return fmt.Sprint("R", t.home[m.Index.ID()])
	}
	return fmt.Sprintf("R%d<<%d", t.home[m.Index.ID()], shift)
}

// address returns an operand in memory.
func (t *translation) address(m operand.Mem) string {
	if m.Base == reg.FramePointer {
		return fmt.Sprintf("%s+%d(FP)", m.Symbol, m.Disp)
	}
	return at(t.base(m))
}

// at returns the place so many bytes from a register.
func at(register, offset int) string {
	if offset == 0 {
		return fmt.Sprintf("(R%d)", register)
	}
	return fmt.Sprintf("%d(R%d)", offset, register)
}

// moved returns a register that holds a place in memory.
func (t *translation) moved(register, offset int) int {
	if offset == 0 {
		return register
	}
	n := t.free(reg.KindGP)
	t.line("ADD", "$%d, R%d, R%d", offset, register, n)
	return n
}

// result appends an operation on integers that sets the flags, by another name, if they are read.
func (t *translation) result(opcode, operands string, values ...any) {
	if t.flags {
		opcode += "S"
	}
	t.line(opcode, operands, values...)
}

// jump emits a branch.
func jump(opcode string) func(t *translation, o []operand.Op) {
	return func(t *translation, o []operand.Op) { t.line(opcode, "%s", o[0].Asm()) }
}

// arithmetic emits an operation on a register.
func arithmetic(opcode string) func(t *translation, o []operand.Op) {
	return func(t *translation, o []operand.Op) {
		t.result(opcode, "%s, R%d", t.either(o[0]), t.number(o[1]))
	}
}

// step emits an addition of a constant to a register or a number in memory.
func step(opcode string) func(t *translation, o []operand.Op) {
	return func(t *translation, o []operand.Op) {
		n := t.number(o[0])
		t.result(opcode, "$1, R%d", n)
		if m, is := o[0].(operand.Mem); is {
			t.line("MOVD", "R%d, %s", n, t.address(m))
		}
	}
}

// general holds the translations of the instructions on integers.
var general = map[string]func(t *translation, o []operand.Op){
	"RET": func(t *translation, _ []operand.Op) { t.lines = append(t.lines, "\tRET") },
	"JMP": jump("B"), "JZ": jump("BEQ"), "JE": jump("BEQ"), "JNZ": jump("BNE"), "JNE": jump("BNE"),
	"JL": jump("BLT"), "JLT": jump("BLT"), "JGE": jump("BGE"),
	"ADDQ": arithmetic("ADD"), "SUBQ": arithmetic("SUB"), "ANDQ": arithmetic("AND"),
	"DECQ": step("SUB"), "INCQ": step("ADD"),
	"SHLQ":  func(t *translation, o []operand.Op) { t.line("LSL", "%s, R%d", constant(o[0]), t.number(o[1])) },
	"NEGQ":  func(t *translation, o []operand.Op) { t.line("NEG", "R%d, R%[1]d", t.number(o[0])) },
	"IMULQ": func(t *translation, o []operand.Op) { t.line("MUL", "R%d, R%d", t.number(o[0]), t.number(o[1])) },
	"IMUL3Q": func(t *translation, o []operand.Op) {
		t.line("MUL", "R%d, R%d, R%d", t.number(o[0]), t.number(o[1]), t.number(o[2]))
	},
	"XORQ":    func(t *translation, o []operand.Op) { t.line("MOVD", "ZR, R%d", t.same(o[0], o[1])) },
	"TESTQ":   func(t *translation, o []operand.Op) { t.line("TST", "%s, R%d", t.either(o[0]), t.number(o[1])) },
	"CMPQ":    func(t *translation, o []operand.Op) { t.line("CMP", "%s, R%d", t.either(o[1]), t.number(o[0])) },
	"CMOVQLT": moveIfLess,
	"MOVQ":    move, "MOVL": move, "MOVLQSX": move, "LEAQ": leap,
	"PREFETCHT0": fetchInto("PLDL1KEEP"), "PREFETCHT1": fetchInto("PLDL2KEEP"),
	countTail: count,
}

// same returns the register that both operands are.
func (t *translation) same(a, b operand.Op) int {
	if a != b {
		panic("not the same register twice")
	}
	return t.number(a)
}

// moveIfLess emits a conditional move.
func moveIfLess(t *translation, o []operand.Op) {
	n := t.number(o[1])
	t.line("CSEL", "LT, R%d, R%d, R%[2]d", t.number(o[0]), n)
}

// move emits a copy of an integer. The assembler's word has 32 bits, and is sign-extended.
func move(t *translation, o []operand.Op) {
	opcode := map[string]string{"MOVQ": "MOVD", "MOVL": "MOVWU", "MOVLQSX": "MOVW"}[t.at.Opcode]
	if m, is := o[1].(operand.Mem); is {
		t.line(opcode, "R%d, %s", t.number(o[0]), t.address(m))
		return
	}
	to := t.number(o[1])
	switch from := o[0].(type) {
	case operand.Mem:
		t.line(opcode, "%s, R%d", t.address(from), to)
	case reg.Register:
		if t.number(from) != to {
			t.line(opcode, "R%d, R%d", t.number(from), to)
		}
	default:
		t.line("MOVD", "%s, R%d", constant(from), to)
	}
}

// leap emits the computation of an address.
func leap(t *translation, o []operand.Op) {
	m, to := o[0].(operand.Mem), t.number(o[1])
	switch {
	case m.Symbol.Name != "":
		t.line("MOVD", "$%s+%d(SB), R%d", m.Symbol, m.Disp, to)
	case m.Index == nil:
		t.line("ADD", "$%d, R%d, R%d", m.Disp, t.number(m.Base), to)
	default:
		t.line("ADD", "%s, R%d, R%d", t.scaled(m), t.number(m.Base), to)
		if m.Disp != 0 {
			t.line("ADD", "$%d, R%d", m.Disp, to)
		}
	}
}

// fetchInto emits a prefetch.
func fetchInto(cache string) func(t *translation, o []operand.Op) {
	return func(t *translation, o []operand.Op) {
		register, offset := t.base(o[0].(operand.Mem))
		if offset < 0 || offset%8 != 0 || offset > 32760 {
			register, offset = t.moved(register, offset), 0
		}
		t.line("PRFM", "%s, %s", at(register, offset), cache)
	}
}

// count emits the number of floats of a mask: those of the negative index, less those before the mask, at least
// none and at most eight.
func count(t *translation, o []operand.Op) {
	n, before, most := t.number(o[1]), constant(o[2]), constant(o[3])
	t.line("NEG", "R%d, R%d", t.number(o[0]), n)
	if before != "$0" {
		t.line("SUBS", "%s, R%d", before, n)
		t.line("CSEL", "LT, ZR, R%d, R%[1]d", n)
	}
	if most != "$8" {
		eight := t.free(reg.KindGP)
		t.line("MOVD", "$8, R%d", eight)
		t.line("CMP", "R%d, R%d", eight, n)
		t.line("CSEL", "GT, R%d, R%d, R%[2]d", eight, n)
	}
}

// tail emits the load or the store of the first floats of two registers, as many as a register says.
func (t *translation) tail(m operand.Mem, count, low, high int, isLoad bool) {
	register, offset := t.base(m)
	done, few, all := t.label(), t.label(), t.label()
	t.line("TBNZ", "$3, R%d, %s", count, all)
	if isLoad {
		t.line("VMOVI", "$0, V%d.B16", high)
	}
	t.line("TBZ", "$2, R%d, %s", count, few)
	t.transfer("FMOVQ", at(register, offset), low, isLoad)
	t.few(register, offset+16, count, high, done, isLoad)
	t.mark(few)
	if isLoad {
		t.line("VMOVI", "$0, V%d.B16", low)
	}
	t.few(register, offset, count, low, done, isLoad)
	t.mark(all)
	t.whole(register, offset, low, high, isLoad)
	t.mark(done)
}

// few emits the load or the store of at most three floats, and the branch to what follows.
func (t *translation) few(register, offset, count, v int, done string, isLoad bool) {
	one := t.label()
	t.line("TBZ", "$1, R%d, %s", count, one)
	t.transfer("FMOVD", at(register, offset), v, isLoad)
	t.line("TBZ", "$0, R%d, %s", count, done)
	third := t.free(reg.KindGP)
	t.line("ADD", "$%d, R%d, R%d", offset+8, register, third)
	if isLoad {
		t.line("VLD1", "(R%d), V%d.S[2]", third, v)
	} else {
		t.line("VST1", "V%d.S[2], (R%d)", v, third)
	}
	t.busy[place{reg.KindGP, third}] = false
	t.line("B", "%s", done)
	t.mark(one)
	t.line("TBZ", "$0, R%d, %s", count, done)
	t.transfer("FMOVS", at(register, offset), v, isLoad)
	t.line("B", "%s", done)
}

// transfer emits a load or a store of one register.
func (t *translation) transfer(opcode, memory string, v int, isLoad bool) {
	if isLoad {
		t.line(opcode, "%s, F%d", memory, v)
	} else {
		t.line(opcode, "F%d, %s", v, memory)
	}
}

// whole emits the load or the store of two registers, of one instruction if the offset allows it.
func (t *translation) whole(register, offset, low, high int, isLoad bool) {
	if offset%16 != 0 || offset < -1024 || offset > 1008 {
		t.transfer("FMOVQ", at(register, offset), low, isLoad)
		t.transfer("FMOVQ", at(register, offset+16), high, isLoad)
		return
	}
	if isLoad {
		t.line("FLDPQ", "%s, (F%d, F%d)", at(register, offset), low, high)
	} else {
		t.line("FSTPQ", "(F%d, F%d), %s", low, high, at(register, offset))
	}
}
