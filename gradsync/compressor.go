package gradsync

import (
	"time"

	"lockstep/comm"
)

// compressor turns the gradients of a bucket into vectors that are summed over all workers, and the
// sums of those vectors into the sum of the gradients. What it leaves out of a step it keeps as
// residuals, and adds to the next step's gradients.
type compressor interface {
	// vectors returns the vectors that are all-reduced for a bucket, one for each piece; the first
	// receives the sum. It returns the same slices every time.
	vectors(bucket int) [][]float32
	// compress fills the vectors of a bucket from its final gradients.
	compress(bucket int)
	// restore computes the sums of the gradients from the sums of the vectors, and stores them in
	// the first piece. It calls book for every further exchange that it makes.
	restore(book func(bucket int, h *comm.Handle)) error
	state() State
	// spent returns how long it has computed on the training goroutine.
	spent() time.Duration
}

// whole sends uncompressed gradients.
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
func (*whole) spent() time.Duration                  { return 0 }
func (*whole) state() State                          { return State{} }
