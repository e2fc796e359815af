package comm

// AllReduce fills out on every rank with the sum of all ranks' pieces.
//
// pieces are this rank's contributions, one for each of Plan().Pieces(Rank()), each as long as out.
// out may be pieces[0]. Sums are taken in the order of the tree over shards, so the bits depend on
// the contributions and not on the number of ranks (except with "ring"). pieces serve as scratch;
// afterwards their contents are undefined, except that of pieces[0] if it is not out. Long vectors
// are processed in segments of SegmentElems. AllReduce fails with a *PeerError; the group is then
// unusable. See the table of the package for its cost.
func (g *Group) AllReduce(out []float32, pieces [][]float32) error {
	return g.do(Call{Op: AllReduce, Out: out, Pieces: pieces})
}

// ReduceScatter leaves this rank's part of the sum in out[Part(n, p, rank)]; the rest of out is
// undefined. Arguments and errors are those of AllReduce. One step; with one piece per rank, each
// rank sends n - n/p elements.
func (g *Group) ReduceScatter(out []float32, pieces [][]float32) error {
	return g.do(Call{Op: ReduceScatter, Out: out, Pieces: pieces})
}

// Reduce is like AllReduce, but only root receives the sum; out is not written on other ranks. One
// step; every rank but root sends n elements per piece.
func (g *Group) Reduce(out []float32, pieces [][]float32, root int) error {
	return g.do(Call{Op: Reduce, Out: out, Pieces: pieces, Root: root})
}

// AllGather fills buf on every rank. Rank r contributes buf[bounds[r]:bounds[r+1]]; bounds has one
// more entry than there are ranks. One step; each rank sends its own part p-1 times.
func (g *Group) AllGather(buf []byte, bounds []int) error {
	return g.do(Call{Op: AllGather, Buf: buf, Bounds: bounds})
}

// Gather is like AllGather, but only root receives the parts. On other ranks buf has the same
// length and only the own part is read.
func (g *Group) Gather(buf []byte, bounds []int, root int) error {
	return g.do(Call{Op: Gather, Buf: buf, Bounds: bounds, Root: root})
}

// Scatter copies to every rank its part of root's buf, at the same offset.
func (g *Group) Scatter(buf []byte, bounds []int, root int) error {
	return g.do(Call{Op: Scatter, Buf: buf, Bounds: bounds, Root: root})
}

// Broadcast copies root's buf to all ranks along a binomial tree, in log2 p steps.
func (g *Group) Broadcast(buf []byte, root int) error {
	return g.do(Call{Op: Broadcast, Buf: buf, Root: root})
}

// Barrier returns when all ranks have called it. It takes log2 p steps of empty frames.
func (g *Group) Barrier() error { return g.do(Call{Op: Barrier}) }
