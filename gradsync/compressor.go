package gradsync

import "lockstep/comm"

// compressor turns the gradients of a bucket into vectors that are summed over all workers, and their sums
// into the sum of the gradients. What it leaves out of a step it keeps as residuals, and adds to the next.
type compressor interface {
	// vectors returns, for each piece, what is all-reduced for a bucket; the first receives the sum.
	// They are always the same memory.
	vectors(bucket int) [][]float32
	// compress fills a bucket's vectors from its gradients, which are final.
	compress(bucket int)
	// restore leaves the sums of the gradients in the first piece, when those of all vectors are known.
	// It tells book of every exchange that it takes.
	restore(book func(bucket int, h *comm.Handle)) error
	state() State
}

// whole sends the gradients as they are.
type whole struct {
	pieces  [][]float32
	buckets []Bucket
}

func (w *whole) vectors(bucket int) [][]float32 {
	b := &w.buckets[bucket]
	all := make([][]float32, len(w.pieces))
	for i, p := range w.pieces {
		all[i] = p[b.Lo:b.Hi]
	}
	return all
}

func (*whole) compress(int)                          {}
func (*whole) restore(func(int, *comm.Handle)) error { return nil }
func (*whole) state() State                          { return State{} }
