package comm

import "lockstep/shard"

// Span is the half-open range [Lo, Hi) of a vector's elements.
type Span struct{ Lo, Hi int }

// Len returns the number of elements.
func (s Span) Len() int { return s.Hi - s.Lo }

// Part returns part i of n elements cut into parts parts, whose lengths differ by at most one.
func Part(n, parts, i int) Span { return Span{n * i / parts, n * (i + 1) / parts} }

// Transfer moves one span of one buffer to or from a peer.
type Transfer struct {
	Peer, Buffer int
	Span
}

// Addition adds a span of one buffer to the same span of another: Into += From.
type Addition struct {
	Into, From int
	Span
}

// Step is a set of transfers that may all be in progress at once, followed by additions in order.
// The transfers from one rank to another keep their order, which is the same at both ends.
type Step struct {
	Sends, Receives []Transfer
	Sums            []Addition
}

// Schedule is what one rank does in one collective. Buffers 0 to Own-1 are the caller's and cover
// the whole vector; buffer 0 ends with the result. The others are scratch.
type Schedule struct {
	Steps   []Step
	Own     int
	Scratch []Span // Scratch[i] is the span that buffer Own+i covers
}

// Cost is the number of steps of a schedule and of the elements that one rank sends and receives.
type Cost struct {
	Steps          int
	Sent, Received int
}

// Cost counts the steps and elements of s.
func (s *Schedule) Cost() Cost {
	var c Cost
	for _, st := range s.Steps {
		if len(st.Sends)+len(st.Receives) > 0 {
			c.Steps++
		}
		for _, t := range st.Sends {
			c.Sent += t.Len()
		}
		for _, t := range st.Receives {
			c.Received += t.Len()
		}
	}
	return c
}

// send and receive omit empty spans; both ends compute the same spans.
func (st *Step) send(peer, buffer int, s Span) {
	if s.Len() > 0 {
		st.Sends = append(st.Sends, Transfer{peer, buffer, s})
	}
}

func (st *Step) receive(peer, buffer int, s Span) {
	if s.Len() > 0 {
		st.Receives = append(st.Receives, Transfer{peer, buffer, s})
	}
}

// scratch adds a buffer for span s.
func (s *Schedule) scratch(span Span) (buffer int) {
	s.Scratch = append(s.Scratch, span)
	return s.Own + len(s.Scratch) - 1
}

// run is a contiguous run of shards held as subtrees of the fixed tree, each in a buffer.
type run struct {
	nodes   []shard.Node
	buffers []int
}

// ownRun is the caller's pieces in buffers 0, 1, ...
func ownRun(nodes []shard.Node) run {
	r := run{nodes: nodes, buffers: make([]int, len(nodes))}
	for i := range r.buffers {
		r.buffers[i] = i
	}
	return r
}

// receiveRun receives every subtree of a peer's run into fresh scratch.
func (s *Schedule) receiveRun(st *Step, peer int, nodes []shard.Node, span Span) run {
	r := run{nodes: nodes, buffers: make([]int, len(nodes))}
	for i := range nodes {
		r.buffers[i] = s.scratch(span)
		st.receive(peer, r.buffers[i], span)
	}
	return r
}

// join merges runs, given left to right, as far as the tree allows, and appends the additions to
// st. A sum that involves buffer 0 stays in buffer 0, so a complete sum ends there: a+b and b+a
// have the same bits.
func join(st *Step, runs []run, span Span, shards int) run {
	var all run
	for _, r := range runs {
		all.nodes = append(all.nodes, r.nodes...)
		all.buffers = append(all.buffers, r.buffers...)
	}
	sums, rest := shard.Reduce(all.nodes, shards)
	for _, sum := range sums {
		into, from := all.buffers[sum.Into], all.buffers[sum.From]
		if from == 0 {
			into, from = from, into
		}
		if span.Len() > 0 {
			st.Sums = append(st.Sums, Addition{into, from, span})
		}
		all.buffers[sum.Into] = into
		all.nodes[sum.Into].Hi = all.nodes[sum.From].Hi
	}
	var left run
	for _, i := range rest {
		left.nodes = append(left.nodes, all.nodes[i])
		left.buffers = append(left.buffers, all.buffers[i])
	}
	return left
}

// split splits transfers that are longer than their peer's limit of elements.
func (s *Schedule) split(limit func(peer int) int) {
	cut := func(ts []Transfer) []Transfer {
		var out []Transfer
		for _, t := range ts {
			for most := limit(t.Peer); t.Len() > most; {
				out = append(out, Transfer{t.Peer, t.Buffer, Span{t.Lo, t.Lo + most}})
				t.Lo += most
			}
			out = append(out, t)
		}
		return out
	}
	for i := range s.Steps {
		s.Steps[i].Sends, s.Steps[i].Receives = cut(s.Steps[i].Sends), cut(s.Steps[i].Receives)
	}
}
