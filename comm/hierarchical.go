package comm

import (
	"cmp"
	"slices"

	"lockstep/shard"
)

// hierarchicalAllReduce sums each slice of the vector within every host, then between hosts, and
// then distributes the result within every host.
//
// The vector is cut into as many columns as the largest host has ranks, and each host divides the
// columns among its ranks. Four steps: a direct reduce-scatter within the host, the two steps of a
// direct all-reduce of every column between the owners of that column, and an all-gather within the
// host. With H hosts of L ranks and one piece per rank, each rank sends 2n(p-1)/p elements, the
// lower bound; 2n(H-1)/(HL) of them leave the host, or 2n(H-1)/H for the host, whatever L is. If
// the runs of a host's ranks do not form one subtree, the host sends several: at most 2 log2 V if
// its ranks are contiguous. The bits do not depend on the number of ranks and hosts.
func hierarchicalAllReduce(t Topology, plan shard.Plan, rank, elems int) *Schedule {
	h := hierarchy{t, plan, elems}
	s := &Schedule{Own: len(plan.Pieces(rank))}
	held, gather := h.reduceWithin(s, rank)
	var reduce, spread Step
	lo, hi := h.columns(rank)
	for c := lo; c < hi; c++ {
		h.exchange(s, &reduce, &spread, held, c, t.place[rank].host)
	}
	var share Step
	for _, peer := range h.others(rank) {
		share.send(peer, 0, h.slice(rank))
		share.receive(peer, 0, h.slice(peer))
	}
	s.Steps = []Step{gather, reduce, spread, share}
	return s
}

// hierarchy divides a vector among the ranks of a topology.
type hierarchy struct {
	Topology
	plan  shard.Plan
	elems int
}

// numColumns is the number of ranks of the largest host.
func (t Topology) numColumns() int {
	most := 0
	for _, ranks := range t.hosts {
		most = max(most, len(ranks))
	}
	return most
}

// columns returns the columns [lo, hi) that rank owns on its host.
func (h hierarchy) columns(rank int) (lo, hi int) {
	own := Part(h.numColumns(), len(h.peers(rank)), h.place[rank].index)
	return own.Lo, own.Hi
}

// column returns the elements of column c; part those whose sum is computed on a host.
func (h hierarchy) column(c int) Span { return Part(h.elems, h.numColumns(), c) }

func (h hierarchy) part(c, host int) Span {
	whole := h.column(c)
	p := Part(whole.Len(), len(h.hosts), host)
	return Span{whole.Lo + p.Lo, whole.Lo + p.Hi}
}

// slice returns the elements of rank's columns.
func (h hierarchy) slice(rank int) Span {
	lo, hi := h.columns(rank)
	return Span{h.column(lo).Lo, h.column(hi - 1).Hi}
}

// owner returns the rank that owns column c on a host.
func (h hierarchy) owner(c, host int) int {
	for _, rank := range h.hosts[host] {
		if _, hi := h.columns(rank); c < hi {
			return rank
		}
	}
	panic("comm: a column without owner")
}

// others returns the other ranks of rank's host, beginning with the next.
func (h hierarchy) others(rank int) []int {
	peers, at := h.peers(rank), h.place[rank].index
	return slices.Concat(peers[at+1:], peers[:at])
}

// reduceWithin is the first step: rank sums its slice over the pieces of its host, as far as they
// merge along the tree.
func (h hierarchy) reduceWithin(s *Schedule, rank int) (held run, st Step) {
	own := h.plan.Pieces(rank)
	for _, peer := range h.others(rank) {
		for i := range own {
			st.send(peer, i, h.slice(peer))
		}
	}
	var runs []run
	for _, peer := range h.peers(rank) {
		if peer == rank {
			runs = append(runs, ownRun(own))
			continue
		}
		runs = append(runs, s.receiveRun(&st, peer, h.plan.Pieces(peer), h.slice(rank)))
	}
	return join(&st, runs, h.slice(rank), h.plan.Shards()), st
}

// exchange adds to two steps the exchange of column c between its owner on host and the owners on
// other hosts: a reduce-scatter and an all-gather of the column.
func (h hierarchy) exchange(s *Schedule, reduce, spread *Step, held run, c, host int) {
	part := h.part(c, host)
	runs := held.single()
	for d := 1; d < len(h.hosts); d++ {
		to, from := (host+d)%len(h.hosts), (host-d+len(h.hosts))%len(h.hosts)
		for _, b := range held.buffers {
			reduce.send(h.owner(c, to), b, h.part(c, to))
		}
		theirs := s.receiveRun(reduce, h.owner(c, from), h.nodes(from), part)
		runs = append(runs, theirs.single()...)
		spread.send(h.owner(c, to), 0, part)
		spread.receive(h.owner(c, from), 0, h.part(c, from))
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.nodes[0].Lo, b.nodes[0].Lo) })
	join(reduce, runs, part, h.plan.Shards())
}

// nodes returns the subtrees that a host's ranks hold after merging.
func (h hierarchy) nodes(host int) []shard.Node {
	var runs []run
	for _, rank := range h.hosts[host] {
		runs = append(runs, ownRun(h.plan.Pieces(rank)))
	}
	return join(&Step{}, runs, Span{}, h.plan.Shards()).nodes
}

// single returns one run for each subtree of r. Runs of hosts whose ranks alternate interleave.
func (r run) single() []run {
	var runs []run
	for i := range r.nodes {
		runs = append(runs, run{r.nodes[i : i+1], r.buffers[i : i+1]})
	}
	return runs
}
