package graph

// liveness says when each value of a code is needed, and which values share memory.
type liveness struct {
	code   *code
	pinned map[*Node]bool  // values that live outside the arena
	last   map[*Node]int   // the call that reads a value last, views counted for what they view
	root   map[*Node]*Node // the value whose memory a view or an overwriting result shares
}

// analyse finds the views, when every value is read last, and the results that may be written over
// an input because nobody reads that input afterwards.
func analyse(c *code) *liveness {
	l := &liveness{code: c, pinned: map[*Node]bool{}, last: map[*Node]int{}, root: map[*Node]*Node{}}
	for _, nodes := range [][]*Node{c.inputs, c.paramNodes, c.stateNodes, c.gradients, c.reports} {
		for _, n := range nodes {
			l.pinned[n] = true
		}
	}
	for _, k := range c.constants {
		l.pinned[k.node] = true
	}
	forward := 0 // the last call of the forward pass
	for i, c := range c.calls {
		if !c.backward {
			forward = i
		}
		if _, ok := c.op.(view); ok {
			l.root[c.out[0]] = l.rootOf(c.in[0])
		}
		for _, n := range c.in {
			l.last[l.rootOf(n)] = max(l.last[l.rootOf(n)], i+c.trails)
		}
	}
	read := forward + 1
	if c.isLate {
		read = len(c.calls)
	}
	for _, n := range []*Node{c.loss, c.logits} {
		if n != nil {
			l.last[l.rootOf(n)] = max(l.last[l.rootOf(n)], read) // read after the pass
		}
	}
	for i, c := range c.calls {
		o, ok := c.op.(overwriting)
		if !ok {
			continue
		}
		from, to := l.rootOf(c.in[o.overwrites()]), c.out[0]
		inArena := !l.pinned[from] && !l.pinned[to] && from.typ.Ragged == to.typ.Ragged &&
			from.typ.DType == to.typ.DType
		if inArena && l.last[from] == i && from.typ.floats() == to.typ.floats() {
			l.root[to] = from
			l.last[from] = max(i, l.last[to])
		}
	}
	return l
}

// rootOf follows shared memory to the value that owns it.
func (l *liveness) rootOf(n *Node) *Node {
	for l.root[n] != nil {
		n = l.root[n]
	}
	return n
}

// tenant is who uses a block: a value or, if that is nil, a call as its scratch.
type tenant struct {
	value *Node
	call  *call
}

// blocks lists the blocks of an arena for the code, each with its tenant: one per value that owns memory
// and one per scratch buffer.
func (l *liveness) blocks(kernels map[*call]Kernel) (blocks []block, tenants []tenant) {
	for i, c := range l.code.calls {
		for _, n := range c.out {
			if l.rootOf(n) == n && !l.pinned[n] {
				blocks = append(blocks,
					block{size: n.typ.floats(), first: i, last: max(i, l.last[n])})
				tenants = append(tenants, tenant{value: n})
			}
		}
		if s := kernels[c].Scratch; s > 0 {
			blocks = append(blocks, block{size: s, first: i, last: i})
			tenants = append(tenants, tenant{call: c})
		}
	}
	return blocks, tenants
}
