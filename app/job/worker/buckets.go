package worker

import (
	"fmt"
	"strings"
	"time"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/gradsync"
	"lockstep/train"
)

// tellBuckets sends the exchange times of each bucket to the launcher, if anything was exchanged.
func (w *Worker) tellBuckets(done train.Result) {
	if w.exchange == nil || len(done.StepTimes) == 0 {
		return
	}
	for _, b := range w.exchange.Buckets() {
		over := func(d time.Duration) record.Quantity {
			return record.Quantity{Seconds: d.Seconds(), StepSeconds: d.Seconds() / float64(max(1, b.Steps))}
		}
		stat := record.BucketStat{Parameters: len(b.Params), Bytes: 4 * int64(b.Hi-b.Lo), Steps: b.Steps,
			Sent: b.Sent, Received: b.Received, Exposed: over(b.Exposed)}
		if w.served == nil {
			hidden := over(b.Hidden)
			stat.Hidden = &hidden
		}
		w.Tell(job.Notice{Bucket: &stat})
	}
}

// bucketText says which bucket size was chosen, and the times of all that were tried.
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
