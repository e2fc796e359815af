package comm

// AllReduce fills out on every rank with the sum of all ranks' pieces.
//
// pieces are this rank's contributions, one for each of Plan().Pieces(Rank()), each as long as
// out; out may be pieces[0]. Sums are taken in the order of the tree over shards, so the bits
// depend on the contributions alone and not on the ranks (but see "ring"). pieces are used as
// scratch and hold nothing useful afterwards, except pieces[0] if out is another. Long vectors are
// worked off in segments of SegmentElems. It fails with a *PeerError; the group is then unusable.
// For the cost see the table of the package.
func (g *Group) AllReduce(out []float32, pieces [][]float32) error {
	return g.do(Call{Op: AllReduce, Out: out, Pieces: pieces})
}

// ReduceScatter is AllReduce of which every rank gets its part only: out[Part(n, p, rank)]. The
// rest of out is undefined. One step, n - n/p elements sent with one piece per rank.
func (g *Group) ReduceScatter(out []float32, pieces [][]float32) error {
	return g.do(Call{Op: ReduceScatter, Out: out, Pieces: pieces})
}

// Reduce is AllReduce of which only root gets the sum; the others' out is not written. One step,
// n elements per piece sent by every rank but root.
func (g *Group) Reduce(out []float32, pieces [][]float32, root int) error {
	return g.do(Call{Op: Reduce, Out: out, Pieces: pieces, Root: root})
}

// AllGather completes buf on every rank: rank r brings buf[bounds[r]:bounds[r+1]], and bounds has
// one more entry than there are ranks. One step, p-1 times the own part sent.
func (g *Group) AllGather(buf []byte, bounds []int) error {
	return g.do(Call{Op: AllGather, Buf: buf, Bounds: bounds})
}

// Gather is AllGather for root only; the others' buf is read in their own part alone, but has the
// full length.
func (g *Group) Gather(buf []byte, bounds []int, root int) error {
	return g.do(Call{Op: Gather, Buf: buf, Bounds: bounds, Root: root})
}

// Scatter gives every rank its part of root's buf, at the same place.
func (g *Group) Scatter(buf []byte, bounds []int, root int) error {
	return g.do(Call{Op: Scatter, Buf: buf, Bounds: bounds, Root: root})
}

// Broadcast copies root's buf to all ranks, along a binomial tree: log2 p steps.
func (g *Group) Broadcast(buf []byte, root int) error {
	return g.do(Call{Op: Broadcast, Buf: buf, Root: root})
}

// Barrier returns when all ranks have called it: log2 p steps of an empty frame.
func (g *Group) Barrier() error { return g.do(Call{Op: Barrier}) }
