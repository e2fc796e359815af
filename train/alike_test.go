package train_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/metric"
	"lockstep/optim"
	"lockstep/train"
)

var metricPairs = flag.Int("metricpairs", 3, "pairs of runs that TestAnyWorkersChooseAlike draws")

// figuresOf returns the bits of every figure that package metric has of classes.
func figuresOf(p *metric.Predictions) (bits []uint64) {
	c := p.Confusion()
	figures := []float64{c.Accuracy(), c.BalancedAccuracy(), c.Kappa(), c.Matthews(), p.CrossEntropy(),
		p.CalibrationError(15), p.TopK(1), p.TopK(3)}
	for _, a := range []metric.Average{c.Macro(), c.Weighted()} {
		figures = append(figures, a.Precision, a.Recall, a.F1)
	}
	for _, k := range c.Classes() {
		figures = append(figures, k.Precision, k.Recall, k.F1)
	}
	figures = slices.Concat(figures, p.ROCAUC(), p.AveragePrecision())
	for _, n := range c.Counts {
		figures = append(figures, float64(n))
	}
	for _, f := range figures {
		bits = append(bits, math.Float64bits(f))
	}
	return bits
}

// Two runs that differ in their numbers of workers tell the same bits of every metric in every evaluation,
// find the same one best, stop at the same step and end with the same weights.
func TestAnyWorkersChooseAlike(t *testing.T) {
	skipShort(t)
	const mostWorkers = 6
	for seed := range uint64(*metricPairs) {
		r := rand.New(rand.NewPCG(seed, 52))
		c := example(t, "lenet", 60+r.IntN(60), 10+r.IntN(20))
		_, c.Validation = glyphs(t, 1, 20+r.IntN(40))
		c.Plan = cut(t, mostWorkers, 1)
		c.Steps, c.Epochs, c.EvalEvery, c.Schedule, c.Seed = 0, 6, 1, optim.ScheduleConfig{}, seed
		c.EvalBatch, c.Predictions = 3+r.IntN(20), true
		by := train.ByNames(true, false)[r.IntN(len(train.ByNames(true, false)))]
		c.Selection = train.Selection{By: train.By(by), Patience: 1 + r.IntN(2), Restore: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			c.Train = c.Train.WithClassWeights(c.Train.BalancedClassWeights())
		}
		one := 1 + r.IntN(mostWorkers)
		two := 1 + (one+r.IntN(mostWorkers-1))%mostWorkers
		a, b := run(t, c, one, 1, compute.Best()), run(t, c, two, 1, compute.Best())
		want := a[0]
		if len(want.figures) == 0 || want.Best.Evaluation.Samples == 0 {
			t.Fatalf("seed %d: nothing was scored, or nothing best: %+v", seed, want.Best)
		}
		for _, got := range slices.Concat(a, b) {
			if !slices.Equal(got.figures, want.figures) || got.Steps != want.Steps ||
				got.ParameterSHA256 != want.ParameterSHA256 || got.Best.Value != want.Best.Value ||
				got.Best.Evaluation.Steps != want.Best.Evaluation.Steps {
				t.Errorf("seed %d, %d and %d workers: %d steps, best %v after %d, %.8s; want %d, %v after "+
					"%d, %.8s", seed, one, two, got.Steps, got.Best.Value, got.Best.Evaluation.Steps,
					got.ParameterSHA256, want.Steps, want.Best.Value, want.Best.Evaluation.Steps,
					want.ParameterSHA256)
			}
		}
	}
}
