package train

import (
	"math"
	"time"

	"lockstep/trace"
)

// Note: clocks
//
// Training time is the wall time of Run without the evaluations. It begins before the first step,
// when data, programs and memory are ready, and includes initialization by training samples,
// waiting for data and for other workers, copying for checkpoints, and the time of the Sink. A
// resumed run continues the count of its snapshot. Evaluations do not improve training and their
// number may differ between runs, so they are counted apart; but not those of one worker while others
// go on.

// maxSteps stands for the number of steps of a run whose length is a time; no run has more.
const maxSteps = math.MaxInt32

// numLengths returns how many of the lengths are set, negative ones included.
func (c Config) numLengths() int {
	if c.Steps < 0 || c.Epochs < 0 || c.For < 0 {
		return -1
	}
	n := 0
	for _, isGiven := range []bool{c.Steps > 0, c.Epochs > 0, c.For > 0} {
		if isGiven {
			n++
		}
	}
	return n
}

// stepsPerEpoch returns the number of steps that see every sample once.
func (c Config) stepsPerEpoch() int {
	return (c.Train.Len() + c.Batch - 1) / c.Batch
}

// inEpoch returns how many steps of an epoch are done after so many steps; 0 at the end of one.
func (c Config) inEpoch(steps int) int { return steps % c.stepsPerEpoch() }

// epochs returns the number of whole epochs in so many steps.
func (c Config) epochs(steps int) int { return steps / c.stepsPerEpoch() }

// epochsAt returns the epochs in so many steps, with the fraction of the last.
func (c Config) epochsAt(steps int) float64 { return float64(steps) / float64(c.stepsPerEpoch()) }

// numSamples returns the samples of the first steps.
func (c Config) numSamples(steps int) int {
	return c.epochs(steps)*c.Train.Len() + c.inEpoch(steps)*c.Batch
}

// numShards returns the shards of the first steps.
func (c Config) numShards(steps int) int64 { return int64(steps) * int64(c.Plan.Shards()) }

// samplesOf returns the number of samples of a step over all workers.
func (c Config) samplesOf(step int) int {
	return min(c.Batch, c.Train.Len()-step%c.stepsPerEpoch()*c.Batch)
}

// steps returns the length of the run, or maxSteps if the length is a time.
func (c Config) steps() int {
	switch {
	case c.EvalOnly:
		return 0
	case c.For > 0:
		return maxSteps
	case c.Steps > 0:
		return c.Steps
	}
	return c.Epochs * c.stepsPerEpoch()
}

// trained returns the training time so far, over all parts of the run.
func (l *Loop) trained() time.Duration {
	p := l.clock.Phases()
	return l.before + p.Total() - p[trace.Evaluation]
}

// isTimeUp reports whether the step in progress should be the last, by this worker's clock.
func (l *Loop) isTimeUp() bool {
	return l.config.For > 0 && l.begun+l.lastTime >= l.config.For
}

// hasReached reports whether the last evaluation ends the run.
func (l *Loop) hasReached() bool {
	t := *l.last()
	return l.config.Target > 0 && t.Samples > 0 && t.Accuracy() >= l.config.Target
}
