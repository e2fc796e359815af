package graph

import (
	"slices"
	"strings"
)

// assembly gathers what a program needs while its values are given places.
type assembly struct {
	*Program
	*liveness
	kernels  map[*call]Kernel  // none for views
	home     map[*Node]*Buffer // where each value that owns memory lies
	mirrored []*Node           // the caller's values that have a mirror
	kept     bool              // see Options.Kept
	scratch  map[*call]*Buffer
}

// assemble prepares kernels, plans memory within o's limit and builds the steps.
func assemble(c *code, ex Executor, o Options, arrange planner) (*Program, error) {
	a := &assembly{
		Program: &Program{code: c, executor: ex, isHalted: o.IsHalted}, kernels: map[*call]Kernel{},
		home: map[*Node]*Buffer{}, scratch: map[*call]*Buffer{}, kept: o.Kept && !ex.InPlace(),
	}
	a.isKept = a.kept
	if err := a.prepare(); err != nil {
		return nil, err
	}
	if o.Train && o.MemoryLimit > 0 {
		if err := a.recompute(int(o.MemoryLimit/4), arrange); err != nil {
			return nil, err
		}
	}
	a.liveness = analyse(c)
	a.pin()
	a.layOut(arrange)
	a.bind()
	arena := o.Arena
	if a.ownsArena = arena == nil; a.ownsArena {
		arena = NewArena(ex)
	}
	a.Program.arena = arena
	if err := arena.add(a.Program, a.plan.size); err != nil {
		return nil, err
	}
	return a.Program, nil
}

// prepare asks the executor for the kernel of every call that computes something.
func (a *assembly) prepare() error {
	for _, c := range a.Program.code.calls {
		if err := a.prepareCall(c); err != nil {
			return err
		}
	}
	return nil
}

func (a *assembly) prepareCall(c *call) (err error) {
	if _, ok := c.op.(view); ok {
		return nil
	}
	use := Application{Op: c.op, Name: c.op.name(), Layer: c.label, Backward: c.backward,
		In: typesOf(c.in), Out: typesOf(c.out), Overwrites: -1}
	if o, ok := c.op.(overwriting); ok {
		use.Overwrites = o.overwrites()
	}
	if t, ok := a.executor.(trailing); ok {
		c.trails = t.Trails(use)
	}
	k, err := a.executor.Prepare(use)
	if a.kernels[c] = k; a.Program.code.known != nil && k.keeping != nil {
		a.Program.code.keep(c, k.keeping)
	}
	return err
}

func typesOf(nodes []*Node) []Type {
	types := make([]Type, len(nodes))
	for i, n := range nodes {
		types[i] = n.typ
	}
	return types
}

// pin assigns buffers to the values outside the arena, and mirrors where the executor needs them.
func (a *assembly) pin() {
	c := a.Program.code
	var inputs []*Buffer
	inputs, a.mirrors.inputs = a.outside(c.inputs, false)
	a.params, a.mirrors.params = a.outside(c.paramNodes, a.kept)
	a.states, a.mirrors.states = a.outside(c.stateNodes, false)
	a.gradients, a.mirrors.gradients = a.outside(c.gradients, a.kept)
	for _, k := range c.constants {
		a.home[k.node] = &Buffer{F: k.values}
	}
	for i, n := range c.inputs {
		a.inputs = append(a.inputs, &Input{a.Program, n, inputs[i]})
	}
	if starts := c.texts.starts; starts != nil {
		a.starts = make([]int32, starts.typ.Shape.Elems())
		inputs[starts.number].I = a.starts
	}
	if splits := c.texts.splits; splits != nil {
		a.splits = make([]int32, splits.typ.Shape.Elems())
		inputs[splits.number].I = a.splits
	}
	if c.reports != nil {
		a.pinReports(c)
	}
}

// pinReports assigns buffers to the batch statistics: parts of one vector, which has a mirror as a whole.
func (a *assembly) pinReports(c *code) {
	segments := stateSegments(c.states)
	a.stats = alignedFloats(extent(segments))
	for i, n := range c.reports {
		s := segments[i]
		b := &Buffer{F: a.stats[s.Offset : s.Offset+s.Len : s.Offset+s.Len]}
		a.home[n] = b
		if !a.executor.InPlace() {
			a.parts = append(a.parts, part{b, s})
		}
	}
	if len(a.parts) > 0 {
		a.mirrors.reports = mirror{&Buffer{F: a.stats}, &Buffer{}}
	}
}

// outside returns buffers for the caller's values, and their mirrors if the executor needs them; it needs
// none of what is kept in its memory.
func (a *assembly) outside(nodes []*Node, isKept bool) ([]*Buffer, []mirror) {
	buffers := make([]*Buffer, len(nodes))
	for i, n := range nodes {
		buffers[i] = &Buffer{}
		a.home[n] = buffers[i]
	}
	if a.executor.InPlace() || isKept {
		return buffers, nil
	}
	mirrors := make([]mirror, len(nodes))
	for i, n := range nodes {
		if a.isTouched(n) {
			a.home[n] = &Buffer{}
			a.mirrored = append(a.mirrored, n)
			mirrors[i] = mirror{buffers[i], a.home[n]}
		}
	}
	return buffers, mirrors
}

