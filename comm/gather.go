package comm

import "lockstep/shard"

// gatherReduce sums all ranks' pieces at root in tree order, in buffer 0. The buffers of the other
// ranks keep their contents.
//
// One step; every rank but root sends n elements per piece, and root receives them all. Root is the
// bottleneck, which makes this the baseline for the other algorithms.
func gatherReduce(plan shard.Plan, rank, elems, root int) *Schedule {
	own := plan.Pieces(rank)
	s := &Schedule{Own: len(own)}
	whole := Span{0, elems}
	var st Step
	if rank != root {
		for i := range own {
			st.send(root, i, whole)
		}
		s.Steps = []Step{st}
		return s
	}
	runs := make([]run, plan.Workers())
	for r := range runs {
		if r == root {
			runs[r] = ownRun(own)
			continue
		}
		runs[r] = s.receiveRun(&st, r, plan.Pieces(r), whole)
	}
	join(&st, runs, whole, plan.Shards())
	s.Steps = []Step{st}
	return s
}

// gatherAllReduce is gatherReduce at rank 0, which then sends the result to every rank: two steps,
// (p-1)n elements sent by rank 0 and n by each other rank. The bits do not depend on the number of
// ranks.
func gatherAllReduce(plan shard.Plan, rank, elems int) *Schedule {
	s := gatherReduce(plan, rank, elems, 0)
	var st Step
	if rank != 0 {
		st.receive(0, 0, Span{0, elems})
	} else {
		for r := 1; r < plan.Workers(); r++ {
			st.send(r, 0, Span{0, elems})
		}
	}
	s.Steps = append(s.Steps, st)
	return s
}
