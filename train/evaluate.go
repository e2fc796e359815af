package train

import (
	"lockstep/graph"
	"lockstep/trace"
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
	if err := l.settle(); err != nil {
		return err
	}
	l.lap(trace.Other, "")
	before := l.clock.Phases()
	counts := l.counts[:2]
	clear(counts)
	lo, hi := l.config.testPart()
	for at := lo; at < hi; at += l.config.EvalBatch {
		n := min(l.config.EvalBatch, hi-at)
		counts[0] += int64(l.recognised(at, at+n))
		counts[1] += int64(n)
	}
	if !l.config.Isolated {
		if err := l.sync.Sum(counts); err != nil {
			l.cutOff = true
			return l.failed("sum of test results", err)
		}
	}
	l.lap(trace.Evaluation, "evaluation")
	l.done.Test = Evaluation{
		Steps: l.done.Steps, Epochs: l.done.Epochs, Correct: counts[0], Samples: counts[1],
		Time: l.clock.Phases().Minus(before)[trace.Evaluation], Trained: l.trained(),
	}
	l.sink.Evaluation(l.done.Test)
	l.lap(trace.Other, "")
	return nil
}

// recognised returns how many of the test samples [lo, hi) are classified correctly.
func (l *Loop) recognised(lo, hi int) int {
	p := l.programs.evaluation[hi-lo]
	if len(l.config.Views) > 0 {
		return l.recognisedInViews(p, lo, hi)
	}
	l.config.Test.Take(&l.tested, lo, hi)
	read(p, &l.tested)
	p.Forward()
	return p.Correct()
}

// recognisedInViews is recognised for the average of the logits of all views, added in their order.
func (l *Loop) recognisedInViews(p *graph.Program, lo, hi int) int {
	mean := l.logits[:len(p.Logits())]
	clear(mean)
	for _, v := range l.config.Views {
		l.config.Test.TakeView(&l.tested, lo, hi, v)
		read(p, &l.tested)
		p.Forward()
		for i, x := range p.Logits() {
			mean[i] += float32(v.Weight * x)
		}
	}
	return graph.CountCorrect(mean, l.tested.Labels)
}
