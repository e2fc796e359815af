package graph

import "slices"

// lowering copies the calls that the roots need into a new graph, giving each op its training or
// inference form.
type lowering struct {
	to      *code
	train   bool
	renamed map[*Node]*Node
}

// lower returns the code of g for o, without a backward pass.
func lower(g *Graph, o Options) *code {
	to := &code{Graph: New()}
	l := &lowering{to: to, train: o.Train, renamed: map[*Node]*Node{}}
	needed := reach(o.Loss, o.Logits)
	for _, n := range g.inputs {
		if isRead(n, needed) {
			l.renamed[n] = to.addInput(n.name, n.typ)
		} else {
			to.unread = append(to.unread, n.name)
		}
	}
	to.sites = g.sites
	to.texts = texts{l.renamed[g.texts.tokens], l.renamed[g.texts.starts], l.renamed[g.texts.splits],
		g.texts.most}
	for i, n := range g.paramNodes {
		l.renamed[n] = to.Parameter(g.params[i])
	}
	for i, n := range g.stateNodes {
		l.renamed[n] = to.State(g.states[i])
	}
	if o.Train {
		to.reports = make([]*Node, len(g.stateNodes))
	}
	for _, c := range g.calls {
		if needed[c] {
			l.call(c)
		}
	}
	for _, p := range g.params {
		to.frozen = append(to.frozen, o.Frozen != nil && o.Frozen(p))
	}
	to.loss, to.logits = l.renamed[o.Loss], l.renamed[o.Logits]
	return to
}

// call copies one call.
func (l *lowering) call(c *call) {
	in := make([]*Node, len(c.in))
	for i, n := range c.in {
		in[i] = l.renamed[n]
	}
	var out []*Node
	if o, ok := c.op.(lowerer); ok {
		out = o.lower(l, in)
	} else {
		out = l.to.apply(c.op, in...)
	}
	for i, n := range c.out {
		l.renamed[n] = out[i]
	}
}

// report makes value the batch statistic that updates state.
func (l *lowering) report(state, value *Node) { l.to.reports[state.number] = value }

// isRead reports whether one of calls reads n.
func isRead(n *Node, calls map[*call]bool) bool {
	for c := range calls {
		if slices.Contains(c.in, n) {
			return true
		}
	}
	return false
}

// reach returns the calls that roots depend on.
func reach(roots ...*Node) map[*call]bool {
	found := map[*call]bool{}
	var visit func(n *Node)
	visit = func(n *Node) {
		if n == nil || n.call == nil || found[n.call] {
			return
		}
		found[n.call] = true
		for _, in := range n.call.in {
			visit(in)
		}
	}
	for _, n := range roots {
		visit(n)
	}
	return found
}
