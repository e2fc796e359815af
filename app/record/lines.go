package record

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
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
	// summed over threads. It is read at the end of a step every 20 ms, and shared among the steps since by
	// their times, but in a run that keeps checkpoints.
	DelayedSeconds float64 `json:"delayed_seconds,omitempty"`
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
// Loss, accuracy and rate are the same on all ranks, so rank 0 tells them, unless ranks never exchange.
type Evaluation struct {
	Part     string  `json:"part,omitempty"`    // validation or test; "": an older version, test
	Rank     int     `json:"rank"`              // whose replica
	Steps    int     `json:"steps"`             // trained so far
	Epochs   float64 `json:"epochs"`            // the same in epochs
	Loss     Number  `json:"loss"`              // mean cross entropy; null: not computed
	Accuracy float64 `json:"accuracy"`          // part of the samples, 0 to 1
	Rate     float64 `json:"learning_rate"`     // of the last step; 0 if there was none
	Views    int     `json:"views"`             // of each sample, their logits averaged
	Samples  int64   `json:"samples,omitempty"` // of the part; 0: an older version did not tell
	Seconds  float64 `json:"seconds"`           // that it took; 0: others trained on

	TrainSeconds float64 `json:"train_seconds"` // of training before it, see Target
	WallSeconds  float64 `json:"wall_seconds"`  // of training and evaluations, this one included
}

// UnmarshalJSON reads an evaluation; older ones have no loss.
func (e *Evaluation) UnmarshalJSON(b []byte) error {
	type fields Evaluation
	read := fields{Loss: Number(math.NaN())}
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	*e = Evaluation(read)
	return nil
}

// Of returns the name of the part that was evaluated: validation or test.
func (e Evaluation) Of() string { return cmp.Or(e.Part, "test") }

// FinalPart returns the name of the part that the figures at the end are of, given all evaluations.
func FinalPart(all []Evaluation) string {
	if len(all) == 0 {
		return Evaluation{}.Of()
	}
	return all[len(all)-1].Of()
}

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
