package graph

// assembly gathers what a program needs while its values are given places.
type assembly struct {
	*Program
	kernels []Kernel          // by call; none for views
	last    map[*Node]int     // the call that reads a value last, views counted for what they view
	root    map[*Node]*Node   // the value whose memory a view or an overwriting result shares
	home    map[*Node]*Buffer // of the values that own memory
	scratch []*Buffer         // by call
}

// assemble prepares kernels, plans memory and builds the steps.
func assemble(c *code, ex Executor, arena *Arena, arrange planner) (*Program, error) {
	a := &assembly{
		Program: &Program{code: c, executor: ex},
		root:    map[*Node]*Node{}, last: map[*Node]int{}, home: map[*Node]*Buffer{},
	}
	if err := a.prepare(); err != nil {
		return nil, err
	}
	a.pin()
	a.shareMemory()
	a.layOut(arrange)
	a.bind()
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
	a.kernels = make([]Kernel, len(a.code.calls))
	for i, c := range a.code.calls {
		if _, ok := c.op.(view); ok {
			continue
		}
		var err error
		if a.kernels[i], err = a.executor.Prepare(c.op, typesOf(c.in), typesOf(c.out)); err != nil {
			return err
		}
	}
	return nil
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
	c := a.code
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
	if c.reports != nil {
		segments := stateSegments(c.states)
		a.stats = alignedFloats(extent(segments))
		for i, b := range outside(c.reports) {
			s := segments[i]
			b.F = a.stats[s.Offset : s.Offset+s.Len : s.Offset+s.Len]
		}
	}
}

// rootOf follows shared memory to the value that owns it.
func (a *assembly) rootOf(n *Node) *Node {
	for a.root[n] != nil {
		n = a.root[n]
	}
	return n
}

// shareMemory finds the views, when every value is read last, and the results that may be written
// over an input because nobody reads that input afterwards.
func (a *assembly) shareMemory() {
	forward := 0 // the last call of the forward pass
	for i, c := range a.code.calls {
		if !c.backward {
			forward = i
		}
		if _, ok := c.op.(view); ok {
			a.root[c.out[0]] = a.rootOf(c.in[0])
		}
		for _, n := range c.in {
			a.last[a.rootOf(n)] = i
		}
	}
	for _, n := range []*Node{a.code.loss, a.code.logits} {
		if n != nil {
			a.last[a.rootOf(n)] = max(a.last[a.rootOf(n)], forward+1) // read after the pass
		}
	}
	for i, c := range a.code.calls {
		o, ok := c.op.(overwriting)
		if !ok {
			continue
		}
		from, to := a.rootOf(c.in[o.overwrites()]), c.out[0]
		inArena := a.home[from] == nil && a.home[to] == nil
		if inArena && a.last[from] == i && from.typ.Shape.Elems() == to.typ.Shape.Elems() {
			a.root[to] = from
			a.last[from] = max(i, a.last[to])
		}
	}
}

// layOut plans the arena: one block per value and one per scratch buffer.
func (a *assembly) layOut(arrange planner) {
	var blocks []block
	place := func(size, first, last int) *Buffer {
		b := &Buffer{}
		blocks = append(blocks, block{size: size, first: first, last: last})
		a.buffers = append(a.buffers, b)
		return b
	}
	a.scratch = make([]*Buffer, len(a.code.calls))
	for i, c := range a.code.calls {
		for _, n := range c.out {
			if a.rootOf(n) == n && a.home[n] == nil {
				a.home[n] = place(n.typ.Shape.Elems(), i, max(i, a.last[n]))
			}
		}
		a.scratch[i] = &Buffer{}
		if s := a.kernels[i].Scratch; s > 0 {
			a.scratch[i] = place(s, i, i)
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
	finals := a.finals()
	a.steps = make([]step, 0, len(a.code.calls))
	for i, c := range a.code.calls {
		k := a.kernels[i]
		if k.Run == nil {
			continue
		}
		a.steps = append(a.steps, step{run: k.Run, final: finals[i],
			args: Args{a.buffersOf(c.in), a.buffersOf(c.out), a.scratch[i]}})
		if !c.backward {
			a.forward = len(a.steps)
		}
		in, out := typesOf(c.in), typesOf(c.out)
		a.costs = append(a.costs, OpCost{Op: c.op.Name(), Layer: c.label, Backward: c.backward,
			In: in, Out: out, Cost: c.op.Cost(in, out)})
	}
	a.losses, a.logits = a.output(a.code.loss), a.output(a.code.logits)
}

func (a *assembly) output(n *Node) output {
	if n == nil {
		return output{}
	}
	return output{from: a.buffer(n), host: make([]float32, n.typ.Shape.Elems())}
}

// finals returns the parameters whose gradients each call makes final, and sets order.
func (a *assembly) finals() map[int][]int {
	number := map[*Node]int{}
	for p, n := range a.code.gradients {
		number[n] = p
	}
	finals := map[int][]int{}
	for i, c := range a.code.calls {
		for _, n := range c.out {
			if p, ok := number[n]; ok {
				finals[i] = append(finals[i], p)
				a.order = append(a.order, p)
			}
		}
	}
	if a.code.gradients == nil {
		for p := range a.code.paramNodes {
			a.order = append(a.order, p)
		}
	}
	return finals
}
