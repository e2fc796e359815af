package train

import (
	"errors"
	"math"

	"lockstep/data"
	"lockstep/graph"
	"lockstep/metric"
	"lockstep/trace"
)

// Note: evaluation
//
// A set is cut at multiples of EvalBatch, and workers take whole batches. A kernel may
// select its algorithm by the number of samples, so cutting in the same way for any number of
// workers gives each sample the same logits. Counts are sums of integers. Each batch also has an
// integer with the bits of its loss, and each output its bits in a half of an integer, which are 0
// on all other workers, so the sum over workers gives every worker all losses and outputs
// unchanged. Each worker then adds the losses up in the order of batches, and computes every
// metric of all samples.

// Indices of the integers that workers sum in an evaluation; one for the loss of each batch follows, then one
// for every two outputs.
const (
	tallyCorrect = iota
	tallySamples
	tallyLosses
)

// maxPredictions bounds the outputs of an evaluation that are gathered, 32 MiB on each worker: those of
// 10,000 samples of 838 classes. A larger evaluation tells its loss and its accuracy alone.
const maxPredictions = 1 << 23

// numPredictions returns how many outputs are gathered in an evaluation of a set; 0: nobody wants them, or
// they are too many.
func (c Config) numPredictions(set *data.Set) int {
	isWanted := c.Predictions || len(c.Task.Metrics) > 0
	if !isWanted || set == nil || set.Len() > maxPredictions/c.Network.Classes {
		return 0
	}
	return set.Len() * c.Network.Classes
}

// numTallies returns how many integers workers sum in an evaluation of a set.
func (c Config) numTallies(set *data.Set) int {
	return tallyLosses + c.numBatches(set) + (c.numPredictions(set)+1)/2
}

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
	tallies := l.tallies[:l.config.numTallies(set)]
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
		Steps: l.done.Steps, Epochs: l.done.Epochs, Loss: meanLoss(tallies, n),
		Correct: tallies[tallyCorrect], Samples: samples, IsValidation: set == l.config.Validation,
		Predictions: l.predicted(set, tallies[tallyLosses+n:]),
		Time:        l.clock.Phases().Minus(before)[trace.Evaluation], Trained: trained,
	}
	if !isFinite(e.Loss) {
		return &DivergedError{Rank: l.config.Rank, Step: l.step, What: e.Part() + " loss", Value: e.Loss,
			IsStart: l.done.Steps == 0}
	}
	e.Metrics = l.config.Task.figures(e.Predictions)
	if l.isRestored {
		e.Steps, e.Epochs = l.done.Best.Evaluation.Steps, l.done.Best.Evaluation.Epochs
	}
	if err := l.choose(&e); err != nil {
		return err
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
	first, end := l.config.ownBatches(set)
	task, from, to := l.config.Task, first*l.config.EvalBatch, min(end*l.config.EvalBatch, set.Len())
	scored := func(done int) {
		if l.config.Scored != nil && first < end {
			l.config.Scored(set, done, to-from)
		}
	}
	scored(0)
	for b := first; b < end; b++ {
		lo, hi := l.config.evalBatch(set, b)
		output, err := l.output(set, lo, hi)
		if err != nil {
			return l.unread(err)
		}
		if err := errors.Join(l.executorErr(), l.halted()); err != nil {
			return err
		}
		tallies[tallyCorrect] += int64(task.numCorrect(output, &l.tested))
		tallies[tallySamples] += int64(hi - lo)
		tallies[tallyLosses+b] = int64(math.Float64bits(task.Score(output, &l.tested)))
		if words := tallies[tallyLosses+l.config.numBatches(set):]; len(words) > 0 {
			packFloats(words, lo*l.config.Network.Classes, output)
		}
		scored(hi - from)
	}
	return nil
}

// packFloats adds the bits of values, the first of which has number at, to their halves of words, which are
// 0.
func packFloats(words []int64, at int, values []float32) {
	for i, v := range values {
		words[(at+i)/2] |= int64(uint64(math.Float32bits(v)) << (32 * ((at + i) % 2)))
	}
}

// meanLoss returns the mean loss of the samples, added up in the order of n batches.
func meanLoss(tallies []int64, n int) float64 {
	sum := 0.0
	for _, bits := range tallies[tallyLosses:][:n] {
		sum += math.Float64frombits(uint64(bits))
	}
	return sum / float64(tallies[tallySamples])
}

// predicted returns the outputs that packFloats packed, with what is true of the samples of a set; nil if
// there are no words. Its memory is that of the evaluation before.
func (l *Loop) predicted(set *data.Set, words []int64) *metric.Predictions {
	if len(words) == 0 {
		return nil
	}
	p := &l.predictions
	p.NumOutputs, p.Targets = l.config.Network.Classes, set.Targets
	p.Outputs, p.Labels = p.Outputs[:0], p.Labels[:0]
	for i := range l.config.numPredictions(set) {
		p.Outputs = append(p.Outputs, math.Float32frombits(uint32(uint64(words[i/2])>>(32*(i%2)))))
	}
	set.Numbers(p.Outputs)
	p.Labels = append(p.Labels, set.Labels...)
	return p
}

// figures returns the values of the task's metrics; none without predictions.
func (t Task) figures(p *metric.Predictions) (list []Figure) {
	for _, m := range t.Metrics {
		if p != nil {
			list = append(list, Figure{m.Name, m.Of(p)})
		}
	}
	return list
}

// output returns the network's output for the samples [lo, hi) of a set, which it leaves in tested.
func (l *Loop) output(set *data.Set, lo, hi int) ([]float32, error) {
	p := l.programs.evaluation[hi-lo]
	if r := l.resident; r != nil {
		r.send()
		p.Keep(r.weights, graph.Span{})
	}
	if len(l.config.Views) > 0 {
		return l.outputOfViews(p, set, lo, hi)
	}
	if err := set.Take(&l.tested, lo, hi); err != nil {
		return nil, err
	}
	l.read(p, &l.tested, trace.Evaluation)
	p.Forward()
	return p.Logits(), nil
}

// outputOfViews is output with the average of the logits of all views, added in order.
func (l *Loop) outputOfViews(p *program, set *data.Set, lo, hi int) ([]float32, error) {
	mean := l.logits[:len(p.Logits())]
	clear(mean)
	for _, v := range l.config.Views {
		if err := set.TakeView(&l.tested, lo, hi, v); err != nil {
			return nil, err
		}
		l.read(p, &l.tested, trace.Evaluation)
		p.Forward()
		for i, x := range p.Logits() {
			mean[i] += float32(v.Weight * x)
		}
	}
	return mean, nil
}

// isFinite reports whether x is neither infinite nor NaN.
func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
