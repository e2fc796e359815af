package comm

import (
	"math/bits"

	"lockstep/shard"
)

// Theory returns the theoretical cost of an all-reduce of n elements for one rank of a topology, if
// every rank contributes one piece. Reports print it beside the measured traffic. Elements sent and
// received are exact for every n; steps hold if n is large enough that no rank's part is empty.
// "auto" stands for the result of Resolve.
func Theory(algorithm string, t Topology, rank, n int) Cost {
	p := t.Size()
	if p == 1 {
		return Cost{}
	}
	part := func(r int) int { return Part(n, p, (r+p)%p).Len() }
	switch Resolve(algorithm, t, 4*n) {
	case "direct": // the others' parts, then the own part to all; received in the opposite order
		c := n + (p-2)*part(rank)
		return Cost{Steps: 2, Sent: c, Received: c}
	case "gather":
		if rank == 0 {
			return Cost{Steps: 2, Sent: n * (p - 1), Received: n * (p - 1)}
		}
		return Cost{Steps: 2, Sent: n, Received: n}
	case "one-shot":
		return Cost{Steps: 1, Sent: n * (p - 1), Received: n * (p - 1)}
	case "ring": // each half omits one part
		return Cost{Steps: 2 * (p - 1), Sent: 2*n - part(rank) - part(rank+1),
			Received: 2*n - part(rank) - part(rank-1)}
	case "tree":
		return treeTheory(p, rank, n)
	case "halving-doubling":
		return halvingTheory(p, rank, n)
	case "hierarchical":
		return hierarchicalTheory(t, rank, n)
	}
	return Cost{}
}

// Busiest returns the maxima over all ranks of the steps, and of the elements sent and received.
func Busiest(size int, cost func(rank int) Cost) Cost {
	var most Cost
	for rank := range size {
		c := cost(rank)
		most.Steps = max(most.Steps, c.Steps)
		most.Sent, most.Received = max(most.Sent, c.Sent), max(most.Received, c.Received)
	}
	return most
}

// treeTheory counts a rank's children on the way up, at distances that divide the rank, and on the
// way down, at distances above it. All ranks but 0 have one parent in both.
func treeTheory(p, rank, n int) Cost {
	up, down := 0, 0
	for d := 1; d < p; d *= 2 {
		if rank%(2*d) == 0 && rank+d < p {
			up++
		}
		if rank < d && rank+d < p {
			down++
		}
	}
	parents := min(rank, 1)
	return Cost{Steps: up + down + 2*parents, Sent: n * (parents + down), Received: n * (up + parents)}
}

// halvingTheory adds up the halvings. A rank that holds m subtrees at distance d sends one half of
// each and receives its partner's other half; on the way back it sends the half that it kept and
// receives the other. The odd rank of a folded pair only sends its piece and receives the sum.
func halvingTheory(p, rank, n int) Cost {
	h := newHalving(onePiece(p))
	isFolded := rank < 2*h.folds
	if isFolded && rank%2 == 1 {
		return Cost{Steps: 2, Sent: n, Received: n}
	}
	c := Cost{Steps: 2 * (bits.Len(uint(h.power)) - 1)}
	if isFolded {
		c.Steps += 2
		c.Sent, c.Received = n, n
	}
	v, span := h.virtual(rank), Span{0, n}
	for d := 1; d < h.power; d *= 2 {
		middle := (span.Lo + span.Hi) / 2
		keep, give := Span{span.Lo, middle}, Span{middle, span.Hi}
		if v&d != 0 {
			keep, give = give, keep
		}
		c.Sent += len(h.nodes(v, d))*give.Len() + keep.Len()
		c.Received += len(h.nodes(v^d, d))*keep.Len() + give.Len()
		span = keep
	}
	return c
}

// hierarchicalTheory adds up what a rank sends as owner of some columns. Within its host it sends
// the other ranks' slices of the vector, and at the end its own slice to each of them. Between H
// hosts it sends, for each of its columns, the other owners' parts of each subtree that its host
// holds, and its own part H-1 times.
func hierarchicalTheory(t Topology, rank, n int) Cost {
	h := hierarchy{t, onePiece(t.Size()), n}
	own, all := t.place[rank].host, 0
	for host := range t.hosts {
		all += len(h.nodes(host))
	}
	held, peers := len(h.nodes(own)), len(t.peers(rank))-1
	slice := h.slice(rank).Len()
	c := Cost{Sent: n - slice + peers*slice, Received: n - slice + peers*slice}
	lo, hi := h.columns(rank)
	for column := lo; column < hi; column++ {
		whole, part := h.column(column).Len(), h.part(column, own).Len()
		c.Sent += held*(whole-part) + (len(t.hosts)-1)*part
		c.Received += (all-held)*part + whole - part
	}
	if len(t.hosts) > 1 {
		c.Steps += 2
	}
	if peers > 0 {
		c.Steps += 2
	}
	return c
}

// onePiece is the plan of p ranks with one shard each.
func onePiece(p int) shard.Plan {
	plan, err := shard.Cut(p, p)
	if err != nil {
		panic(err) // a topology has ranks
	}
	return plan
}
