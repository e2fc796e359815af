package train

import (
	"time"

	"lockstep/trace"
)

// Sink listens to a running loop. Its methods are called from the training goroutine, between
// steps; what they take counts as phase "other" and belongs to no step.
type Sink interface {
	Step(Step)
	Evaluation(Evaluation)
}

// Step says what one step did. All but OwnLoss and times is the same on every worker, unless
// isolated.
type Step struct {
	// Number and Epoch count from 0.
	Number, Epoch int
	// Samples is the size of the global batch (isolated: of this worker's share), Correct how
	// many of them were classified correctly before the update.
	Samples, Correct int
	// Loss is the mean over the batch before the update.
	Loss float64
	// OwnLoss is the same mean over this worker's own shards alone: the sum of their losses, in
	// shard order, divided by their number of samples; NaN if the step left them none. It shows
	// what the worker saw by itself and is never exchanged. Weighted by samples, the own losses
	// of all workers average to Loss; an isolated worker's is its Loss.
	OwnLoss float64
	// Rate is the learning rate of the update.
	Rate float64
	// Time is how long the step took here, and Phases what for; they add up exactly.
	Time   time.Duration
	Phases trace.Phases
}

// Evaluation says how well the model did on the test set.
type Evaluation struct {
	// Steps and Epochs count what had been trained.
	Steps  int     `json:"steps"`
	Epochs float64 `json:"epochs"`
	// Loss is the mean cross entropy over the test samples, without label smoothing. With views it is
	// that of the averaged logits.
	Loss float64 `json:"loss"`
	// Rate is the learning rate of the last update; 0 if there was none.
	Rate float64 `json:"rate"`
	// Correct of Samples test samples were classified correctly, over all workers.
	Correct int64 `json:"correct"`
	Samples int64 `json:"samples"`
	// Time is how long the evaluation took here, Trained how long the training before it.
	Time    time.Duration `json:"nanoseconds"`
	Trained time.Duration `json:"trained_nanoseconds"`
}

// Accuracy returns Correct/Samples.
func (e Evaluation) Accuracy() float64 { return float64(e.Correct) / float64(e.Samples) }

// Result is what a run left on one worker. Of a resumed run, steps, samples, losses, counts and the
// last evaluation are those of the whole run; OwnSamples, FLOPs and times are those of this part.
type Result struct {
	// Steps were done; Epochs is the same in epochs, with the fraction of the last.
	Steps  int
	Epochs float64
	// Samples were trained on over all workers (isolated: on this one), OwnSamples on this one.
	Samples, OwnSamples int64
	// Time is the wall time from the first step's beginning to the end of the last evaluation;
	// Phases add up to it exactly. Compiling and loading come before.
	Time   time.Duration
	Phases trace.Phases
	// Trained is Time without the evaluations, of all parts of a resumed run.
	Trained time.Duration
	// FLOPs are the additions and multiplications of this worker's forward and backward passes, as
	// graph.Program.FLOPs counts them.
	FLOPs int64
	// StepTimes holds how long each step took, without evaluation and listeners.
	StepTimes []time.Duration
	// FirstLoss and LastLoss are the mean losses of the first and the last step.
	FirstLoss, LastLoss float64
	// TrainCorrect of TrainSamples were classified correctly in the last epoch, or the part of it
	// that was run, each before its step's update.
	TrainCorrect, TrainSamples int64
	// Test is the last evaluation; its Samples are 0 if there was none.
	Test Evaluation
	// ParameterSHA256 is graph.Variables.SHA256 at the end: all parameters and running statistics.
	ParameterSHA256 string
	// Parameters counts the trained numbers, ArenaBytes the memory of all programs' activations.
	Parameters int
	ArenaBytes int64
}

// TrainAccuracy returns TrainCorrect/TrainSamples.
func (r Result) TrainAccuracy() float64 { return float64(r.TrainCorrect) / float64(r.TrainSamples) }
