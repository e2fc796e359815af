package comm

import "lockstep/shard"

// treeAllReduce sums along a binomial tree over the ranks to rank 0 and broadcasts the result along
// the same tree.
//
// Ranks r and r+d merge their runs for d = 1, 2, 4, ..., so the runs are adjacent and their
// subtrees add along the tree over shards. 2 log2 p steps, rounded up, with one peer each; rank 0,
// the busiest, receives and sends n elements log2 p times. The bits do not depend on the number of
// ranks.
func treeAllReduce(plan shard.Plan, rank, elems int) *Schedule {
	p := plan.Workers()
	s := &Schedule{Own: len(plan.Pieces(rank))}
	held := ownRun(plan.Pieces(rank))
	whole := Span{0, elems}
	for d := 1; d < p && rank%d == 0; d *= 2 {
		var st Step
		switch peer := rank ^ d; {
		case peer < rank:
			for _, b := range held.buffers {
				st.send(peer, b, whole)
			}
		case peer < p:
			theirs := s.receiveRun(&st, peer, nodesOf(plan, peer, min(peer+d, p)), whole)
			held = join(&st, []run{held, theirs}, whole, plan.Shards())
		}
		s.Steps = append(s.Steps, st)
	}
	s.Steps = append(s.Steps, broadcast(p, rank, elems, 0).Steps...)
	return s
}

// nodesOf returns the subtrees that ranks [lo, hi) hold after merging.
func nodesOf(plan shard.Plan, lo, hi int) []shard.Node {
	var runs []run
	for r := lo; r < hi; r++ {
		runs = append(runs, ownRun(plan.Pieces(r)))
	}
	return join(&Step{}, runs, Span{}, plan.Shards()).nodes
}
