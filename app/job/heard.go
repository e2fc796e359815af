package job

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"lockstep/app/record"
	"lockstep/data"
)

// notice is what a worker tells the launcher when it happens, so that no message grows with the length of
// the run or the size of the model. Exactly one field is set.
type notice struct {
	Evaluation *record.Evaluation `json:"evaluation,omitempty"` // from rank 0 alone, if ranks exchange
	Bucket     *record.BucketStat `json:"bucket,omitempty"`     // at the end, in the order of buckets
	Lost       *record.Lost       `json:"lost,omitempty"`
	Data       *record.DataHash   `json:"data,omitempty"` // of what the worker has loaded
}

// heard is what the launcher has heard of a run from notices. Workers of one process send them at the
// same time.
type heard struct {
	mu          sync.Mutex
	evaluations []record.Evaluation
	buckets     map[int][]record.BucketStat // by rank
	lost        []record.Lost
	data        map[int]record.DataHash // by rank; workers of one process share theirs and tell none
	warn        func(text string)
	show        func(record.Evaluation)
}

// newHeard returns what is known of a run that goes on from there; nil stands for a new run. People are
// told by o.
func newHeard(from *resumption, o Options) *heard {
	r := &heard{buckets: map[int][]record.BucketStat{}, data: map[int]record.DataHash{},
		warn: o.warn, show: o.show}
	if from != nil {
		r.evaluations = slices.Clone(from.Kept.Evaluations)
	}
	return r
}

// take adds what a worker has told.
func (r *heard) take(rank int, n notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case n.Evaluation != nil:
		r.evaluations = append(r.evaluations, *n.Evaluation)
		r.show(*n.Evaluation)
	case n.Bucket != nil:
		r.buckets[rank] = append(r.buckets[rank], *n.Bucket)
	case n.Lost != nil:
		r.lost = append(r.lost, *n.Lost)
		r.warn(fmt.Sprintf("warning: %v; the run goes on without", n.Lost))
	case n.Data != nil:
		r.data[rank] = *n.Data
	}
}

// hasLost reports whether a file is lost on some rank.
func (r *heard) hasLost(file string) bool {
	return slices.ContainsFunc(r.lost, func(l record.Lost) bool { return l.File == file })
}

// checkData fails if a worker has loaded other samples than another.
func (r *heard) checkData(rank int) error {
	h, isTold := r.data[rank]
	for other, its := range r.data {
		if isTold && h != its {
			return &data.FormatError{File: "data of the workers", Offset: -1, Reason: fmt.Sprintf("training "+
				"and test samples of rank %d have %v, those of rank %d %v", rank, h, other, its)}
		}
	}
	return nil
}

// decode takes what a worker process has told. An error ends the run.
func (r *heard) decode(rank int, text json.RawMessage) error {
	var n notice
	if err := json.Unmarshal(text, &n); err != nil {
		return fmt.Errorf("job: decode a notice of rank %d: %w", rank, err)
	}
	r.take(rank, n)
	return r.checkData(rank)
}
