package graph

import (
	"errors"
	"slices"
)

// Note: recompute
//
// A forward result that the backward pass reads is alive in between, and these results are most of an
// arena. Many are cheap to compute again from others that have to be kept anyway: a normalised map from the
// convolution's result, a residual sum from two of those. While the arena is larger than its limit, the
// compiler finds the call at which most memory is in use. Among the results that are idle there it drops
// the one that takes the least time per byte to recompute. The call of a dropped result is repeated right
// before its first reader in the backward pass, together with the calls that lead to it from kept values;
// all readers share the repetition. So a chain of residual sums comes back stage by stage, when the memory
// of the later stages is free again.
//
// The repeated kernel reads the same values as before and gives the same bits. The choice depends
// on shapes and nominal rates alone.

// Nominal rates of one core, and the longest time that saving a byte may take: results of batch norm,
// pooling and residual sums lie below it, 1x1 convolutions up to some 100 channels as well, other
// convolutions and whole chains of layers above.
const (
	nominalFLOPsPerSec = 100e9
	nominalBytesPerSec = 10e9
	mostSecsPerByte    = 1e-9
)

// repeating is an op with several results that can compute the first without the others, to the same bits.
// Any other op is repeated as a whole.
type repeating interface {
	// repeated returns the op that computes the first result alone, from the same inputs.
	repeated() Op
}

// recomputation rewrites the backward pass so that it repeats forward calls.
type recomputation struct {
	*assembly
	code    *code
	forward []*call
	order   []*call           // the backward calls before any rewriting
	reads   map[*call][]*Node // their inputs then
	kept    map[*Node]bool    // forward values that the backward pass reads
	dropped map[*Node]bool    // kept values to recompute instead
	twins   map[repetition]*call
	err     error // of preparing a twin's kernel

	again map[*Node]*Node // results of the repetitions in the present rewriting
	calls []*call         // of the present rewriting
}

// repetition is what a twin repeats: a call, or its first result alone.
type repetition struct {
	of    *call
	alone bool
}

// recompute rewrites the code until an arena planned by arrange holds at most limit floats, or
// nothing more helps.
func (a *assembly) recompute(limit int, arrange planner) error {
	r := newRecomputation(a)
	candidates := r.candidates()
	l := analyse(r.code)
	blocks, _ := l.blocks(a.kernels)
	most, at := peak(blocks)
	for most > limit || arrange(blocks).size > limit {
		idle := l.idle(at)
		i := slices.IndexFunc(candidates, func(n *Node) bool { return idle[l.rootOf(n)] })
		if i < 0 {
			break
		}
		n := candidates[i]
		candidates = slices.Delete(candidates, i, i+1)
		r.dropped[n] = true
		r.rewrite()
		trial := analyse(r.code)
		trialBlocks, _ := trial.blocks(a.kernels)
		if higher, place := peak(trialBlocks); higher <= most {
			l, blocks, most, at = trial, trialBlocks, higher, place
			continue
		}
		delete(r.dropped, n) // its own inputs take more memory than it frees
		r.rewrite()
	}
	return r.err
}

func newRecomputation(a *assembly) *recomputation {
	r := &recomputation{assembly: a, code: a.Program.code, reads: map[*call][]*Node{},
		kept: map[*Node]bool{}, dropped: map[*Node]bool{}, twins: map[repetition]*call{}}
	for _, c := range r.code.calls {
		if !c.backward {
			r.forward = append(r.forward, c)
			continue
		}
		r.order = append(r.order, c)
		r.reads[c] = c.in
		for _, n := range c.in {
			r.keep(n)
		}
	}
	return r
}

// keep notes that the backward pass reads n, and so what n is a view of.
func (r *recomputation) keep(n *Node) {
	if n.call == nil || n.call.backward {
		return
	}
	r.kept[n] = true
	if _, ok := n.call.op.(view); ok {
		r.keep(n.call.in[0])
	}
}

