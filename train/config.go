package train

import (
	"fmt"
	"math"
	"time"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/trace"
)

// Config is everything one worker needs to train. All workers of a run have the same, except for
// Rank, Memory, Keeper, CPU, Watch and Trace.
type Config struct {
	// Network is the model. Its input and classes must be those of Train.
	Network model.Network
	// Train is the training set, with at least one sample.
	Train *data.Set
	// Test is the set to evaluate on; nil means never.
	Test *data.Set
	// Augment changes training images at random.
	Augment data.Augmentation

	// Batch is the number of samples of one step over all workers, at least Plan.Shards(). The
	// last step of an epoch takes what is left, even if some shards stay empty.
	Batch int
	// Plan says which worker owns which virtual shards.
	Plan shard.Plan
	// Rank is this worker's number, 0 to Plan.Workers()-1.
	Rank int
	// Isolated means that workers never exchange anything: each trains on its own shards alone,
	// divides by its own samples, and evaluates the whole test set.
	Isolated bool

	// EvalOnly makes a loop that evaluates once and trains nothing; Test is required.
	EvalOnly bool
	// Steps is the length of the run in steps; 0 means Epochs.
	Steps int
	// Epochs is the length of the run in epochs; 0 means Steps.
	Epochs int
	// For is the length of the run in training time. The last step is the first one that is
	// expected to end after it, if it takes as long as the one before, by the clock of rank 0
	// (isolated: of each worker), which all workers learn in that step. Exactly one of Steps,
	// Epochs and For is set.
	For time.Duration
	// Target, 0 to 1, ends the run early, with the first evaluation whose accuracy is not below
	// it; 0 means that nothing does.
	Target float64
	// EvalEvery is the number of epochs between evaluations; 0 means at the end only. The end is
	// always evaluated.
	EvalEvery int
	// Views are how test images are shown, with the average of their logits deciding; none means
	// each as it is, once. Texts have no views.
	Views []data.View
	// EvalBatch is the number of samples of one evaluation batch; 0 means 100.
	EvalBatch int

	// LabelSmoothing is the part of each training label that is spread over all classes, from 0 to 1.
	LabelSmoothing float64
	// Optimizer is the update rule, with the rate for the global batch.
	Optimizer optim.Config
	// Schedule moves the rate over the run.
	Schedule optim.ScheduleConfig
	// Clip is the greatest norm of the mean gradient over all parameters, above which it is scaled
	// down; 0 means none. The norm is that of the global gradient, so it is the same on all workers.
	Clip float64
	// EMA, in [0, 1), is the decay of a moving average of parameters and running statistics, which
	// starts at their initial values, is evaluated in their place, and is what the run ends with; 0
	// means none.
	EMA float64
	// Lookahead has slow parameters and running statistics follow, which are evaluated and are what the
	// run ends with, unless EMA's are; the zero value means none.
	Lookahead optim.LookaheadConfig
	// Seed draws the initial parameters, the order of samples, the augmentation.
	Seed uint64

	// MemoryLimit is how many bytes the intermediate values of one shard may take before cheap
	// ones are computed again in the backward pass; 0 means that all are kept. It changes no bit.
	MemoryLimit int64

	// Updater makes what turns gradients into weights; New calls it once the loop has its variables and
	// gradients. Nil means NewLocal.
	Updater func(*Loop) (Updater, error)
	// Memory returns a vector of n zeros for gradients, such as one that peers can read; nil means
	// the heap.
	Memory func(n int) []float32
	// Keeper keeps moments of the run; nil means none.
	Keeper Keeper
	// CPU runs the kernels. The loop uses it alone, but does not close it.
	CPU *compute.CPU
	// Watch is called before every batch that is computed, with trace.Forward in training and with
	// trace.Evaluation; nil means not.
	Watch func(trace.Phase)
	// Trace records spans; nil means none.
	Trace *trace.Recorder
}

const defaultEvalBatch = 100

// Validate reports the first setting that cannot work.
func (c Config) Validate() error {
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
	case !(c.LabelSmoothing >= 0 && c.LabelSmoothing <= 1):
		return fmt.Errorf("train: label smoothing of %v, want 0 to 1", c.LabelSmoothing)
	case !c.Isolated && !c.EvalOnly && c.Updater == nil && c.Plan.Workers() > 1:
		return fmt.Errorf("train: %d workers, and no updater to connect them", c.Plan.Workers())
	case c.EvalOnly && (c.Test == nil || c.Test.Len() == 0):
		return fmt.Errorf("train: no test samples, and nothing to do but evaluate")
	case c.EvalEvery < 0 || c.EvalBatch < 0:
		return fmt.Errorf("train: evaluation every %d epochs in batches of %d, want 0 or more",
			c.EvalEvery, c.EvalBatch)
	}
	for _, set := range []*data.Set{c.Train, c.Test} {
		if set == nil {
			continue
		}
		if !set.Shape.Equal(c.Network.Input) || len(set.Classes) != c.Network.Classes {
			return fmt.Errorf("train: data set %s has samples %v in %d classes, %s wants %v in %d",
				set.Name, set.Shape, len(set.Classes),
				c.Network.Name, c.Network.Input, c.Network.Classes)
		}
	}
	for _, set := range []*data.Set{c.Train, c.Test} {
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
	if err := c.Schedule.Validate(); err != nil {
		return err
	}
	if err := c.Lookahead.Validate(); err != nil {
		return err
	}
	return c.Optimizer.Validate()
}

// batches returns the numbers of samples that a step of this run can have: Batch, and what is
// left at the end of an epoch.
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
