package snapshot

import (
	"fmt"
	"slices"

	"lockstep/app/job"
	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/comm"
	"lockstep/gradsync"
	"lockstep/graph"
	"lockstep/optim"
	"lockstep/ps"
	"lockstep/shard"
	"lockstep/tensor"
	"lockstep/train"
)

// Peers is the state of a checkpoint that differs between ranks: residuals of error feedback, each
// rank's shard of the optimizer's state, or what workers have of their own that average their weights. Rank 0
// collects it. On the other ranks it is the train.Checkpointer. The state of servers is collected by rank 0
// alone.
//
// Note: agreeing on checkpoints. Only rank 0 knows whether to write a checkpoint, because that depends on
// its clock and on whether the last write has ended. So it sends one byte to the others after every step. A
// run that is asked to stop ends after the same step on all ranks; see train.Config.StopsTogether.
type Peers struct {
	Plan     shard.Plan
	IsBroken func() bool // the run ends without waiting for its peers

	Group *comm.Group
	own   gradsync.State
	// collect gathers the shards of a vector to rank 0; nil if nothing is sharded.
	Collect func(dst, own []float32) error
	Outer   *Outer     // nil if no weights are averaged
	Client  *ps.Client // collects the state of servers; nil without servers

	// For rank 0.
	all     [][][]float32       // residuals of the pieces of each rank
	held    gatherer            // of them
	factors []gradsync.Factor   // copy of own's factors
	Sharded []checkpoint.Vector // whole vectors of the optimizer
}

// Join sets the exchange that holds the state.
func (p *Peers) Join(g *comm.Group, s gradsync.Exchange) {
	p.Group, p.own = g, s.State()
}

// Save implements train.Checkpointer.
func (p *Peers) Save(m train.Snapshot, isLast bool) (bool, error) {
	return p.keep(false, isLast, &m)
}

// keep reports whether rank 0 writes a checkpoint of this step, which isWanted decides on rank 0. If so, it
// collects the state of all ranks. On nil Peers rank 0 asks nobody. Workers that average their weights
// are asked only when they meet.
func (p *Peers) keep(isWanted, isLast bool, m *train.Snapshot) (bool, error) {
	switch {
	case p == nil:
		return isWanted, nil
	case p.Client != nil:
		return p.keepServed(isWanted, *m)
	case p.IsBroken(), p.Outer != nil && !isLast && !p.Outer.Meets(m.Step):
		return false, nil
	}
	word := []byte{0}
	if isWanted {
		word[0] = 1
	}
	if err := p.Group.Broadcast(word, 0); err != nil || word[0] == 0 {
		return false, err
	}
	if len(p.own.Residuals) > 0 {
		if err := p.collectHeld(); err != nil {
			return false, err
		}
	}
	if p.Outer != nil {
		if err := p.Outer.collect(&m.Progress); err != nil {
			return false, err
		}
	}
	return true, p.collectShards(*m)
}

// keepServed collects the state of all servers. It is that after the step, because no server updates anything
// before rank 0 pushes the next gradients.
func (p *Peers) keepServed(isWanted bool, m train.Snapshot) (bool, error) {
	if !isWanted {
		return false, nil
	}
	if err := m.Settle(); err != nil { // then all servers have done the step
		return false, err
	}
	return true, p.Client.Collect(nil, DataOf(p.Sharded))
}

// collectShards completes the optimizer's vectors at rank 0.
func (p *Peers) collectShards(m train.Snapshot) error {
	if p.Sharded == nil && p.Group.Rank() == 0 {
		p.Sharded = Whole(m.Sharded, m.Variables)
	}
	for i, v := range m.Sharded {
		var dst []float32
		if p.Group.Rank() == 0 {
			dst = p.Sharded[i].Data
		}
		if err := p.Collect(dst, v.Data); err != nil {
			return err
		}
	}
	return nil
}

// Whole allocates whole vectors for vectors of which a rank has a part, or none.
func Whole(parts []optim.Vector, of *graph.Variables) []checkpoint.Vector {
	var vectors []checkpoint.Vector
	for _, v := range parts {
		vectors = append(vectors, checkpoint.Vector{Name: v.Name, Data: make([]float32, len(of.Weights))})
	}
	return vectors
}

// collectHeld gathers the residuals of all ranks into all at rank 0.
func (p *Peers) collectHeld() error {
	elems := len(p.own.Residuals[0])
	counts, lengths := make([]int, p.Group.Size()), []int{}
	for rank := range counts {
		counts[rank] = len(p.Plan.Pieces(rank))
		for len(lengths) < counts[rank] {
			lengths = append(lengths, elems)
		}
	}
	if p.Group.Rank() == 0 {
		for _, n := range counts[len(p.all):] {
			p.all = append(p.all, vectorsOfLen(n, elems))
		}
		p.copyFactors()
	}
	return p.held.collect(p.Group, p.own.Residuals, lengths, counts, p.all)
}

// copyFactors copies the factors. It allocates only in the first call.
func (p *Peers) copyFactors() {
	if p.factors == nil {
		p.factors = slices.Clone(p.own.Factors)
		for i := range p.factors {
			p.factors[i].Data = slices.Clone(p.factors[i].Data)
		}
	}
	for i, f := range p.own.Factors {
		copy(p.factors[i].Data, f.Data)
	}
}

// Pieces lists the subtrees of all ranks, left to right.
func Pieces(p shard.Plan) []shard.Node {
	var nodes []shard.Node
	for rank := range p.Workers() {
		nodes = append(nodes, p.Pieces(rank)...)
	}
	return nodes
}

// vectors returns the optimizer's vectors that were collected.
func (p *Peers) vectors() []checkpoint.Vector {
	if p == nil {
		return nil
	}
	return p.Sharded
}

// files returns the files of a checkpoint that hold the residuals, or what each worker has of its own.
func (p *Peers) files(v *graph.Variables) []checkpoint.File {
	switch {
	case p == nil:
		return nil
	case p.Outer != nil:
		return p.Outer.files(v)
	case p.all == nil:
		return nil
	}
	return []checkpoint.File{named(Pieces(p.Plan), slices.Concat(p.all...), p.factors,
		v).File(checkpoint.ExchangeFile, v)}
}

// named maps names in a checkpoint to the residuals of pieces and to the factors.
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

// Restore reads this rank's residuals from a checkpoint. If the number of workers has changed, and so the
// pieces, each old piece is added to the new one that contains its first shard, so that nothing is lost.
func (p *Peers) Restore(c *checkpoint.Checkpoint, from setting.Config, v *graph.Variables) error {
	if len(p.own.Residuals) == 0 || !from.HoldsBack() {
		return nil
	}
	old, err := shard.Cut(from.StepShards(), from.Workers)
	if err != nil {
		return err
	}
	nodes := Pieces(old)
	data := vectorsOfLen(len(nodes), len(v.Weights))
	err = job.WithFile(c.File(checkpoint.ExchangeFile), func(r *checkpoint.Reader) error {
		return named(nodes, data, p.own.Factors, v).Load(r, v)
	})
	if err != nil {
		return err
	}
	own := p.Plan.Pieces(p.Group.Rank())
	for i, n := range own {
		isFirst := true
		for j, o := range nodes {
			switch {
			case o.Lo < n.Lo || o.Lo >= n.Hi:
				continue
			case isFirst:
				copy(p.own.Residuals[i], data[j])
			default:
				comm.Add(p.own.Residuals[i], data[j])
			}
			isFirst = false
		}
	}
	return nil
}
