package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// kind says how a vector register of amd64 is held in those of arm64.
type kind int

const (
	pair    kind = iota // eight floats, in two registers
	single              // four floats
	uniform             // one float in all lanes
	factor              // one float in the first lane
)

// translation is the state of writing one function for arm64.
type translation struct {
	function *ir.Function
	globals  map[string]*ir.Global
	kinds    map[reg.ID]kind // of vectors
	home     map[reg.ID]int  // the number of each register, of a pair the first
	next     int             // number of a fresh register

	at     *ir.Instruction
	flags  bool // of the instruction at hand are read
	busy   map[place]bool
	sums   map[place]operand.Mem // addresses that registers hold
	labels int
	lines  []string
}

// place is a register of arm64.
type place struct {
	kind   reg.Kind
	number int
}

// pairs of counted instructions, which stand for masked loads and stores.
const (
	countTail = "COUNT" // index, lanes before the mask's first, most
	loadTail  = "LOADTAIL"
	storeTail = "STORETAIL"
)

// sorted returns the data in the order of names.
func sorted(globals map[string]*ir.Global) []*ir.Global {
	var list []*ir.Global
	for _, g := range globals {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *ir.Global) int { return strings.Compare(a.Symbol.Name, b.Symbol.Name) })
	return list
}

// countTails replaces masked loads and stores by ones that take the number of floats. A mask is a window of a
// table of ones followed by as many zeros, and the number follows from where the window lies.
func (t *translation) countTails() error {
	tables, counts := map[reg.ID]*ir.Global{}, map[reg.ID]reg.Register{}
	for _, i := range t.function.Instructions() {
		for _, r := range i.Registers() {
			t.next = max(t.next, int(r.ID().Index())+1)
		}
		if i.Opcode == "LEAQ" {
			if m := i.Operands[0].(operand.Mem); m.Symbol.Name != "" {
				tables[i.Operands[1].(reg.Register).ID()] = t.globals[m.Symbol.Name]
			}
		}
		if i.Opcode == "VMASKMOVPS" {
			counts[i.Operands[1].(reg.Register).ID()] = nil
		}
	}
	var nodes []ir.Node
	for _, n := range t.function.Nodes {
		i, isInstruction := n.(*ir.Instruction)
		if !isInstruction {
			nodes = append(nodes, n)
			continue
		}
		if i.Opcode == "VMASKMOVPS" {
			i = counted(i, counts[i.Operands[1].(reg.Register).ID()])
		}
		nodes = append(nodes, i)
		if mask, isMask := i.Operands, false; len(mask) == 2 && len(i.Outputs) == 1 {
			if r, ok := mask[1].(reg.Register); ok {
				_, isMask = counts[r.ID()]
			}
			if isMask {
				c := reg.NewVirtual(reg.Index(t.next), reg.KindGP, reg.S64)
				t.next++
				counts[mask[1].(reg.Register).ID()] = c
				m := i.Operands[0].(operand.Mem)
				half := tables[m.Base.ID()].Size / 8
				nodes = append(nodes, &ir.Instruction{Opcode: countTail,
					Operands: []operand.Op{m.Index, c, operand.Imm(uint64(m.Disp/4 - half)), operand.Imm(uint64(half))},
					Inputs:   []operand.Op{m.Index}, Outputs: []operand.Op{c}})
			}
		}
	}
	t.function.Nodes = nodes
	return nil
}

// counted returns a masked load or store as one of so many floats.
func counted(i *ir.Instruction, count reg.Register) *ir.Instruction {
	from, to := i.Operands[0], i.Operands[2]
	c := &ir.Instruction{Opcode: loadTail, Operands: []operand.Op{from, count, to}, Inputs: []operand.Op{from, count},
		Outputs: []operand.Op{to}}
	if operand.IsMem(to) {
		c.Opcode = storeTail
	}
	return c
}

// dropUnused removes the instructions that only compute what nobody reads, and reports whether there were any.
func (t *translation) dropUnused() bool {
	before := len(t.function.Nodes)
	t.function.Nodes = slices.DeleteFunc(t.function.Nodes, func(n ir.Node) bool {
		i, ok := n.(*ir.Instruction)
		if !ok {
			return false
		}
		switch i.Opcode {
		case "LEAQ", "VXORPS", "VBROADCASTSS", "VMOVUPS", "VMOVDQU", countTail, "VZEROUPPER", "SFENCE":
		default:
			return false
		}
		for _, o := range i.Outputs {
			if r, ok := o.(reg.Register); !ok || i.LiveOut[r.ID()] != 0 {
				return false
			}
		}
		return true
	})
	return len(t.function.Nodes) < before
}

// classify decides how each vector is held.
func (t *translation) classify() {
	t.kinds = map[reg.ID]kind{}
	repeated, factors := map[reg.ID]bool{}, map[reg.ID]bool{}
	for _, i := range t.function.Instructions() {
		for _, r := range i.Registers() {
			if r.Kind() != reg.KindVector {
				continue
			}
			if _, known := t.kinds[r.ID()]; !known {
				t.kinds[r.ID()], repeated[r.ID()], factors[r.ID()] = single, true, true
			}
			if r.Size() == 32 {
				t.kinds[r.ID()] = pair
			}
		}
	}
	for _, i := range t.function.Instructions() {
		t.limit(i, repeated, factors)
	}
	for id, k := range t.kinds {
		switch {
		case k == pair && repeated[id] && factors[id]:
			t.kinds[id] = factor
		case k == pair && repeated[id]:
			t.kinds[id] = uniform
		}
	}
}

