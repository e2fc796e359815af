package train

import (
	"math"
	"time"

	"lockstep/trace"
)

// Note: clocks
//
// Training time is the wall time of Run without the evaluations: it begins before the first step,
// when data, programs and memory are ready. It counts what the network prepares by training samples,
// waiting for data and for other workers, copying for checkpoints, and what listeners take. A resumed
// run goes on counting from its moment. Evaluations, which a run makes more or fewer of without
// training any better, are counted apart.

// maxSteps is the number of steps of a run whose length is a time: more than there can be.
const maxSteps = math.MaxInt32

// numLengths counts the ways in which the length is given; negative ones count as many.
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

// steps returns the length of the run, or maxSteps if that is a time.
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

// trained returns the training time so far, of all parts of the run.
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
	t := l.done.Test
	return l.config.Target > 0 && t.Samples > 0 && t.Accuracy() >= l.config.Target
}