// candidates returns the values worth recomputing, ordered by time per byte, then in forward order.
func (r *recomputation) candidates() []*Node {
	pinned := analyse(r.code).pinned
	var found []*Node
	perByte := map[*Node]float64{}
	for _, c := range r.forward {
		for _, n := range c.out {
			_, isView := c.op.(view)
			if !r.kept[n] || pinned[n] || isView || n == r.code.loss || n == r.code.logits {
				continue
			}
			perByte[n] = r.seconds(c) / float64(n.typ.Bytes())
			if perByte[n] <= mostSecsPerByte {
				found = append(found, n)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b *Node) int {
		switch {
		case perByte[a] < perByte[b]:
			return -1
		case perByte[a] > perByte[b]:
			return 1
		}
		return 0
	})
	return found
}

// seconds estimates the time to repeat c and the calls of those of its inputs that are not kept.
func (r *recomputation) seconds(c *call) float64 {
	cost := c.op.cost(typesOf(c.in), typesOf(c.out))
	s := float64(cost.FLOPs)/nominalFLOPsPerSec + float64(cost.Bytes)/nominalBytesPerSec
	for _, n := range c.in {
		if n.call != nil && !r.kept[n] {
			s += r.seconds(n.call)
		}
	}
	return s
}

// rewrite builds the code anew for the present choice of dropped values.
func (r *recomputation) rewrite() {
	r.calls, r.again = slices.Clone(r.forward), map[*Node]*Node{}
	for _, c := range r.order {
		c.in = r.readable(r.reads[c])
		r.calls = append(r.calls, c)
	}
	r.code.calls = r.calls
}

// readable returns what the backward pass reads in the place of nodes, repeating calls as needed.
func (r *recomputation) readable(nodes []*Node) []*Node {
	in := make([]*Node, len(nodes))
	for i, n := range nodes {
		in[i] = r.read(n)
	}
	return in
}

func (r *recomputation) read(n *Node) *Node {
	if n.call == nil || n.call.backward {
		return n
	}
	if twin := r.again[n]; twin != nil {
		return twin
	}
	_, isView := n.call.op.(view)
	if r.kept[n] && !r.dropped[n] && !isView {
		return n
	}
	in := r.readable(n.call.in)
	if isView && in[0] == n.call.in[0] {
		return n // of a value that is kept
	}
	twin := r.twin(n)
	twin.in = in
	for i, out := range twin.out {
		from := n.call.out[i]
		if isMissing := !r.kept[from] || r.dropped[from]; isMissing && r.again[from] == nil {
			r.again[from] = out
		}
	}
	r.calls = append(r.calls, twin)
	return r.again[n]
}

// twin returns the repetition of the call that computes n, the same one each time. The caller sets its
// inputs. It runs the same kernel unless its op differs; they can share it because a program runs one call
// at a time.
func (r *recomputation) twin(n *Node) *call {
	c, results := n.call, n.call.out
	o, alone := c.op.(repeating)
	alone = alone && n == c.out[0]
	key := repetition{c, alone}
	if t := r.twins[key]; t != nil {
		return t
	}
	t := &call{op: c.op, in: c.in, label: c.label, backward: true, again: true}
	if alone {
		t.op, results = o.repeated(), c.out[:1]
	}
	for i, n := range results {
		t.out = append(t.out, &Node{graph: n.graph, typ: n.typ, number: i, call: t})
	}
	r.twins[key] = t
	r.kernels[t] = r.kernels[c]
	if alone {
		r.err = errors.Join(r.err, r.prepareCall(t))
	}
	return t
}

// idle returns the values that own memory and are not used around call number at: computed and read by
// forward calls before, and read next by a backward call after.
func (l *liveness) idle(at int) map[*Node]bool {
	idle := map[*Node]bool{}
	for i, c := range l.code.calls {
		if c.backward {
			break
		}
		for _, n := range c.out {
			idle[l.rootOf(n)] = i < at
		}
	}
	for i, c := range l.code.calls {
		for _, n := range c.in {
			isBefore := !c.backward && i < at
			isAfter := c.backward && i > at
			if !isBefore && !isAfter {
				delete(idle, l.rootOf(n))
			}
		}
	}
	return idle
}

// peak returns the largest number of floats alive at one call, a lower bound of any plan, and the first
// such call.
func peak(blocks []block) (most, at int) {
	end := 0
	for _, b := range blocks {
		end = max(end, b.last)
	}
	change := make([]int, end+2)
	for _, b := range blocks {
		change[b.first] += alignUp(b.size)
		change[b.last+1] -= alignUp(b.size)
	}
	alive := 0
	for i, d := range change {
		if alive += d; alive > most {
			most, at = alive, i
		}
	}
	return most, at
}
