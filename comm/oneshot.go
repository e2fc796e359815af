package comm

import "lockstep/shard"

// oneShotAllReduce sends all pieces of every rank to every other rank; each adds them in tree
// order.
//
// One step; every rank sends n(p-1) elements per piece. It is the fastest for vectors of a few KiB,
// where latency dominates. The bits do not depend on the number of ranks.
func oneShotAllReduce(plan shard.Plan, rank, elems int) *Schedule {
	p := plan.Workers()
	own := plan.Pieces(rank)
	s := &Schedule{Own: len(own)}
	whole := Span{0, elems}
	runs := make([]run, p)
	runs[rank] = ownRun(own)
	var st Step
	for d := 1; d < p; d++ {
		to, from := (rank+d)%p, (rank-d+p)%p
		for i := range own {
			st.send(to, i, whole)
		}
		runs[from] = s.receiveRun(&st, from, plan.Pieces(from), whole)
	}
	join(&st, runs, whole, plan.Shards())
	s.Steps = []Step{st}
	return s
}
