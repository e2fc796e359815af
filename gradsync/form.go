package gradsync

import "lockstep/comm"

// form is what of the gradients is sent.
type form interface {
	// vectors returns, for each piece, what is all-reduced for a bucket; the first receives the sum.
	// They are always the same memory.
	vectors(bucket int) [][]float32
	// shrink fills a bucket's vectors from its gradients, which are final.
	shrink(bucket int)
	// finish leaves the sums of the gradients in the first piece, when those of all vectors are known.
	// It tells book of every exchange that it takes.
	finish(book func(bucket int, h *comm.Handle)) error
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

func (*whole) shrink(int)                           {}
func (*whole) finish(func(int, *comm.Handle)) error { return nil }
func (*whole) state() State                         { return State{} }
