package graph

// assembly gathers what a program needs while its values are given places.
type assembly struct {
	*Program
	*liveness
	kernels map[*call]Kernel  // none for views
	home    map[*Node]*Buffer // of the values that own memory
	scratch map[*call]*Buffer
}

// assemble prepares kernels, plans memory within o's limit and builds the steps.
func assemble(c *code, ex Executor, o Options, arrange planner) (*Program, error) {
	a := &assembly{
		Program: &Program{code: c, executor: ex}, kernels: map[*call]Kernel{},
		home: map[*Node]*Buffer{}, scratch: map[*call]*Buffer{},
	}
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
	if _, ok := c.op.(view); !ok {
		a.kernels[c], err = a.executor.Prepare(c.op, typesOf(c.in), typesOf(c.out))
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

// pin gives values that live outside the arena their buffers.
func (a *assembly) pin() {
	c := a.Program.code
	outside := func(nodes []*Node) []*Buffer {
		buffers := make([]*Buffer, len(nodes))
		for i, n := range nodes {
			buffers[i] = &Buffer{}
			a.home[n] = buffers[i]
		}
		return buffers
	}
	a.inputs, a.params, a.states = outside(c.inputs), outside(c.paramNodes), outside(c.stateNodes)
	a.gradients = outside(c.gradients)
	a.labels = a.home[c.labels]
	if c.texts.tokens != nil {
		a.starts = make([]int32, c.texts.starts.typ.Shape.Elems())
		a.home[c.texts.starts].I = a.starts
	}
	if c.reports != nil {
		segments := stateSegments(c.states)
		a.stats = alignedFloats(extent(segments))
		for i, b := range outside(c.reports) {
			s := segments[i]
			b.F = a.stats[s.Offset : s.Offset+s.Len : s.Offset+s.Len]
		}
	}
}

// layOut plans the arena.
func (a *assembly) layOut(arrange planner) {
	blocks, tenants := a.blocks(a.kernels)
	for _, t := range tenants {
		b := &Buffer{}
		a.buffers = append(a.buffers, b)
		if t.value != nil {
			a.home[t.value] = b
			if v := t.value.typ; v.Ragged {
				a.ragged = append(a.ragged, ragged{b, v.Shape.Elems() / v.Shape[0]})
			}
		} else {
			a.scratch[t.call] = b
		}
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
		cost := OpCost{Op: c.op.Name(), Layer: c.label, Backward: c.backward,
			In: in, Out: out, Cost: c.op.Cost(in, out)}
		a.costs = append(a.costs, cost)
		a.work.add(cost)
	}
	a.losses, a.logits = a.output(code.loss), a.output(code.logits)
}

func (a *assembly) output(n *Node) output {
	if n == nil {
		return output{}
	}
	return output{from: a.buffer(n), host: make([]float32, n.typ.Shape.Elems())}
}

// fresh returns the parameters that each call is the first to read.
func (a *assembly) fresh() map[int][]int {
	unread := map[*Buffer]int{}
	for p, b := range a.params {
		unread[b] = p
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

// finals returns the parameters whose gradients each call makes final, and sets order.
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
