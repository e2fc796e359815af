package job

import (
	"fmt"
	"slices"

	"lockstep/checkpoint"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/graph"
	"lockstep/internal/shard"
	"lockstep/tensor"
	"lockstep/train"
)

// hasMemory reports whether workers hold back gradients for later steps.
func (c Config) hasMemory() bool {
	return (c.Wire == wireTopK || lowRank(c.Wire) > 0) && c.Workers > 1 && !c.isIsolated() && !c.EvalOnly
}

// heldBack is what the exchange of gradients keeps between steps, which differs between the ranks.
// For a checkpoint rank 0 collects it. Ranks other than 0 have it as their train.Keeper.
//
// Note: agreeing on checkpoints. Only rank 0 knows whether it keeps a moment, since that depends on its
// clock and on whether the last write has ended. So after every step it tells the others, in one byte.
// A run that is asked to stop leaves no further checkpoint: its ranks may be at different steps.
type heldBack struct {
	plan       shard.Plan
	isStopping func() bool // the run was asked to stop

	group   *comm.Group
	own     gradsync.State
	all     [][]float32       // of the pieces of all ranks, in the order of shards; for rank 0
	factors []gradsync.Factor // a copy of own's; for rank 0
	chunk   []float32         // what travels at once
}

// heldElems is how much of a piece each rank sends at once.
const heldElems = 1 << 18

// newHeldBack returns the memory of this worker's exchange, to be completed by join; nil if it has none.
func (w *worker) newHeldBack(plan shard.Plan) *heldBack {
	if !w.config.hasMemory() {
		return nil
	}
	return &heldBack{plan: plan}
}

// join takes the exchange whose memory this is.
func (h *heldBack) join(g *comm.Group, s gradsync.Strategy) {
	h.group, h.own = g, s.State()
}

// Keep implements train.Keeper.
func (h *heldBack) Keep(train.Moment, bool) (bool, error) { return h.keep(false) }

// keep reports whether rank 0 keeps this moment, as it says by isWanted; it then has what is held back
// by all. A nil memory belongs to a rank that decides alone.
func (h *heldBack) keep(isWanted bool) (bool, error) {
	switch {
	case h == nil:
		return isWanted, nil
	case h.isStopping():
		return false, nil
	}
	word := []byte{0}
	if isWanted {
		word[0] = 1
	}
	if err := h.group.Broadcast(word, 0); err != nil || word[0] == 0 {
		return false, err
	}
	return true, h.collect()
}

