package train

import (
	"errors"
	"math"

	"lockstep/data"
	"lockstep/graph"
	"lockstep/trace"
)

// Note: evaluation
//
// A set is cut at multiples of EvalBatch, and workers take whole batches. A kernel may
// select its algorithm by the number of samples, so cutting in the same way for any number of
// workers gives each sample the same logits. Counts are sums of integers. Each batch also has
// integers with the bits of its sums, of the loss and of each metric, which are 0 on all other
// workers, so the sum over workers gives every worker the sums of every batch unchanged. Each
// worker then adds them up in the order of batches.

// Indices of the integers that workers sum in an evaluation; numSums for each batch follow.
const (
	tallyCorrect = iota
	tallySamples
	tallySums
)

// numSums returns how many sums an evaluation takes of each batch.
func (t Task) numSums() int { return 1 + len(t.Metrics) }

// numBatches returns the number of batches in which a set is evaluated; the last one may be smaller.
func (c Config) numBatches(set *data.Set) int {
	if set == nil {
		return 0
	}
	return (set.Len() + c.EvalBatch - 1) / c.EvalBatch
}

// ownBatches returns those batches [first, end) that this worker evaluates.
func (c Config) ownBatches(set *data.Set) (first, end int) {
	n, p := c.numBatches(set), c.Plan.Workers()
	if c.Isolated || c.WholeBatches {
		return 0, n
	}
	return n * c.Rank / p, n * (c.Rank + 1) / p
}

// evalBatch returns the samples [lo, hi) of a batch.
func (c Config) evalBatch(set *data.Set, number int) (lo, hi int) {
	lo = number * c.EvalBatch
	return lo, min(lo+c.EvalBatch, set.Len())
}

// evaluate scores a set: each worker scores its batches, then the scores are summed. The time
// counts as the given phase. It returns a *DivergedError if the loss is not finite.
func (l *Loop) evaluate(set *data.Set, phase trace.Phase) error {
	n := l.config.numBatches(set)
	if n == 0 {
		return nil
	}
	tallies := l.tallies[:tallySums+n*l.config.Task.numSums()]
	if l.resident == nil { // which evaluates the weights where they are
		if err := l.settle(); err != nil {
			return err
		}
	}
	l.lap(trace.Other, "")
	before, trained := l.clock.Phases(), l.trained()
	if err := l.scorePart(set, tallies); err != nil {
		return err
	}
	if err := l.updater.Sum(tallies); err != nil {
		l.cutOff = true
		return l.failed("sum of test results", err)
	}
	l.lap(phase, "evaluation")
	samples := tallies[tallySamples]
	e := Evaluation{
		Steps: l.done.Steps, Epochs: l.done.Epochs, Loss: l.meanOf(tallies, 0), Metrics: l.metrics(tallies),
		Correct: tallies[tallyCorrect], Samples: samples, IsValidation: set == l.config.Validation,
		Time: l.clock.Phases().Minus(before)[trace.Evaluation], Trained: trained,
	}
	if !isFinite(e.Loss) {
		return &DivergedError{Rank: l.config.Rank, Step: l.step, What: e.Part() + " loss", Value: e.Loss,
			IsStart: l.done.Steps == 0}
	}
	if l.done.Steps > 0 {
		e.Rate = l.schedule.Rate(l.done.Steps - 1)
	}
	if e.IsValidation {
		l.done.Validation = e
	} else {
		l.done.Test = e
	}
	l.sink.Evaluation(e)
	l.lap(trace.Other, "")
	return nil
}

// scorePart fills the tallies with the scores of this worker's batches.
func (l *Loop) scorePart(set *data.Set, tallies []int64) error {
	clear(tallies)
	task := l.config.Task
	first, end := l.config.ownBatches(set)
	for b := first; b < end; b++ {
		lo, hi := l.config.evalBatch(set, b)
		if l.config.Scored != nil {
			from := first * l.config.EvalBatch
			l.config.Scored(lo-from, min(end*l.config.EvalBatch, set.Len())-from)
		}
		output := l.output(set, lo, hi)
		if err := errors.Join(l.executorErr(), l.halted()); err != nil {
			return err
		}
		tallies[tallyCorrect] += int64(task.numCorrect(output, &l.tested))
		tallies[tallySamples] += int64(hi - lo)
		sums := tallies[tallySums+b*task.numSums():]
		sums[0] = int64(math.Float64bits(task.Score(output, &l.tested)))
		for i, m := range task.Metrics {
			sums[1+i] = int64(math.Float64bits(m.Sum(output, &l.tested)))
		}
	}
	return nil
}

// meanOf returns the mean over the samples of sum number i, added up in the order of batches.
func (l *Loop) meanOf(tallies []int64, i int) float64 {
	sum := 0.0
	for at := tallySums + i; at < len(tallies); at += l.config.Task.numSums() {
		sum += math.Float64frombits(uint64(tallies[at]))
	}
	return sum / float64(tallies[tallySamples])
}

// metrics returns the values of the task's metrics.
func (l *Loop) metrics(tallies []int64) []Figure {
	var figures []Figure
	for i, m := range l.config.Task.Metrics {
		figures = append(figures, Figure{m.Name, l.meanOf(tallies, 1+i)})
	}
	return figures
}

// output returns the network's output for the samples [lo, hi) of a set, which it leaves in tested.
func (l *Loop) output(set *data.Set, lo, hi int) []float32 {
	p := l.programs.evaluation[hi-lo]
	if r := l.resident; r != nil {
		r.send()
		p.Keep(r.weights, graph.Span{})
	}
	if len(l.config.Views) > 0 {
		return l.outputOfViews(p, set, lo, hi)
	}
	set.Take(&l.tested, lo, hi)
	l.read(p, &l.tested, trace.Evaluation)
	p.Forward()
	return p.Logits()
}

// outputOfViews is output with the average of the logits of all views, added in order.
func (l *Loop) outputOfViews(p *program, set *data.Set, lo, hi int) []float32 {
	mean := l.logits[:len(p.Logits())]
	clear(mean)
	for _, v := range l.config.Views {
		set.TakeView(&l.tested, lo, hi, v)
		l.read(p, &l.tested, trace.Evaluation)
		p.Forward()
		for i, x := range p.Logits() {
			mean[i] += float32(v.Weight * x)
		}
	}
	return mean
}

// isFinite reports whether x is neither infinite nor NaN.
func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
