package gradsync

import (
	"fmt"
	"time"
)

// Feedback compresses gradients in place before they are sent to parameter servers, with error
// feedback if the wire's compressor leaves out a part of them.
type Feedback struct{ compressor compressor }

// NewFeedback returns the Feedback of a wire for the pieces of a worker, which are cut into buckets.
// It returns an error unless the wire IsServable.
func NewFeedback(w Wire, pieces [][]float32, buckets []Bucket) (*Feedback, error) {
	if !w.IsServable() {
		return nil, fmt.Errorf("gradsync: wire %q to parameter servers, want a codec or top-k", w)
	}
	return &Feedback{w.newCompressor(&Config{Pieces: pieces}, buckets)}, nil
}

// Compress changes the final gradients of a bucket, in every piece, to what is sent.
func (f *Feedback) Compress(bucket int) { f.compressor.compress(bucket) }

// Spent returns how long Compress has taken so far.
func (f *Feedback) Spent() time.Duration { return f.compressor.spent() }

// State returns the residuals. See Exchange.State.
func (f *Feedback) State() State { return f.compressor.state() }
