package job

import (
	"fmt"
	"strings"
	"time"

	"lockstep/app/setting"
	"lockstep/gradsync"
	"lockstep/train"
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

// tellBuckets tells what each bucket's exchange took, if anything was exchanged.
func (w *worker) tellBuckets(done train.Result) {
	if w.exchange == nil || len(done.StepTimes) == 0 {
		return
	}
	for _, b := range w.exchange.Buckets() {
		over := func(d time.Duration) Quantity {
			return Quantity{d.Seconds(), d.Seconds() / float64(max(1, b.Steps))}
		}
		w.tell(notice{Bucket: &BucketStat{Parameters: len(b.Params), Bytes: 4 * int64(b.Hi-b.Lo),
			Steps: b.Steps, Sent: b.Sent, Received: b.Received,
			Exposed: over(b.Exposed), Hidden: over(b.Hidden)}})
	}
}

// bucketText says which size of buckets was chosen, and what each took.
func bucketText(trials []gradsync.Trial) string {
	var chosen string
	var all []string
	for _, t := range trials {
		if t.IsChosen {
			chosen = setting.Size(int64(t.BucketBytes))
		}
		all = append(all, fmt.Sprintf("%s %.4g", setting.Size(int64(t.BucketBytes)), 1e3*t.Seconds))
	}
	return fmt.Sprintf("bucket: %s; ms from the first layer to the last gradient, medians of %d steps: %s",
		chosen, trials[0].Steps, strings.Join(all, ", "))
}
