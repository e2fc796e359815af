package job

import (
	"time"

	"lockstep/gradsync"
)

// BucketStat says what exchanging one bucket of gradients took on a rank, in all steps of this part of
// the run. Buckets are in the order in which backward completes them.
type BucketStat struct {
	Parameters int   `json:"parameters"` // tensors in it
	Bytes      int64 `json:"bytes"`      // of their gradients
	Steps      int   `json:"steps"`      // exchanges
	Sent       int64 `json:"sent"`       // bytes, in all steps
	Received   int64 `json:"received"`
	// Exposed is the time of the exchange that the training thread waited, Hidden the rest of it.
	Exposed Quantity `json:"exposed"`
	Hidden  Quantity `json:"hidden"`
}

// Quantity is a time in all steps, and in one of them on average.
type Quantity struct {
	Seconds     float64 `json:"seconds"`
	StepSeconds float64 `json:"step_seconds"`
}

// buckets returns what each bucket's exchange took; nil if nothing was exchanged.
func (w *worker) buckets() []BucketStat {
	s, ok := w.strategy.(gradsync.Strategy)
	if !ok {
		return nil
	}
	var all []BucketStat
	for _, b := range s.Buckets() {
		over := func(d time.Duration) Quantity {
			return Quantity{d.Seconds(), d.Seconds() / float64(max(1, b.Steps))}
		}
		all = append(all, BucketStat{Parameters: len(b.Params), Bytes: 4 * int64(b.Hi-b.Lo), Steps: b.Steps,
			Sent: b.Sent, Received: b.Received, Exposed: over(b.Exposed), Hidden: over(b.Hidden)})
	}
	return all
}
