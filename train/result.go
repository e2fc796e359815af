package train

import (
	"time"

	"lockstep/metric"
	"lockstep/trace"
)

// Sink receives the events of a running loop. Its methods are called on the training goroutine,
// between steps; their time counts as phase "other" and belongs to no step.
type Sink interface {
	Step(Step)
	Evaluation(Evaluation)
}

// Step is the event of one step. Everything but OwnLoss, Shards and the times is the same on every worker,
// unless workers are isolated or their Updater shows each the rows of its own shards only.
type Step struct {
	// Number and Epoch count from 0.
	Number, Epoch int
	// Samples is the size of the global batch, or of this worker's part if it sees no other rows;
	// Correct is how many of them were classified correctly before the update.
	Samples, Correct int
	// Loss is the mean over these samples before the update.
	Loss float64
	// OwnLoss is the mean over this worker's own shards: the sum of their losses, in shard order,
	// divided by their number of samples; NaN if there are none. It is never exchanged. Weighted by
	// samples, the own losses of all workers average to Loss; it equals Loss for a worker that sees
	// no other rows.
	OwnLoss float64
	// Rate is the learning rate of the update.
	Rate float64
	// Shards is the number of shards that this worker computed.
	Shards int
	// Time is how long the step took on this worker, Phases its parts; they add up exactly.
	Time   time.Duration
	Phases trace.Phases
}

// Evaluation is the result of the model on the validation or the test set.
type Evaluation struct {
	// IsValidation says that it is on the validation set.
	IsValidation bool `json:"is_validation,omitempty"`
	// IsBest says that it is the best so far, see Selection.
	IsBest bool `json:"is_best,omitempty"`
	// Steps and Epochs are the numbers trained before it.
	Steps  int     `json:"steps"`
	Epochs float64 `json:"epochs"`
	// Loss is the mean over the samples of what the task's Score adds up; for a classification the cross
	// entropy, without label smoothing. With views it is that of the averaged logits.
	Loss float64 `json:"loss"`
	// Metrics are those of the task, in its order; none for a classification.
	Metrics []Figure `json:"metrics,omitempty"`
	// Predictions are the network's of all samples, the same on every worker, until the next evaluation; nil
	// if they were not gathered, as those of more than 2^23 values.
	Predictions *metric.Predictions `json:"-"`
	// Rate is the learning rate of the last update; 0 if there was none.
	Rate float64 `json:"rate"`
	// Correct of Samples were classified correctly, over all workers; 0 if the task has no
	// such count.
	Correct int64 `json:"correct"`
	Samples int64 `json:"samples"`
	// Time is how long the evaluation took on this worker, 0 if other workers went on meanwhile;
	// Trained is the training time before it.
	Time    time.Duration `json:"nanoseconds"`
	Trained time.Duration `json:"trained_nanoseconds"`
}

// Part returns the name of the set: validation or test.
func (e Evaluation) Part() string {
	if e.IsValidation {
		return "validation"
	}
	return "test"
}

// Figure is the value of a metric.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Accuracy returns Correct/Samples.
func (e Evaluation) Accuracy() float64 { return float64(e.Correct) / float64(e.Samples) }

// Result is the result of a run on one worker. For a resumed run, steps, samples, losses, counts
// and the last evaluation are those of the whole run; OwnSamples, FLOPs and times are those of the
// last part.
type Result struct {
	// Steps is the number of steps; Epochs is the same in epochs, with the fraction of the last.
	Steps  int
	Epochs float64
	// Samples is the number trained on over all workers (isolated: on this one), OwnSamples on this
	// one.
	Samples, OwnSamples int64
	// Shards is the number of shards trained on over all workers.
	Shards int64
	// Time is the wall time from the start of the first step to the end of the last evaluation;
	// Phases add up to it exactly. It excludes compiling and loading.
	Time   time.Duration
	Phases trace.Phases
	// Trained is Time without the evaluations, over all parts of a resumed run.
	Trained time.Duration
	// Watched is what the executor's own clock says of some of the steps; nil: it has none, or saw no step.
	Watched *Watched
	// FLOPs is the number of additions and multiplications of this worker's forward and backward
	// passes, as counted by graph.Program.FLOPs; HardwareFLOPs has also what was computed again.
	FLOPs, HardwareFLOPs int64
	// StepTimes holds how long each step took, without evaluations and the Sink.
	StepTimes []time.Duration
	// FirstLoss and LastLoss are the mean losses of the first and the last step.
	FirstLoss, LastLoss float64
	// TrainCorrect of TrainSamples were classified correctly in the last epoch, or its completed
	// part, each before its step's update.
	TrainCorrect, TrainSamples int64
	// Validation and Test are the last evaluations of each set; their Samples are 0 if there was none.
	Validation, Test Evaluation
	// Best is what Selection has found.
	Best Best
	// ParameterSHA256 is graph.Variables.SHA256 at the end, over all parameters and running
	// statistics.
	ParameterSHA256 string
	// Parameters is the number of trained values, ArenaBytes the size of the activations' arena.
	Parameters int
	ArenaBytes int64
}

// Scored returns the last evaluation of the test set or, if there was none, of the validation set.
func (r Result) Scored() Evaluation {
	if r.Test.Samples == 0 {
		return r.Validation
	}
	return r.Test
}

// TrainAccuracy returns TrainCorrect/TrainSamples.
func (r Result) TrainAccuracy() float64 { return float64(r.TrainCorrect) / float64(r.TrainSamples) }

// LossAfter returns the loss at which a run stands after a step by the samples of a batch that may have so
// many at most: a smaller batch is filled up with the loss before it.
func LossAfter(before, loss float64, samples, most int) float64 {
	part := float64(samples) / float64(most)
	return float64((1-part)*before) + float64(part*loss)
}
