package comm

import "lockstep/shard"

// halvingAllReduce exchanges halves with the partners at distance 1, 2, 4, ...: in each of log2 p
// steps the span that a rank sums halves and the run of shards that it covers doubles. The parts
// are then collected in the opposite order.
//
// Distance 1 comes first, so that the two runs are adjacent and their subtrees merge along the
// tree. If p is not a power of two and k is the largest power below it, the first p-k pairs of
// adjacent ranks fold: the odd rank sends its pieces to the even one and receives the result at the
// end. 2 log2 k steps and 2n(k-1)/k elements sent with one piece per rank; folding adds two steps
// and up to n elements. The bits do not depend on the number of ranks. After Rabenseifner 2004.
func halvingAllReduce(plan shard.Plan, rank, elems int) *Schedule {
	h := newHalving(plan)
	s := &Schedule{Own: len(plan.Pieces(rank))}
	held := ownRun(plan.Pieces(rank))
	span := Span{0, elems}
	isFolded := rank < 2*h.folds
	if isFolded && rank%2 == 1 {
		var out, in Step
		for i := range s.Own {
			out.send(rank-1, i, span)
		}
		in.receive(rank-1, 0, span)
		s.Steps = []Step{out, in}
		return s
	}
	if isFolded {
		var st Step
		odd := s.receiveRun(&st, rank+1, plan.Pieces(rank+1), span)
		held = join(&st, []run{held, odd}, span, plan.Shards())
		s.Steps = append(s.Steps, st)
	}
	v := h.virtual(rank)
	spans := []Span{span}
	for d := 1; d < h.power; d *= 2 {
		held, span = h.halve(s, held, v, d, span)
		spans = append(spans, span)
	}
	for d, i := h.power/2, len(spans)-1; d >= 1; d, i = d/2, i-1 {
		peer := h.rank(v ^ d)
		var st Step
		st.send(peer, 0, spans[i])
		st.receive(peer, 0, spans[i-1].without(spans[i]))
		s.Steps = append(s.Steps, st)
	}
	if isFolded {
		var st Step
		st.send(rank+1, 0, Span{0, elems})
		s.Steps = append(s.Steps, st)
	}
	return s
}

// halving numbers the ranks that remain after folding: virtual rank v < folds stands for ranks 2v
// and 2v+1.
type halving struct {
	plan         shard.Plan
	power, folds int
}

func newHalving(plan shard.Plan) halving {
	power := 1
	for power*2 <= plan.Workers() {
		power *= 2
	}
	return halving{plan, power, plan.Workers() - power}
}

func (h halving) virtual(rank int) int {
	if rank < 2*h.folds {
		return rank / 2
	}
	return rank - h.folds
}

func (h halving) rank(v int) int {
	if v < h.folds {
		return 2 * v
	}
	return v + h.folds
}

// nodes returns the subtrees that the block of d virtual ranks around v holds after merging.
func (h halving) nodes(v, d int) []shard.Node {
	first := v &^ (d - 1)
	end := h.plan.Workers()
	if first+d < h.power {
		end = h.rank(first + d)
	}
	return nodesOf(h.plan, h.rank(first), end)
}

// halve exchanges half the span with the virtual rank at distance d and merges the two runs.
func (h halving) halve(s *Schedule, held run, v, d int, span Span) (run, Span) {
	peer := v ^ d
	middle := (span.Lo + span.Hi) / 2
	keep, give := Span{span.Lo, middle}, Span{middle, span.Hi}
	if v > peer {
		keep, give = give, keep
	}
	var st Step
	for _, b := range held.buffers {
		st.send(h.rank(peer), b, give)
	}
	runs := []run{held, s.receiveRun(&st, h.rank(peer), h.nodes(peer, d), keep)}
	if v > peer {
		runs[0], runs[1] = runs[1], runs[0]
	}
	held = join(&st, runs, keep, h.plan.Shards())
	s.Steps = append(s.Steps, st)
	return held, keep
}

// without returns the other half of s, of which half is one end.
func (s Span) without(half Span) Span {
	if half.Lo == s.Lo {
		return Span{half.Hi, s.Hi}
	}
	return Span{s.Lo, half.Lo}
}
