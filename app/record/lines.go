package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Step is one line of steps.jsonl: what a rank did in one step and what its process took for it.
type Step struct {
	Rank          int     `json:"rank"`           // number of the worker
	Step          int     `json:"step"`           // from 0
	Epoch         int     `json:"epoch"`          // from 0
	Loss          Number  `json:"loss"`           // mean over the global batch
	OwnLoss       Number  `json:"own_loss"`       // over the rank's own samples; null: it had none
	Samples       int     `json:"samples"`        // of all workers, of this one if they never exchange
	Shards        int     `json:"shards"`         // that the rank computed
	Rate          Number  `json:"rate"`           // learning rate
	Seconds       Number  `json:"seconds"`        // wall time of the step
	Phases        Phases  `json:"phases"`         // adding up to seconds
	BytesSent     int64   `json:"bytes_sent"`     // by this rank
	BytesReceived int64   `json:"bytes_received"` // by this rank
	UsageSeconds  float64 `json:"usage_seconds"`  // in which the rest was taken: a little more than the step
	CPUSeconds    float64 `json:"cpu_seconds"`    // processor time of all threads
	RSSBytes      int64   `json:"rss_bytes"`      // resident memory, at most 0.1 s old
	// In use on the rank's GPU, by all processes, at most 1 s old; left out without one.
	GPUBytes int64 `json:"gpu_bytes,omitempty"`
	Parts
}

// Parts says what a part of a step's time went into, beside its phases. Times that are 0, which older
// versions did not tell, are left out. Each is also in a phase, but for the time for checkpoints.
type Parts struct {
	// DelayedSeconds is time in which threads of the rank's process were ready to run and had no core,
	// summed over threads. It is read at the end of a step every 40 ms, and shared among the steps since by
	// their times, but in a run that keeps checkpoints.
	DelayedSeconds float64 `json:"delayed_seconds,omitempty"`
	// ExchangeDelayedSeconds is the part of delayed_seconds in sync_exposed. It is read in the last of these
	// steps, and taken for all of them by their sync_exposed.
	ExchangeDelayedSeconds float64 `json:"exchange_delayed_seconds,omitempty"`
	// GradientCPUSeconds is the part of cpu_seconds until the rank had computed its gradient. What forward
	// and backward passes took longer than that, delays at most, they waited for cores.
	GradientCPUSeconds float64 `json:"gradient_cpu_seconds,omitempty"`
	// PausedSeconds is time in which Go's runtime had stopped the process, read and shared likewise.
	PausedSeconds float64 `json:"paused_seconds,omitempty"`
	// CheckpointSeconds is time between this step and the one before it in which training stood still for a
	// checkpoint, which it copied or waited for: part of usage_seconds, and of no step.
	CheckpointSeconds float64 `json:"checkpoint_seconds,omitempty"`
	// PeerSeconds is the part of sync_exposed in which nothing had come yet from a rank whose turn it was:
	// wait for slower ranks, and the latency of the link. With servers it has their updates, too.
	PeerSeconds float64 `json:"peer_seconds,omitempty"`
	// AddSeconds is the part of sync_exposed in which vectors were added.
	AddSeconds float64 `json:"add_seconds,omitempty"`
	// CodeSeconds is the part of sync_exposed in which gradients were compressed, encoded or decoded.
	CodeSeconds float64 `json:"code_seconds,omitempty"`
}

// Evaluation is how well the model did on the validation or the test set at one time of a run: a line of
// evaluations.jsonl, and part of summary.json. A run with both is evaluated on the test set at its end alone.
// Loss, accuracy, metrics and rate are the same on all ranks, so rank 0 tells them, unless ranks never
// exchange.
type Evaluation struct {
	Part     string  `json:"part,omitempty"`    // validation or test; "": an older version, test
	Rank     int     `json:"rank"`              // whose replica
	Steps    int     `json:"steps"`             // trained so far
	Epochs   float64 `json:"epochs"`            // the same in epochs
	Loss     Number  `json:"loss"`              // mean of the task's; null: not computed
	Accuracy Number  `json:"accuracy"`          // part of the samples, 0 to 1; null: the task has none
	Rate     float64 `json:"learning_rate"`     // of the last step; 0 if there was none
	Views    int     `json:"views"`             // of each sample, their logits averaged
	Samples  int64   `json:"samples,omitempty"` // of the part; 0: an older version did not tell
	Seconds  float64 `json:"seconds"`           // that it took; 0: others trained on

	TrainSeconds float64 `json:"train_seconds"` // of training before it, see Target
	WallSeconds  float64 `json:"wall_seconds"`  // of training and evaluations, this one included

	Metrics []Metric `json:"metrics,omitempty"` // of the task, in its order
}

// Metric is a figure of an evaluation besides its loss and accuracy. A regression has RMSE, MAE and R2.
type Metric struct {
	Name  string `json:"name"`  // such as RMSE
	Value Number `json:"value"` // in the unit of what is predicted; null: no number
}

// Figure returns the name of the figure by which the evaluation is told in short, its value and that with its
// unit: the accuracy or, of a task without, the first metric.
func (e Evaluation) Figure() (name string, value float64, text string) {
	if len(e.Metrics) == 0 || !math.IsNaN(float64(e.Accuracy)) {
		return "accuracy", 100 * float64(e.Accuracy), fmt.Sprintf("%.2f %%", 100*e.Accuracy)
	}
	m := e.Metrics[0]
	return m.Name, float64(m.Value), fmt.Sprintf("%.5g", m.Value)
}

// Told says the metrics of the evaluation in a row; "" if it has none.
func (e Evaluation) Told() string {
	var each []string
	for _, m := range e.Metrics {
		each = append(each, fmt.Sprintf("%s %.5g", m.Name, m.Value))
	}
	return strings.Join(each, ", ")
}

// Final returns the evaluation that the figures at the end are of, the last; the zero value if there is none.
func Final(all []Evaluation) (e Evaluation) {
	if n := len(all); n > 0 {
		e = all[n-1]
	}
	return e
}

// Of returns the name of the part that was evaluated: validation or test.
func (e Evaluation) Of() string { return cmp.Or(e.Part, "test") }

// Followed returns the evaluations of the part that was evaluated during training.
func Followed(all []Evaluation) []Evaluation {
	isOther := func(e Evaluation) bool { return e.Of() != all[0].Of() }
	return slices.DeleteFunc(slices.Clone(all), isOther)
}

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
