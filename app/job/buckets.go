package job

import (
	"fmt"
	"strings"
	"time"

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

// bucketProblems adds what is wrong with trying sizes of buckets.
func (c Config) bucketProblems(add func(name, format string, args ...any)) {
	switch {
	case !c.TuneBucket || c.Workers == 1:
	case c.Strategy != "ddp":
		add("tune-bucket", "is for --strategy ddp, not %s", c.Strategy)
	case c.ShardOptimizer:
		add("tune-bucket", "shares of --shard-optimizer go by the buckets")
	case c.hasMemory():
		add("tune-bucket", "what --wire %s holds back goes by the buckets", c.Wire)
	case c.wire().IsAuto() || c.wire().IsLossy():
		add("tune-bucket", "changes no result, but with --wire %s the sums would depend on the size that "+
			"it finds; want a --bucket", c.Wire)
	}
}

// isLate reports whether sums of gradients may come during the next forward pass.
func (c Config) isLate() bool { return c.OverlapForward && c.Workers > 1 && !c.EvalOnly }

// overlapProblems adds what is wrong with exchanging gradients behind the next forward pass.
func (c Config) overlapProblems(add func(name, format string, args ...any)) {
	switch {
	case !c.isLate():
	case c.Strategy != "ddp":
		add("overlap-forward", "is for --strategy ddp, not %s", c.Strategy)
	case c.Clip > 0:
		add("overlap-forward", "no weight can change before --clip has the norm of the whole gradient")
	case c.ShardOptimizer:
		add("overlap-forward", "--shard-optimizer has the weights come behind the next forward pass already")
	case c.TuneBucket:
		add("overlap-forward", "--tune-bucket times steps that end with their exchange")
	case !c.wire().IsFixed():
		add("overlap-forward", "is not for --wire %s, which holds back gradients or is not decided yet",
			c.Wire)
	}
}

// bucketText says which size of buckets was chosen, and what each took.
func bucketText(trials []gradsync.Trial) string {
	var chosen string
	var all []string
	for _, t := range trials {
		if t.IsChosen {
			chosen = Size(int64(t.BucketBytes))
		}
		all = append(all, fmt.Sprintf("%s %.4g", Size(int64(t.BucketBytes)), 1e3*t.Seconds))
	}
	return fmt.Sprintf("bucket: %s; ms from the first layer to the last gradient, medians of %d steps: %s",
		chosen, trials[0].Steps, strings.Join(all, ", "))
}
