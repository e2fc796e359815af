package train

import (
	"fmt"
	"math"

	"lockstep/shard"
)

// GrowthConfig lets the batch grow between epochs by the gradient noise scale; the zero value keeps it.
type GrowthConfig struct {
	// Most is the largest batch, at least Config.Batch; 0 means that the batch stays.
	Most int
	// Rate returns the learning rate for batches of so many samples; nil means that it stays.
	Rate func(batch int) float64
}

// Growth says what the gradient noise scale was in an epoch, and how the batch changed after it.
type Growth struct {
	// Step is the number of steps done, Epochs that of epochs.
	Step, Epochs int
	// From and To are the samples of a step before and from now on, Rate the learning rate from now
	// on, which the schedule multiplies.
	From, To int
	Rate     float64
	// Noise is the noise scale: the batch at which the noise of the mean gradient has the size of
	// the gradient; +Inf if no gradient was found below the noise. Trace is the trace of the covariance
	// of a sample's gradient, Square the squared norm of the true gradient, both as means over
	// Steps measured steps.
	Noise, Trace, Square float64
	Steps                int
}

// Note: growing batch
//
// A run whose batch grows is a sequence of parts. In each, batch and shards are a power of two times
// those of the configuration; shards keep their size, and the learning rate and the schedule continue as
// in a run that always had this batch, at the same epoch. Only whole epochs belong to a part, so that
// every sample of an epoch is used once.

// Part is where a run with a growing batch is. It belongs to Progress.
type Part struct {
	// Factor multiplies batch and shards; 0 and 1 are a batch that has not grown.
	Factor int `json:"factor"`
	// Step and Epoch are the steps and epochs done when the part began.
	Step  int `json:"step"`
	Epoch int `json:"epoch"`
	// Shards is the number of shards computed until then.
	Shards int64 `json:"shards"`
	// Trace and Square are the sums of the estimates of this epoch so far, Measured their number.
	Trace    float64 `json:"trace"`
	Square   float64 `json:"square"`
	Measured int     `json:"measured"`
}

// inEpoch returns how many steps of an epoch are done after so many steps; 0 at the end of one.
func (c Config) inEpoch(steps int) int { return (steps - c.part.Step) % c.stepsPerEpoch() }

// epochs returns the number of whole epochs in so many steps.
func (c Config) epochs(steps int) int { return c.part.Epoch + (steps-c.part.Step)/c.stepsPerEpoch() }

// epochsAt returns the epochs in so many steps, with the fraction of the last.
func (c Config) epochsAt(steps int) float64 {
	return float64(c.part.Epoch) + float64(steps-c.part.Step)/float64(c.stepsPerEpoch())
}

// even returns the number that a step would have if the batch had always had its size.
func (c Config) even(step int) int { return c.part.Epoch*c.stepsPerEpoch() + step - c.part.Step }

// numSamples returns the samples of the first steps.
func (c Config) numSamples(steps int) int {
	return c.epochs(steps)*c.Train.Len() + c.inEpoch(steps)*c.Batch
}

// numShards returns the shards of the first steps.
func (c Config) numShards(steps int) int64 {
	return c.part.Shards + int64(steps-c.part.Step)*int64(c.Plan.Shards())
}

// checkGrowth returns an error if the batch cannot grow.
func (c Config) checkGrowth() error {
	switch g := c.Growth; {
	case g.Most == 0:
	case g.Most < c.Batch:
		return fmt.Errorf("train: batch of at most %d, want at least %d", g.Most, c.Batch)
	case c.Epochs == 0 || c.Isolated || c.Lookahead.Power > 0:
		return fmt.Errorf("train: growing batch: want a length in epochs, workers that exchange, and " +
			"lookahead without power")
	case c.Plan.Shards() < 2:
		return fmt.Errorf("train: growing batch in one shard, want at least 2 to compare")
	}
	return nil
}

// grow begins a part with factor times as many samples and shards.
func (l *Loop) grow(p Part, factor int) error {
	c := &l.config
	lengths := c.Plan.Lengths()
	for i := range lengths {
		lengths[i] *= factor
	}
	var err error
	if c.Plan, err = shard.PlanOf(lengths); err != nil {
		return err
	}
	c.Batch *= factor
	c.part = p
	l.rows = make(Rows, c.Plan.Shards()*l.rowLen)
	return l.reschedule()
}

// reschedule makes the schedule for the batch.
func (l *Loop) reschedule() (err error) {
	c := l.config
	rate := c.Optimizer.LR
	if c.Growth.Rate != nil {
		rate = c.Growth.Rate(c.Batch)
	}
	l.schedule, err = c.Schedule.Build(rate, c.even(c.steps()), c.stepsPerEpoch())
	return err
}

// larger returns by how much the batch grows after an epoch with this noise scale: twice, if the batch
// then is no larger than the noise scale, the bound and the data set.
func (c Config) larger(noise float64) int {
	if next := 2 * c.Batch; float64(next) <= noise && next <= c.Growth.Most && next <= c.Train.Len() {
		return 2
	}
	return 1
}

// noiseScale returns the noise scale of the epoch so far.
func (p Part) noiseScale() float64 {
	if p.Square <= 0 {
		return math.Inf(1)
	}
	return max(0, p.Trace/p.Square)
}

// Estimate returns unbiased estimates of the trace of the covariance of a sample's gradient and of the
// squared norm of the true gradient (McCandlish et al. 2018, "An Empirical Model of Large-Batch
// Training", appendix A.1, with batches of any sizes).
//
// norms[v] is the squared norm of the mean gradient of n[v] samples, whole that of the mean gradient of
// all of them together, N. The expectation of a squared norm is square + trace/n, so
//
//	trace  = (mean of norms - whole) / (mean of 1/n - 1/N)
//	square = whole - trace/N.
//
// It takes at least two norms. Sums are taken in the order of v.
func Estimate(norms []float64, n []int, whole float64) (trace, square float64) {
	mean, inverse, all := 0.0, 0.0, 0
	for v, x := range norms {
		mean += x / float64(len(norms))
		inverse += 1 / float64(n[v]) / float64(len(norms))
		all += n[v]
	}
	trace = (mean - whole) / (inverse - 1/float64(all))
	return trace, whole - trace/float64(all)
}
