package train

import (
	"lockstep/internal/trace"
)

// testPart returns the contiguous part of the test set that this worker evaluates.
func (c Config) testPart() (lo, hi int) {
	switch {
	case c.Test == nil:
		return 0, 0
	case c.Isolated:
		return 0, c.Test.Len()
	}
	n, p := c.Test.Len(), c.Plan.Workers()
	return n * c.Rank / p, n * (c.Rank + 1) / p
}

// evaluate counts how many test samples are classified correctly: each worker its part, in batches
// with a smaller last one, so that every sample counts once; then the counts are added up.
func (l *Loop) evaluate() error {
	if l.config.Test == nil || l.config.Test.Len() == 0 {
		return nil
	}
	l.lap(trace.Other, "")
	before := l.clock.Phases()
	counts := l.counts[:2]
	clear(counts)
	lo, hi := l.config.testPart()
	for at := lo; at < hi; at += l.config.EvalBatch {
		n := min(l.config.EvalBatch, hi-at)
		p := l.programs.evaluation[n]
		l.config.Test.Take(&l.tested, at, at+n)
		read(p, &l.tested)
		p.Forward()
		counts[0] += int64(p.Correct())
		counts[1] += int64(n)
	}
	if !l.config.Isolated {
		if err := l.sync.Sum(counts); err != nil {
			return l.failed("sum of test results", err)
		}
	}
	l.lap(trace.Evaluation, "evaluation")
	l.done.Test = Evaluation{
		Steps: l.done.Steps, Epochs: l.done.Epochs, Correct: counts[0], Samples: counts[1],
		Time: l.clock.Phases().Minus(before)[trace.Evaluation],
	}
	l.sink.Evaluation(l.done.Test)
	l.lap(trace.Other, "")
	return nil
}
