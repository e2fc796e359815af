package record

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
