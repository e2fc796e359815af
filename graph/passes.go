package graph

import "slices"

// pass is one rewriting of lowered code that leaves every root's value as it was.
type pass struct {
	name    string
	rewrite func(c *code)
}

// passes are the rewritings every program goes through, in order.
var passes = []pass{
	{"multiply by one", dropMultiplyByOne},
	{"fold add", foldAdd},
	{"fold relu", foldReLU},
	{"fold norm", foldNorm},
	{"fold mask", foldMask},
	{"fold gelu", foldGELU},
	{"fold residual mask", foldResidualMask},
	{"fold pool", foldPool},
	{"fold pool mask", foldPoolMask},
	{"fold statistics", foldStatistics},
	{"drop unused", dropUnused},
	{"fold sum of gradients", foldGradientSum},
	{"fold sums of batch norm", foldNormSums},
	{"drop gradients of frozen parameters", dropFrozen},
	{"finish gradients early", finishGradientsEarly},
}

// replace makes every reader of old read new instead.
func (c *code) replace(old, new *Node) {
	for _, r := range c.calls {
		for i, n := range r.in {
			if n == old {
				r.in[i] = new
			}
		}
	}
	for _, root := range c.roots() {
		if *root == old {
			*root = new
		}
	}
}

// roots returns pointers to the fields of c that name the values read after a pass.
func (c *code) roots() []**Node {
	roots := []**Node{&c.loss, &c.logits}
	for i := range c.gradients {
		roots = append(roots, &c.gradients[i])
	}
	for i := range c.reports {
		roots = append(roots, &c.reports[i])
	}
	return roots
}

// onlyReader returns the call that reads n, if there is exactly one and n is no root.
func (c *code) onlyReader(n *Node) *call {
	if readers := c.readers(n); len(readers) == 1 {
		return readers[0]
	}
	return nil
}

// readers returns the calls that read n, each as often as it reads n. For a root it returns none, since a
// root is read from outside too.
func (c *code) readers(n *Node) []*call {
	for _, root := range c.roots() {
		if *root == n {
			return nil
		}
	}
	var readers []*call
	for _, r := range c.calls {
		for _, in := range r.in {
			if in == n {
				readers = append(readers, r)
			}
		}
	}
	return readers
}

// remove takes a call out of the code.
func (c *code) remove(dead *call) {
	c.calls = slices.DeleteFunc(slices.Clone(c.calls), func(x *call) bool { return x == dead })
}

// dropUnused removes the calls whose results nobody needs: above all the gradients of inputs that
// are not trained, such as the first convolution's backward-data.
func dropUnused(c *code) {
	var roots []*Node
	for _, r := range c.roots() {
		roots = append(roots, *r)
	}
	needed := reach(roots...)
	c.calls = slices.DeleteFunc(slices.Clone(c.calls), func(x *call) bool { return !needed[x] })
}

// dropFrozen removes the calls that only gradients of frozen parameters need. Zeros take the place of such
// a gradient, and the order of all gradients stays. A gradient stays if another result of its call is
// needed. The pass runs after the folds, so that the remaining calls are the same as without frozen
// parameters.
func dropFrozen(c *code) {
	if !slices.Contains(c.frozen, true) {
		return
	}
	frozen := map[*Node]int{}
	for p, n := range c.gradients {
		if c.frozen[p] {
			frozen[n] = p
		}
	}
	var roots []*Node
	for _, r := range c.roots() {
		if _, is := frozen[*r]; !is {
			roots = append(roots, *r)
		}
	}
	needed := reach(roots...)
	var calls []*call
	for _, x := range c.calls {
		if needed[x] {
			calls = append(calls, x)
			continue
		}
		for _, n := range x.out {
			if p, is := frozen[n]; is {
				zeros := &call{op: FillOp{typ: n.typ}, label: x.label, backward: true}
				c.gradients[p] = &Node{graph: n.graph, typ: n.typ, call: zeros}
				zeros.out = []*Node{c.gradients[p]}
				calls = append(calls, zeros)
			}
		}
	}
	c.calls = calls
}

// finishGradientsEarly moves each call that completes a parameter's gradient to the earliest place
// its inputs allow, so that its exchange can start while the backward pass goes on.
func finishGradientsEarly(c *code) {
	finishes := func(x *call) bool {
		return slices.ContainsFunc(x.out, func(n *Node) bool {
			return slices.Contains(c.gradients, n)
		})
	}
	for i, moved := range c.calls {
		if !moved.backward || !finishes(moved) {
			continue
		}
		to := i
		for ; to > 0; to-- {
			before := c.calls[to-1]
			if !before.backward || feeds(before, moved) || finishes(before) {
				break
			}
		}
		copy(c.calls[to+1:i+1], c.calls[to:i])
		c.calls[to] = moved
	}
}

// feeds reports whether b reads a result of a.
func feeds(a, b *call) bool {
	return slices.ContainsFunc(b.in, func(n *Node) bool { return n.call == a })
}
