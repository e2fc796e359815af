package train

import (
	"math"

	"lockstep/graph"
	"lockstep/trace"
)

// Note: evaluation
//
// The test set is cut at multiples of EvalBatch, and workers take whole batches. A kernel may
// select its algorithm by the number of samples, so cutting in the same way for any number of
// workers gives each sample the same logits. Counts are sums of integers. Each batch also has one
// integer with the bits of its loss, which is 0 on all other workers, so the sum over workers gives
// every worker the loss of every batch unchanged. Each worker then adds up the losses in the order
// of batches.

// Indices of the integers that workers sum in an evaluation; one for each batch follows.
const (
	tallyCorrect = iota
	tallySamples
	tallyLosses
)

// score is the result of the network on some samples. Every metric of an evaluation comes from
// here.
type score struct {
	loss    float64 // sum over the samples; NaN if any logit is not finite
	correct int
}

// scoreOf compares logits with labels.
func scoreOf(logits []float32, labels []int32) score {
	return score{graph.CrossEntropy(logits, labels), graph.CountCorrect(logits, labels)}
}

// numTestBatches returns the number of batches of the test set; the last one may be smaller.
func (c Config) numTestBatches() int {
	if c.Test == nil {
		return 0
	}
	return (c.Test.Len() + c.EvalBatch - 1) / c.EvalBatch
}

// testPart returns the batches [first, end) that this worker evaluates.
func (c Config) testPart() (first, end int) {
	n, p := c.numTestBatches(), c.Plan.Workers()
	if c.Isolated {
		return 0, n
	}
	return n * c.Rank / p, n * (c.Rank + 1) / p
}

// testBatch returns the samples [lo, hi) of a batch.
func (c Config) testBatch(number int) (lo, hi int) {
	lo = number * c.EvalBatch
	return lo, min(lo+c.EvalBatch, c.Test.Len())
}

// evaluate scores the test set: each worker scores its batches, then the scores are summed. It
// returns a *DivergedError if the loss is not finite.
func (l *Loop) evaluate() error {
	if l.config.numTestBatches() == 0 {
		return nil
	}
	if err := l.settle(); err != nil {
		return err
	}
	l.lap(trace.Other, "")
	before := l.clock.Phases()
	l.scorePart()
	if err := l.updater.Sum(l.tallies); err != nil {
		l.cutOff = true
		return l.failed("sum of test results", err)
	}
	l.lap(trace.Evaluation, "evaluation")
	samples := l.tallies[tallySamples]
	e := Evaluation{
		Steps: l.done.Steps, Epochs: l.done.Epochs, Loss: l.testLoss() / float64(samples),
		Correct: l.tallies[tallyCorrect], Samples: samples,
		Time: l.clock.Phases().Minus(before)[trace.Evaluation], Trained: l.trained(),
	}
	if !isFinite(e.Loss) {
		return &DivergedError{Rank: l.config.Rank, Step: l.step, What: "test loss", Value: e.Loss}
	}
	if l.done.Steps > 0 {
		e.Rate = l.schedule.Rate(l.done.Steps - 1)
	}
	l.done.Test = e
	l.sink.Evaluation(e)
	l.lap(trace.Other, "")
	return nil
}

// scorePart fills the tallies with the scores of this worker's batches.
func (l *Loop) scorePart() {
	clear(l.tallies)
	first, end := l.config.testPart()
	for b := first; b < end; b++ {
		lo, hi := l.config.testBatch(b)
		s := l.score(lo, hi)
		l.tallies[tallyCorrect] += int64(s.correct)
		l.tallies[tallySamples] += int64(hi - lo)
		l.tallies[tallyLosses+b] = int64(math.Float64bits(s.loss))
	}
}

// testLoss adds up the losses of all batches in order.
func (l *Loop) testLoss() float64 {
	sum := 0.0
	for _, bits := range l.tallies[tallyLosses:] {
		sum += math.Float64frombits(uint64(bits))
	}
	return sum
}

// score scores the test samples [lo, hi).
func (l *Loop) score(lo, hi int) score {
	p := l.programs.evaluation[hi-lo]
	if len(l.config.Views) > 0 {
		return l.scoreViews(p, lo, hi)
	}
	l.config.Test.Take(&l.tested, lo, hi)
	l.read(p, &l.tested, trace.Evaluation)
	p.Forward()
	return scoreOf(p.Logits(), l.tested.Labels)
}

// scoreViews is score with the average of the logits of all views, added in order.
func (l *Loop) scoreViews(p *program, lo, hi int) score {
	mean := l.logits[:len(p.Logits())]
	clear(mean)
	for _, v := range l.config.Views {
		l.config.Test.TakeView(&l.tested, lo, hi, v)
		l.read(p, &l.tested, trace.Evaluation)
		p.Forward()
		for i, x := range p.Logits() {
			mean[i] += float32(v.Weight * x)
		}
	}
	return scoreOf(mean, l.tested.Labels)
}

// isFinite reports whether x is neither infinite nor NaN.
func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
