package train

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/trace"
)

// Config is everything one worker needs to train. All workers of a run have the same, except for
// Rank, Alloc, Checkpointer, CPU, Watch, Scored and Trace.
type Config struct {
	// Network is the model. Its input shape and classes must match Train.
	Network model.Network
	// Train is the training set, with at least one sample.
	Train *data.Set
	// Validation is evaluated during training and at its end; nil means that Test is.
	Validation *data.Set
	// Test is evaluated at the end, and during training if there is no Validation; nil means that it is not.
	Test *data.Set
	// Augment changes training images at random.
	Augment data.Augmentation

	// Batch is the number of samples of one step over all workers, at least Plan.Shards(). The last
	// step of an epoch takes the remaining samples, even if some shards stay empty.
	Batch int
	// Plan assigns virtual shards to workers.
	Plan shard.Plan
	// Rank is this worker's rank, 0 to Plan.Workers()-1.
	Rank int
	// Isolated means that workers exchange nothing: each trains on its own shards alone, divides by
	// the number of its own samples, and evaluates the whole test set.
	Isolated bool

	// WholeBatches means that every worker computes all shards of the batches that the Updater
	// assigns to it, and evaluates the whole test set.
	WholeBatches bool

	// StopsTogether makes all workers of a cancelled run end after the same step, which rank 0
	// chooses when it is cancelled; an Outer lets it choose at the end of a round. Otherwise each ends
	// before its next step. It is for snapshots to which several processes contribute.
	StopsTogether bool

	// EvalOnly makes a loop that evaluates Test, or without it Validation, once and does not train.
	EvalOnly bool
	// Steps is the length of the run in steps; 0 means Epochs.
	Steps int
	// Epochs is the length of the run in epochs; 0 means Steps.
	Epochs int
	// For is the length of the run in training time. The last step is the first one that is
	// expected to end after it, assuming that it takes as long as the step before. Rank 0's clock
	// decides, and all workers learn the decision in that step; isolated workers use their own
	// clocks. Exactly one of Steps, Epochs and For is set.
	For time.Duration
	// Target, 0 to 1, ends the run at the first evaluation with at least this accuracy; 0 means
	// none.
	Target float64
	// Selection chooses weights and the end of the run by evaluations of Validation.
	Selection Selection
	// IsOver is asked after every step and every evaluation whether the run is to end there, as if that were
	// its length; nil: it goes on. All workers must get the same answer at the same place.
	IsOver func() bool
	// EvalEvery is the number of epochs between evaluations; 0 means at the end only. The run
	// always evaluates at its end.
	EvalEvery int
	// Views are the variants of a test image (test-time augmentation) whose logits are averaged;
	// none means the image itself. Texts have no views.
	Views []data.View
	// Predictions gathers the network's outputs in evaluations; a Task with metrics has them gathered anyway.
	Predictions bool
	// EvalBatch is the number of samples of one evaluation batch; 0 means 100, or with an Executor that is
	// not in place those of a shard, from 100 to 1000.
	EvalBatch int

	// Task is what the network learns; the zero value is Classification(0).
	Task Task
	// Optimizer is the update rule, with the learning rate for the global batch.
	Optimizer optim.Config
	// Schedule changes the learning rate over the run.
	Schedule optim.ScheduleConfig
	// Clip is the largest norm of the mean gradient over all parameters, above which it is scaled
	// down; 0 means none. The norm is that of the global gradient, so it is the same on all
	// workers.
	Clip float64
	// EMA, in [0, 1), is the decay of an exponential moving average of parameters and running
	// statistics; 0 means none. The average starts at their initial values. It is what is evaluated
	// and what the run ends with.
	EMA float64
	// Lookahead configures slow parameters and running statistics, which are what is evaluated and
	// what the run ends with, unless there is an EMA; the zero value means none.
	Lookahead optim.LookaheadConfig
	// Seed determines the initial parameters, the order of samples and the augmentation.
	Seed uint64

	// MemoryLimit is the size of one shard's activations above which cheap ones are recomputed in
	// the backward pass, and of those of shards abreast above which fewer are, in bytes; 0 means no limit.
	// It changes no bit.
	MemoryLimit int64
	// InTurn keeps a single worker from computing its shards abreast, because its gradients have somewhere
	// to go. It changes no bit.
	InTurn bool

	// ByBlock orders training images as data.Sampler.ByBlock does.
	ByBlock bool
	// Pace makes the preparation of batches slower.
	Pace data.Pace
	// Updater makes the Updater; New calls it once the loop has its variables and gradients. Nil
	// means NewLocal.
	Updater func(*Loop) (Updater, error)
	// IsLocal says that Updater makes that of NewLocal, perhaps wrapped, and does not ask for
	// Loop.Pieces: weights and gradients may then stay in the memory of a Resident Executor.
	IsLocal bool
	// Alloc allocates a vector of n zeros for gradients, for example one that peers can read; nil
	// means the heap.
	Alloc func(n int) []float32
	// Checkpointer saves snapshots of the run; nil means none.
	Checkpointer Checkpointer
	// CPU runs the kernels. The loop has exclusive use of it but does not close it.
	CPU *compute.CPU
	// Executor computes the programs; nil means graph.NewHost(CPU). Everything else runs on CPU.
	Executor graph.Executor
	// Watch is called before every batch is computed, with trace.Forward in training and with
	// trace.Evaluation; it may be nil.
	Watch func(trace.Phase)
	// Scored is called before an evaluation of a set and after each of its batches with how many of all the
	// samples that this worker scores it has scored; it may be nil.
	Scored func(set *data.Set, done, all int)
	// Trace records spans; it may be nil.
	Trace *trace.Recorder
}

// The default number of samples that are evaluated at once, and the most for an executor that wants many.
const (
	leastEvalBatch = 100
	mostEvalBatch  = 1000
)