// collect fills all at rank 0.
func (h *heldBack) collect() error {
	size, elems := h.group.Size(), len(h.own.Held[0])
	if h.chunk == nil {
		h.chunk = make([]float32, size*heldElems)
	}
	nodes := pieces(h.plan)
	if h.group.Rank() == 0 {
		if h.all == nil {
			h.all = vectorsOfLen(len(nodes), elems)
		}
		h.copyFactors()
	}
	most := 0
	for rank := range size {
		most = max(most, len(h.plan.Pieces(rank)))
	}
	bounds := make([]int, size+1)
	for i := range most {
		for lo := 0; lo < elems; lo += heldElems {
			hi := min(lo+heldElems, elems)
			for rank := range size {
				bounds[rank+1] = bounds[rank]
				if i < len(h.plan.Pieces(rank)) {
					bounds[rank+1] += hi - lo
				}
			}
			if err := h.gather(i, lo, hi, bounds); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyFactors keeps the factors as they are now. It allocates the first time only.
func (h *heldBack) copyFactors() {
	if h.factors == nil {
		h.factors = slices.Clone(h.own.Factors)
		for i := range h.factors {
			h.factors[i].Data = slices.Clone(h.factors[i].Data)
		}
	}
	for i, f := range h.own.Factors {
		copy(h.factors[i].Data, f.Data)
	}
}

// gather collects elements [lo, hi) of every rank's piece i; bounds are the ranks' places in the chunk.
func (h *heldBack) gather(i, lo, hi int, bounds []int) error {
	rank := h.group.Rank()
	if i < len(h.own.Held) {
		copy(h.chunk[bounds[rank]:], h.own.Held[i][lo:hi])
	}
	inBytes := make([]int, len(bounds))
	for r, at := range bounds {
		inBytes[r] = 4 * at
	}
	if err := h.group.Gather(comm.Bytes(h.chunk[:bounds[len(bounds)-1]]), inBytes, 0); err != nil {
		return err
	}
	if rank != 0 {
		return nil
	}
	at := 0
	for r := range h.group.Size() {
		if bounds[r] < bounds[r+1] {
			copy(h.all[at+i][lo:hi], h.chunk[bounds[r]:bounds[r+1]])
		}
		at += len(h.plan.Pieces(r))
	}
	return nil
}

// pieces lists the subtrees of all ranks, left to right.
func pieces(p shard.Plan) []shard.Node {
	var nodes []shard.Node
	for rank := range p.Workers() {
		nodes = append(nodes, p.Pieces(rank)...)
	}
	return nodes
}

func vectorsOfLen(num, elems int) [][]float32 {
	all := make([][]float32, num)
	for i := range all {
		all[i] = make([]float32, elems)
	}
	return all
}

// isFinite reports whether what was collected can be read again.
func (h *heldBack) isFinite() bool {
	if h == nil {
		return true
	}
	for _, f := range h.factors {
		if !areFinite(f.Data) {
			return false
		}
	}
	return areFinite(h.all...)
}

// files returns the files that a checkpoint has for it, none for nil.
func (h *heldBack) files(v *graph.Variables) []checkpoint.File {
	if h == nil {
		return nil
	}
	return []checkpoint.File{named(pieces(h.plan), h.all, h.factors, v).File(checkpoint.ExchangeFile, v)}
}

// named gives what is held back of pieces, and the factors, the names that they have in a checkpoint.
func named(nodes []shard.Node, held [][]float32, factors []gradsync.Factor,
	v *graph.Variables) checkpoint.Vectors {
	var k checkpoint.Vectors
	for i, n := range nodes {
		k.Weights = append(k.Weights,
			checkpoint.Vector{Name: fmt.Sprintf("held_back.%d-%d", n.Lo, n.Hi-1), Data: held[i]})
	}
	for _, f := range factors {
		k.Others = append(k.Others, checkpoint.Values{Name: v.Params[f.Param].Name + ".factor",
			Shape: tensor.Shape{len(f.Data) / f.Cols, f.Cols}, Data: f.Data})
	}
	return k
}

// bytes returns what a checkpoint takes for it: the size of the file, and, for rank 0, of the copy.
func (h *heldBack) bytes(elems int) int64 {
	if h == nil {
		return 0
	}
	return 4 * int64(elems) * int64(len(pieces(h.plan)))
}

// restore fills this rank's part from a checkpoint. Where the run had other pieces, because it had other
// workers, each goes to the one that holds its first shard, so that nothing is lost.
func (h *heldBack) restore(c *checkpoint.Checkpoint, from Config, v *graph.Variables) error {
	if h == nil || !from.hasMemory() {
		return nil
	}
	old, err := shard.Cut(from.stepShards(), from.Workers)
	if err != nil {
		return err
	}
	nodes := pieces(old)
	data := vectorsOfLen(len(nodes), len(v.Weights))
	err = withFile(c.File(checkpoint.ExchangeFile), func(r *checkpoint.Reader) error {
		return named(nodes, data, h.own.Factors, v).Load(r, v)
	})
	if err != nil {
		return err
	}
	own := h.plan.Pieces(h.group.Rank())
	for i, n := range own {
		isFirst := true
		for j, o := range nodes {
			switch {
			case o.Lo < n.Lo || o.Lo >= n.Hi:
				continue
			case isFirst:
				copy(h.own.Held[i], data[j])
			default:
				comm.Add(h.own.Held[i], data[j])
			}
			isFirst = false
		}
	}
	return nil
}

// areFinite reports whether all values are.
func areFinite(vectors ...[]float32) bool {
	return !slices.ContainsFunc(vectors, func(v []float32) bool {
		return slices.ContainsFunc(v, func(x float32) bool { return x-x != 0 })
	})
}
