package record

// Order is the first line of updates.jsonl: the asynchronous run whose updates follow.
type Order struct {
	Schema   int               `json:"schema"`          // of this file
	Settings map[string]string `json:"settings"`        // that a replay must share
	Data     DataHash          `json:"data_sha256"`     // of the samples
	Steps    int               `json:"steps"`           // updates of the run; 0: a time or accuracy ends it
	PerEpoch int               `json:"steps_per_epoch"` // batches of an epoch
	Bound    int               `json:"bound"`           // on staleness, at the start; 0: not noted
}

// Update is one line of updates.jsonl: what became of a gradient. Where the run could not write all lines,
// the last line of the file is not finished.
type Update struct {
	Update    int  `json:"update"`    // its number, from 0; -1 if it was dropped
	Batch     int  `json:"batch"`     // counted from the start of the run
	Worker    int  `json:"worker"`    // that computed it
	Version   int  `json:"version"`   // number of updates in the weights that it was computed from
	Staleness int  `json:"staleness"` // updates since then
	Dropped   bool `json:"dropped"`   // the gradients of its round were complete without it
}

// Async describes the updates of an asynchronous run, or of the last part of a resumed one.
type Async struct {
	Bound       int   `json:"bound"`        // on staleness
	Backup      int   `json:"backup"`       // workers that are not waited for
	DividesRate bool  `json:"divides_rate"` // learning rates are divided by staleness
	Updates     int   `json:"updates"`      // made
	Dropped     int   `json:"dropped"`      // gradients that were not used
	Samples     int64 `json:"samples"`      // of their batches
	Staleness   []int `json:"staleness"`    // number of updates, by their staleness
	ByWorker    []int `json:"by_worker"`    // number of updates, by the worker that computed them
	Replayed    bool  `json:"replayed"`     // the order was that of another run
}

// MeanStaleness returns the mean over the updates.
func (a *Async) MeanStaleness() float64 {
	sum := 0
	for staleness, n := range a.Staleness {
		sum += staleness * n
	}
	return float64(sum) / float64(max(1, a.Updates))
}

// LostWorker is a worker without which an asynchronous run went on.
type LostWorker struct {
	Rank  int    `json:"rank"`  // of the worker
	Cause string `json:"cause"` // what is known about its end
}
