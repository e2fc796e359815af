package comm

import "lockstep/shard"

// ringAllReduce adds the rank's own pieces left to right, then passes partial sums around the ring,
// and then the result.
//
// 2(p-1) steps, 2n(p-1)/p elements sent, to one neighbour only. The sum of a part starts at the
// rank after its owner and follows the ring, so all ranks get the same bits, but the order depends
// on the number of ranks: ring is the one algorithm that is not exact across world sizes. After
// Patarasuk and Yuan 2009, section 3.
func ringAllReduce(plan shard.Plan, rank, elems int) *Schedule {
	p := plan.Workers()
	s := &Schedule{Own: len(plan.Pieces(rank))}
	var local Step
	for i := 1; i < s.Own && elems > 0; i++ {
		local.Sums = append(local.Sums, Addition{0, i, Span{0, elems}})
	}
	s.Steps = append(s.Steps, local)
	to, from := (rank+1)%p, (rank-1+p)%p
	part := func(i int) Span { return Part(elems, p, ((i%p)+p)%p) }
	for i := range p - 1 {
		var st Step
		st.send(to, 0, part(rank-i-1))
		in := part(rank - i - 2)
		buffer := s.scratch(in)
		st.receive(from, buffer, in)
		if in.Len() > 0 {
			st.Sums = append(st.Sums, Addition{0, buffer, in})
		}
		s.Steps = append(s.Steps, st)
	}
	for i := range p - 1 {
		var st Step
		st.send(to, 0, part(rank-i))
		st.receive(from, 0, part(rank-i-1))
		s.Steps = append(s.Steps, st)
	}
	return s
}