// defaultEvalBatch returns how many samples are evaluated at once. An executor with memory of its own wants
// many, but no more than a shard of training has, whose passes fit its memory.
func (c Config) defaultEvalBatch() int {
	if !c.isApart() {
		return leastEvalBatch
	}
	return min(max(leastEvalBatch, shard.Samples(c.Batch, c.Plan.Shards(), 0)), mostEvalBatch)
}

// isApart reports whether an executor computes whose memory is not the host's.
func (c Config) isApart() bool { return c.Executor != nil && !c.Executor.InPlace() }

// Validate returns an error for the first invalid setting.
func (c Config) Validate() error {
	for _, check := range []func() error{c.checkRun, c.checkSamples, c.checkTask, c.checkInput,
		c.Schedule.Validate, c.Lookahead.Validate, c.Optimizer.Validate} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkRun returns an error for the first setting that is invalid whatever the model and the data are.
func (c Config) checkRun() error {
	switch {
	case c.CPU == nil:
		return fmt.Errorf("train: no CPU to run on")
	case c.Train == nil || c.Train.Len() == 0:
		return fmt.Errorf("train: no training samples")
	case c.Plan.Shards() < 1:
		return fmt.Errorf("train: no plan of shards")
	case c.Rank < 0 || c.Rank >= c.Plan.Workers():
		return fmt.Errorf("train: rank %d of %d workers", c.Rank, c.Plan.Workers())
	case c.Batch < c.Plan.Shards():
		return fmt.Errorf("train: batch %d for %d shards, want at least one sample in each",
			c.Batch, c.Plan.Shards())
	case c.numLengths() != 1:
		return fmt.Errorf("train: length of %d steps, %d epochs and %v, want exactly one of them",
			c.Steps, c.Epochs, c.For)
	case c.For > 0 && (c.Schedule.WantsLength() || c.Lookahead.Power > 0):
		return fmt.Errorf("train: schedule %s, or lookahead of power %d, over %v, want a length in steps",
			c.Schedule.Name, c.Lookahead.Power, c.For)
	case !(c.Target >= 0 && c.Target <= 1):
		return fmt.Errorf("train: accuracy of %v to reach, want 0 to 1", c.Target)
	case c.Target > 0 && c.Isolated:
		return fmt.Errorf("train: workers that never exchange would reach an accuracy at different steps")
	case c.MemoryLimit < 0:
		return fmt.Errorf("train: memory limit of %d bytes, want 0 or more", c.MemoryLimit)
	case !(c.Clip >= 0 && c.Clip <= math.MaxFloat32):
		return fmt.Errorf("train: clip gradients to the norm %v, want 0 or more", c.Clip)
	case !(c.EMA >= 0 && c.EMA < 1):
		return fmt.Errorf("train: decay %v of the moving average, want 0 to below 1", c.EMA)
	case !c.Isolated && !c.EvalOnly && c.Updater == nil && c.Plan.Workers() > 1:
		return fmt.Errorf("train: %d workers, and no updater to connect them", c.Plan.Workers())
	case c.EvalOnly && (c.scored() == nil || c.scored().Len() == 0):
		return fmt.Errorf("train: no test samples, and nothing to do but evaluate")
	case c.EvalEvery < 0 || c.EvalBatch < 0:
		return fmt.Errorf("train: evaluation every %d epochs in batches of %d, want 0 or more",
			c.EvalEvery, c.EvalBatch)
	}
	return c.Selection.check(c)
}

// scored returns what is evaluated at the end; nil means nothing.
func (c Config) scored() *data.Set { return cmp.Or(c.Test, c.Validation) }

// followed returns what is evaluated during training; nil means nothing.
func (c Config) followed() *data.Set { return cmp.Or(c.Validation, c.Test) }

// checkSamples returns an error if the data sets are not whole, or not of the size that the model takes.
func (c Config) checkSamples() error {
	for _, set := range []*data.Set{c.Train, c.Validation, c.Test} {
		if set == nil {
			continue
		}
		if err := set.Check(); err != nil {
			return err
		}
		if !set.Shape.Equal(c.Network.Input) {
			return fmt.Errorf("train: data set %s has samples %v, %s wants %v",
				set.Name, set.Shape, c.Network.Name, c.Network.Input)
		}
	}
	return nil
}

// checkInput returns an error if the model cannot read the tokens of texts or the views of images.
func (c Config) checkInput() error {
	for _, set := range []*data.Set{c.Train, c.Validation, c.Test} {
		if set != nil && set.Texts != nil && set.Texts.Vocabulary > c.Network.Words {
			return fmt.Errorf("train: data set %s has a vocabulary of %d tokens, %s knows %d",
				set.Name, set.Texts.Vocabulary, c.Network.Name, c.Network.Words)
		}
	}
	for _, v := range c.Views {
		if in := c.Network.Input; c.Network.ReadsTexts() || !v.Fits(in[0], in[1]) {
			return fmt.Errorf("train: test samples %v cannot be shown as %+v", in, v)
		}
	}
	return nil
}

// run returns the shards [lo, hi) of this worker at the start.
func (c Config) run() (lo, hi int) {
	if c.WholeBatches {
		return 0, c.Plan.Shards()
	}
	return c.Plan.Run(c.Rank)
}

// batches returns the batch sizes that occur in this run: Batch, and the rest at the end of an
// epoch.
func (c Config) batches() []int {
	n := c.Train.Len()
	tail := n % c.Batch
	switch {
	case c.EvalOnly:
		return nil
	case tail == 0 || c.steps() < c.stepsPerEpoch():
		return []int{c.Batch}
	case n < c.Batch:
		return []int{n}
	}
	return []int{c.Batch, tail}
}
