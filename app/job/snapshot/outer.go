package snapshot

import (
	"fmt"
	"slices"

	"lockstep/app/job"
	"lockstep/checkpoint"
	"lockstep/comm"
	"lockstep/graph"
	"lockstep/optim"
	"lockstep/train"
)

// Outer is the state of a checkpoint in which workers that average their weights differ. Rank 0
// collects that of the others, which each read their file again.
type Outer struct {
	Group   *comm.Group
	Updater *train.Outer
	Meets   func(done int) bool // a checkpoint can be written after so many steps

	chunk  []float32    // buffer of one message
	others []ownVectors // at rank 0: of the ranks from 1
}

// ownVectors are vectors of one worker, in the layouts of the weights and of the running statistics.
type ownVectors struct{ weights, statistics []optim.Vector }

func (o *Outer) own() ownVectors {
	weights, statistics := o.Updater.Own()
	return ownVectors{weights, statistics}
}

// all returns both kinds of vectors.
func (v ownVectors) all() []optim.Vector { return slices.Concat(v.weights, v.statistics) }

// clone returns copies of the vectors.
func (v ownVectors) clone() ownVectors { return ownVectors{clones(v.weights), clones(v.statistics)} }

// collect waits for averages that are on their way, gathers all vectors at rank 0, and replaces the counts
// of this worker's part of the epoch by those of all.
func (o *Outer) collect(p *train.Progress) error {
	if err := o.Updater.Arrive(); err != nil {
		return err
	}
	counts := []int64{int64(p.Coverage), p.TrainCorrect, p.TrainSamples}
	if err := o.Updater.Sum(counts); err != nil {
		return err
	}
	p.Coverage, p.TrainCorrect, p.TrainSamples = uint64(counts[0]), counts[1], counts[2]
	own := o.own()
	o.reserve(own)
	for i, v := range own.all() {
		for lo := 0; lo < len(v.Data); lo += heldElems {
			if err := o.gather(i, lo, v.Data[lo:min(lo+heldElems, len(v.Data))]); err != nil {
				return err
			}
		}
	}
	return nil
}

// reserve allocates memory in the first call, rank 0 also for what it collects.
func (o *Outer) reserve(own ownVectors) {
	if o.chunk != nil {
		return
	}
	others := o.Group.Size() - 1
	o.chunk = make([]float32, others*heldElems)
	for range others {
		if o.Group.Rank() == 0 {
			o.others = append(o.others, own.clone())
		}
	}
}

// gather collects a range of vector number i, which begins at lo, of all ranks but 0.
func (o *Outer) gather(i, lo int, own []float32) error {
	n, rank, others := len(own), o.Group.Rank(), o.Group.Size()-1
	bounds := make([]int, others+2)
	for r := range others {
		bounds[r+2] = 4 * n * (r + 1)
	}
	if rank > 0 {
		copy(o.chunk[(rank-1)*n:], own)
	}
	if err := o.Group.Gather(comm.Bytes(o.chunk[:others*n]), bounds, 0); err != nil || rank > 0 {
		return err
	}
	for r := range o.others {
		copy(o.others[r].all()[i].Data[lo:], o.chunk[r*n:][:n])
	}
	return nil
}

// isFinite reports whether all collected values are finite, as readers of checkpoints require.
func (o *Outer) isFinite() bool {
	for _, other := range o.others {
		for _, v := range other.all() {
			if !areFinite(v.Data) {
				return false
			}
		}
	}
	return true
}

// files returns a file for each rank but 0.
func (o *Outer) files(v *graph.Variables) []checkpoint.File {
	var files []checkpoint.File
	for r, other := range o.others {
		files = append(files, other.named().File(ownFile(r+1), v))
	}
	return files
}

// ownFile names the file of a checkpoint with the state of a rank.
func ownFile(rank int) string { return fmt.Sprintf("rank%d.safetensors", rank) }

// named names the vectors for package checkpoint.
func (v ownVectors) named() checkpoint.Vectors {
	return checkpoint.Vectors{Weights: vectorsOf(v.weights), Statistics: vectorsOf(v.statistics)}
}

// Restore reads what this worker has of its own. What rank 0 has is in the files that all workers read.
func (o *Outer) Restore(c *checkpoint.Checkpoint, v *graph.Variables) error {
	if o.Group.Rank() == 0 {
		return nil
	}
	return job.WithFile(c.File(ownFile(o.Group.Rank())), func(r *checkpoint.Reader) error {
		return o.own().named().Load(r, v)
	})
}

// Bytes returns the size of what rank 0 collects.
func (o *Outer) Bytes() int64 {
	floats := 0
	for _, v := range o.own().all() {
		floats += len(v.Data)
	}
	return 4 * int64(floats) * int64(o.Group.Size()-1)
}