// isTouched reports whether an op reads or computes n.
func (a *assembly) isTouched(n *Node) bool {
	return n.call != nil || slices.ContainsFunc(a.Program.code.calls, func(c *call) bool {
		return slices.Contains(c.in, n)
	})
}

// layOut plans the arena.
func (a *assembly) layOut(arrange planner) {
	blocks, tenants := a.blocks(a.kernels)
	last := len(a.Program.code.calls)
	for _, n := range a.mirrored {
		blocks = append(blocks, block{size: n.typ.floats(), last: last})
		tenants = append(tenants, tenant{value: n})
	}
	for i, t := range tenants {
		b := a.home[t.value] // of a mirror
		if b == nil {
			b = &Buffer{}
		}
		a.buffers = append(a.buffers, b)
		if t.value == nil {
			a.lengths = append(a.lengths, blocks[i].size)
			a.scratch[t.call] = b
			continue
		}
		a.lengths = append(a.lengths, t.value.typ.Shape.Elems())
		a.home[t.value] = b
		if v := t.value.typ; v.Ragged {
			a.ragged = append(a.ragged, ragged{b, v.Shape.Elems() / v.Shape[0]})
		}
	}
	if m := a.mirrors.reports.device; m != nil {
		blocks = append(blocks, block{size: len(a.stats), last: last})
		a.buffers, a.lengths = append(a.buffers, m), append(a.lengths, len(a.stats))
	}
	a.plan = arrange(blocks)
}

// buffer returns where n lies.
func (a *assembly) buffer(n *Node) *Buffer { return a.home[a.rootOf(n)] }

func (a *assembly) buffersOf(nodes []*Node) []*Buffer {
	buffers := make([]*Buffer, len(nodes))
	for i, n := range nodes {
		buffers[i] = a.buffer(n)
	}
	return buffers
}

// bind builds the steps and the outputs.
func (a *assembly) bind() {
	finals, fresh := a.finals(), a.fresh()
	code := a.Program.code
	a.steps = make([]step, 0, len(code.calls))
	for i, c := range code.calls {
		k := a.kernels[c]
		if k.Run == nil {
			continue
		}
		scratch := a.scratch[c]
		if scratch == nil {
			scratch = &Buffer{}
		}
		a.steps = append(a.steps, step{run: k.Run, final: finals[i], fresh: fresh[i],
			args: Args{a.buffersOf(c.in), a.buffersOf(c.out), scratch, &a.draws}})
		if !c.backward {
			a.forward = len(a.steps)
		}
		in, out := typesOf(c.in), typesOf(c.out)
		cost := OpCost{Op: c.op.name(), Layer: c.label, Backward: c.backward,
			Again: c.again, OfParts: k.OfParts, In: in, Out: out, Cost: c.op.cost(in, out)}
		a.costs = append(a.costs, cost)
		if c.again {
			a.repeated.add(cost)
		} else {
			a.work.add(cost)
		}
	}
	a.group()
	a.losses, a.logits = a.output(code.loss), a.output(code.logits)
	a.results.add(&a.losses.host, a.losses.from)
	a.results.add(&a.logits.host, a.logits.from)
	a.results.add(a.mirrors.reports.host, a.mirrors.reports.device)
}

// group finds the runs of ops of one kind in each pass.
func (a *assembly) group() {
	kind := func(i int) string {
		name, _, _ := strings.Cut(a.costs[i].Op, "+")
		name, _, _ = strings.Cut(name, " ")
		return name
	}
	for i := range a.steps {
		if next := i + 1; next == a.forward || next == len(a.steps) || kind(next) != kind(i) {
			a.steps[i].group = kind(i)
		}
	}
}

func (a *assembly) output(n *Node) output {
	if n == nil {
		return output{}
	}
	return output{from: a.buffer(n), host: Buffer{F: make([]float32, n.typ.Shape.Elems())}}
}

// fresh returns, for each call, the parameters that no earlier call reads.
func (a *assembly) fresh() map[int][]int {
	unread := map[*Buffer]int{}
	for p, n := range a.Program.code.paramNodes {
		unread[a.home[n]] = p
	}
	fresh := map[int][]int{}
	for i, c := range a.Program.code.calls {
		if a.kernels[c].Run == nil {
			continue // a view reads nothing
		}
		for _, b := range a.buffersOf(c.in) {
			if p, ok := unread[b]; ok {
				fresh[i] = append(fresh[i], p)
				delete(unread, b)
			}
		}
	}
	return fresh
}

// finals returns, for each call, the parameters whose gradients it completes, and sets order.
func (a *assembly) finals() map[int][]int {
	number := map[*Node]int{}
	for p, n := range a.Program.code.gradients {
		number[n] = p
	}
	finals := map[int][]int{}
	for i, c := range a.Program.code.calls {
		for _, n := range c.out {
			if p, ok := number[n]; ok {
				finals[i] = append(finals[i], p)
				a.order = append(a.order, p)
			}
		}
	}
	if a.Program.code.gradients == nil {
		for p := range a.Program.code.paramNodes {
			a.order = append(a.order, p)
		}
	}
	return finals
}