// limit takes registers from those that hold one float in all lanes, and from those that are only factors.
func (t *translation) limit(i *ir.Instruction, repeated, factors map[reg.ID]bool) {
	switch i.Opcode {
	case "VBROADCASTSS":
	case "VPBROADCASTD", "VPBROADCASTQ", "VPBROADCASTW", "VMOVD":
		for _, r := range i.Registers() {
			delete(factors, r.ID())
		}
	case "VXORPS":
		if !i.CancellingInputs || i.Operands[0] != i.Operands[1] {
			delete(repeated, i.Operands[2].(reg.Register).ID())
		}
		for _, r := range i.Registers() {
			delete(factors, r.ID())
		}
	case "VFMADD231PS", "VFNMADD231PS", "VMULPS":
		sum := i.Operands[2].(reg.Register).ID()
		delete(repeated, sum)
		delete(factors, sum)
		a, isReg := i.Operands[0].(reg.Register)
		b := i.Operands[1].(reg.Register)
		if isReg && repeated[a.ID()] && repeated[b.ID()] && factors[a.ID()] && factors[b.ID()] {
			delete(factors, a.ID())
			delete(factors, b.ID())
		}
	default:
		for _, r := range i.OutputRegisters() {
			delete(repeated, r.ID())
		}
		for _, r := range i.Registers() {
			delete(factors, r.ID())
		}
	}
}

// generalRegisters are the numbers of the integer registers that a function may use.
func generalRegisters() (list []int) {
	for i := range 27 {
		if i != 18 { // the platform's
			list = append(list, i)
		}
	}
	return list
}

// interference says which registers must not share one.
type interference map[reg.ID]map[reg.ID]bool

func (f interference) add(a, b reg.ID) {
	if a == b || a.Kind() != b.Kind() {
		return
	}
	for range 2 {
		if f[a] == nil {
			f[a] = map[reg.ID]bool{}
		}
		f[a][b] = true
		a, b = b, a
	}
}

// conflicts returns the interference of a function's registers. The halves of a pair are written one after the
// other: a source that is not such a pair must not lie in the pair.
func (t *translation) conflicts() interference {
	f := interference{}
	for _, i := range t.function.Instructions() {
		for _, d := range i.OutputRegisters() {
			for id := range i.LiveOut {
				f.add(d.ID(), id)
			}
			if d.Kind() != reg.KindVector {
				continue
			}
			for _, s := range i.InputRegisters() {
				if s.Kind() == reg.KindVector && (t.kinds[s.ID()] != t.kinds[d.ID()] || crossing(i.Opcode)) {
					f.add(d.ID(), s.ID())
				}
			}
		}
	}
	return f
}

// crossing reports whether an instruction's halves of a result need more than the same halves of operands.
func crossing(opcode string) bool {
	return opcode == "VPMOVSXWD" || opcode == "VEXTRACTF128" || opcode == "VINSERTF128"
}

// allocate gives every register a number, in the order in which they are first seen.
func (t *translation) allocate() error {
	var order []reg.ID
	same := map[reg.ID]reg.ID{} // what a register is copied from or to
	for _, i := range t.function.Instructions() {
		for _, r := range i.Registers() {
			if r.Kind() != reg.KindPseudo && !slices.Contains(order, r.ID()) {
				order = append(order, r.ID())
			}
		}
		if i.Opcode == "VMOVAPS" || i.Opcode == "MOVQ" {
			a, isFrom := i.Operands[0].(reg.Register)
			b, isTo := i.Operands[1].(reg.Register)
			if isFrom && isTo {
				same[a.ID()], same[b.ID()] = b.ID(), a.ID()
			}
		}
	}
	f := t.conflicts()
	mixed := t.color(order, f, same)
	if mixed == nil {
		return nil
	}
	slices.SortStableFunc(order, func(a, b reg.ID) int { return int(t.kinds[a]) - int(t.kinds[b]) })
	if t.color(order, f, same) == nil {
		return nil
	}
	return mixed
}

// color gives the registers numbers in order.
func (t *translation) color(order []reg.ID, f interference, same map[reg.ID]reg.ID) error {
	t.home = map[reg.ID]int{}
	for _, id := range order {
		taken := map[int]bool{}
		for other := range f[id] {
			if n, known := t.home[other]; known {
				taken[n] = true
				if t.isPair(other) {
					taken[n+1] = true
				}
			}
		}
		list := generalRegisters()
		if id.Kind() == reg.KindVector {
			list = t.candidates(id)
		}
		if n, known := t.home[same[id]]; known && t.isPair(id) == t.isPair(same[id]) {
			list = append([]int{n}, list...)
		}
		at := slices.IndexFunc(list, func(n int) bool { return !taken[n] && !(t.isPair(id) && taken[n+1]) })
		if at < 0 {
			return fmt.Errorf("too few registers for %d of kind %d", len(order), id.Kind())
		}
		t.home[id] = list[at]
	}
	return nil
}

func (t *translation) isPair(id reg.ID) bool {
	return id.Kind() == reg.KindVector && t.kinds[id] == pair
}

// candidates lists the numbers that a vector may have: pairs from the bottom, others from the top.
func (t *translation) candidates(id reg.ID) (list []int) {
	if t.isPair(id) {
		for n := 0; n < 32; n += 2 {
			list = append(list, n)
		}
		return list
	}
	for n := 31; n >= 0; n-- {
		list = append(list, n)
	}
	return list
}
