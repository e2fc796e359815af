package launcher

import (
	"fmt"
	"time"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/cluster"
	"lockstep/data"
)

// Progress says how far a run is.
type Progress struct {
	Phase       string             // phase of rank 0: load data, forward, ...
	Step, Steps int                // finished steps, of all; Steps is 0 before training, or with a Length
	Length      time.Duration      // length of the run in training time; 0: Steps is the length
	Epoch       int                // from 0
	Loss        float64            // mean over the last step's global batch
	Samples     int64              // finished, over all workers
	Elapsed     time.Duration      // since training began
	Trained     time.Duration      // training time up to the last step, evaluations not counted
	Remaining   time.Duration      // estimate; 0 while unknown
	Scored      float64            // part of the evaluation in progress; then Remaining is its own
	Note        string             // a line for people; the other fields say when it was written
	IsWarning   bool               // Note is a warning, or what a run that is to stop waits for
	Evaluation  *record.Evaluation // evaluation that has just ended; then only Phase is set besides it
}

func progressOf(p cluster.Progress) Progress {
	q := Progress{Phase: p.Phase, Step: p.Step, Steps: p.Steps, Epoch: p.Epoch, Loss: p.Loss,
		Samples: p.Samples, Elapsed: job.Seconds(p.Seconds),
		Trained: job.Seconds(p.Trained), Length: job.Seconds(p.Length)}
	if done := p.Step - p.From; p.Scored > 0 {
		q.Scored, q.Remaining = p.Scored, job.Seconds(p.Scoring*(1-p.Scored)/p.Scored)
	} else if q.Length > 0 {
		q.Remaining = max(0, q.Length-q.Trained)
	} else if done > 0 {
		q.Remaining = q.Elapsed / time.Duration(done) * time.Duration(p.Steps-p.Step)
	}
	return q
}

// DownloadProgress turns the state of a download into the progress of a run that has not begun.
func DownloadProgress(p data.Progress) Progress {
	text := fmt.Sprintf("download %s: %d MiB", p.File, p.Done>>20)
	if p.Total > 0 {
		text += fmt.Sprintf(" of %d", p.Total>>20)
	}
	return Progress{Phase: text}
}
