package comm

import "lockstep/shard"

// directReduceScatter sums all pieces of each part at the rank that owns the part: buffer 0 of rank
// r ends with the sum over Part(elems, p, r).
//
// One step: each rank sends every peer its pieces of that peer's part, p-1 messages per piece, and
// adds what it receives in tree order. With one piece per rank it sends n - n/p elements.
func directReduceScatter(plan shard.Plan, rank, elems int) *Schedule {
	p := plan.Workers()
	own := plan.Pieces(rank)
	s := &Schedule{Own: len(own)}
	part := Part(elems, p, rank)
	var st Step
	for d := 1; d < p; d++ {
		peer := (rank + d) % p
		for i := range own {
			st.send(peer, i, Part(elems, p, peer))
		}
	}
	runs := make([]run, p)
	runs[rank] = ownRun(own)
	for d := 1; d < p; d++ {
		peer := (rank - d + p) % p
		runs[peer] = s.receiveRun(&st, peer, plan.Pieces(peer), part)
	}
	join(&st, runs, part, plan.Shards())
	s.Steps = []Step{st}
	return s
}

// directAllReduce is directReduceScatter, followed by a step in which every rank sends its part of
// the result to all others.
//
// Two steps, 2(p-1) messages; with one piece per rank, 2n(p-1)/p elements sent, which is the lower
// bound. The bits do not depend on the number of ranks.
func directAllReduce(plan shard.Plan, rank, elems int) *Schedule {
	s := directReduceScatter(plan, rank, elems)
	p := plan.Workers()
	s.Steps = append(s.Steps, exchangeParts(rank, p, func(r int) Span { return Part(elems, p, r) }))
	return s
}

// exchangeParts is the step in which every rank sends its part of buffer 0 to all others: p-1
// messages.
func exchangeParts(rank, p int, part func(rank int) Span) Step {
	var st Step
	for d := 1; d < p; d++ {
		to, from := (rank+d)%p, (rank-d+p)%p
		st.send(to, 0, part(rank))
		st.receive(from, 0, part(from))
	}
	return st
}
