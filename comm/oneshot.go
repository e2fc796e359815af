package comm

import "lockstep/shard"

// oneShotAllReduce gives every rank everybody's pieces whole, and each adds them all in tree order.
//
// One step, n(p-1) elements per piece sent by every rank: the quickest where latency is all, on
// vectors of a few KiB. The same bits for any number of ranks.
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
