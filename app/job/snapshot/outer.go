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

	gatherer gatherer
	others   []ownVectors // at rank 0: of the ranks from 1
}

// ownVectors are vectors of one worker, in the layouts of the weights and of the running statistics.
type ownVectors struct{ weights, statistics []optim.Vector }

func (o *Outer) own() ownVectors {
	weights, statistics := o.Updater.Own()
	return ownVectors{weights, statistics}
}

// data returns the values of both kinds of vectors.
func (v ownVectors) data() (values [][]float32) {
	for _, x := range slices.Concat(v.weights, v.statistics) {
		values = append(values, x.Data)
	}
	return values
}

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
	sizes, all, lengths := make([]int, o.Group.Size()), [][][]float32(nil), []int{}
	for _, v := range own.data() {
		lengths = append(lengths, len(v))
	}
	for r := 1; r < len(sizes); r++ {
		sizes[r] = len(lengths)
	}
	if o.Group.Rank() == 0 {
		for range sizes[1+len(o.others):] {
			o.others = append(o.others, own.clone())
		}
		all = [][][]float32{nil} // rank 0 has its own
		for _, other := range o.others {
			all = append(all, other.data())
		}
	}
	return o.gatherer.collect(o.Group, own.data(), lengths, sizes, all)
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
	for _, v := range o.own().data() {
		floats += len(v)
	}
	return 4 * int64(floats) * int64(o.Group.Size()-1)
}
