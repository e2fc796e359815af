package train_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/train"
)

// Of gradients drawn around a true one the estimates have the right means, whatever the sizes of the
// batches.
func TestEstimatesOfTheNoiseAreUnbiased(t *testing.T) {
	const dims, trials = 20, 20000
	r := rand.New(rand.NewPCG(7, 8))
	n := []int{3, 3, 2, 8}
	wantTrace, wantSquare := 0.0, 0.0
	truth, deviation := make([]float64, dims), make([]float64, dims)
	for i := range truth {
		truth[i], deviation[i] = 0.3*r.NormFloat64(), 0.5+r.Float64()
		wantSquare += truth[i] * truth[i]
		wantTrace += deviation[i] * deviation[i]
	}
	trace, square := 0.0, 0.0
	for range trials {
		norms, sum := make([]float64, len(n)), make([]float64, dims)
		for v, size := range n {
			for i := range truth {
				mean := truth[i] + deviation[i]*r.NormFloat64()/math.Sqrt(float64(size))
				norms[v] += mean * mean
				sum[i] += mean * float64(size) / 16
			}
		}
		whole := 0.0
		for _, x := range sum {
			whole += x * x
		}
		one, two := train.Estimate(norms, n, whole)
		trace, square = trace+one/trials, square+two/trials
	}
	if math.Abs(trace/wantTrace-1) > 0.02 || math.Abs(square/wantSquare-1) > 0.05 {
		t.Errorf("trace %v, want %v; square %v, want %v", trace, wantTrace, square, wantSquare)
	}
}

// growing is a run of some epochs whose batch may grow from 12 to 60 in 4 shards.
func growing(t *testing.T) train.Config {
	c := example(t, "lenet", 200, 20)
	c.Batch, c.Steps, c.Epochs, c.EvalEvery = 12, 0, 5, 2
	c.Growth = train.GrowthConfig{Most: 60,
		Rate: func(batch int) float64 { return 0.05 * math.Sqrt(float64(batch)/12) }}
	return c
}

// grown trains c on one worker and returns how the batch grew.
func grown(t *testing.T, c train.Config) (o outcome, all []train.Growth) {
	t.Helper()
	o = runWith(t, c, 1, 1, compute.Best(), func(_ *hub, _ int, l *train.Loop) (train.Updater, error) {
		u, err := train.NewLocal(l)
		if err != nil {
			return nil, err
		}
		return train.NewAdaptive(l, u, nil, func(g train.Growth) { all = append(all, g) })
	})[0]
	return o, all
}

// The batch doubles between epochs while the noise scale allows it, every sample of an epoch is used once,
// and the rate is that of the larger batch at the same epoch.
func TestTheBatchGrows(t *testing.T) {
	c := growing(t)
	o, all := grown(t, c)
	var batches []int
	for _, s := range o.steps {
		if n := len(batches); n == 0 || s.Samples > batches[n-1] {
			batches = append(batches, s.Samples)
		}
	}
	if !slices.Equal(batches, []int{12, 24, 48}) || o.Samples != 1000 || o.Epochs != 5 {
		t.Errorf("batches %v, %d samples in %v epochs", batches, o.Samples, o.Epochs)
	}
	if len(all) != 4 {
		t.Fatalf("%d decisions in 5 epochs", len(all))
	}
	shards, from := int64(0), 12
	for i, g := range all {
		if g.Epochs != i+1 || g.From != from || g.Steps == 0 || (g.To > g.From) != (i < 2) ||
			g.To > g.From && float64(g.To) > g.Noise || g.Rate != c.Growth.Rate(g.To) {
			t.Errorf("decision %d: %+v", i, g)
		}
		from = g.To
	}
	for _, s := range o.steps {
		shards += int64(4 * batchOf(all, s.Number) / 12)
	}
	if o.Shards != shards {
		t.Errorf("%d shards, want %d", o.Shards, shards)
	}
	last := o.steps[len(o.steps)-1]
	if fixed := finalRate(t, c); math.Abs(last.Rate/(2*fixed)-1) > 1e-9 {
		t.Errorf("rate %v at last, want twice %v", last.Rate, fixed)
	}
	c.Growth.Most = 23
	if o, all := grown(t, c); len(o.steps) != 85 || all[0].To != 12 {
		t.Errorf("bound of 23: %d steps, %+v", len(o.steps), all)
	}
}

// batchOf returns the batch of a step.
func batchOf(all []train.Growth, step int) int {
	batch := all[0].From
	for _, g := range all {
		if g.Step <= step {
			batch = g.To
		}
	}
	return batch
}

// finalRate returns the last rate of a run that always has batches of 48, of the rate for 12.
func finalRate(t *testing.T, c train.Config) float64 {
	c.Batch, c.Growth, c.Test = 48, train.GrowthConfig{}, nil
	steps := run(t, c, 1, 1, compute.Best())[0].steps
	return steps[len(steps)-1].Rate
}

// How the batch grows, and every bit of the result, is the same for any number of workers, with shards that
// move and without.
func TestOneHashWhileTheBatchGrows(t *testing.T) {
	c := growing(t)
	want, _ := grown(t, c)
	counts := []int{2, 3, 4}
	if testing.Short() {
		counts = []int{3} // does not divide the shards
	}
	for _, workers := range counts {
		for _, strategy := range []string{"growing gather-scatter", "growing ddp",
			"growing moving all-reduce"} {
			for rank, got := range exchangeRun(t, c, workers, 1, strategy, "auto") {
				place := fmt.Sprintf("%s, %d workers, rank %d", strategy, workers, rank)
				compareOutcomes(t, place, got, want)
			}
		}
	}
}

// A run whose batch grows is resumed from the middle and the end of an epoch, before and after a growth.
func TestAGrowingRunIsResumed(t *testing.T) {
	c := growing(t)
	a := &album{after: []int{5, 17, 18, 26, 30, 35}}
	c.Checkpointer = a
	want, all := grown(t, c)
	c.Checkpointer = nil
	for i, m := range a.snapshots {
		cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
		if err != nil {
			t.Fatal(err)
		}
		c.CPU = cpu
		var again []train.Growth
		c.Updater = func(l *train.Loop) (train.Updater, error) {
			u, err := train.NewLocal(l)
			if err != nil {
				return nil, err
			}
			return train.NewAdaptive(l, u, nil, func(g train.Growth) { again = append(again, g) })
		}
		l, err := train.New(c)
		if err != nil {
			t.Fatal(err)
		}
		a.restore(t, l, i)
		got, err := l.Run(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.ParameterSHA256 != want.ParameterSHA256 || got.Steps != want.Steps ||
			got.Shards != want.Shards || got.Epochs != want.Epochs {
			t.Errorf("from step %d: %+v, want %+v", m.Step, got, want.Result)
		}
		if !slices.Equal(again, all[len(all)-len(again):]) {
			t.Errorf("from step %d: %+v, want the last of %+v", m.Step, again, all)
		}
		l.Close()
		cpu.Close()
	}
}

func TestGrowthIsRefused(t *testing.T) {
	for name, change := range map[string]func(*train.Config){
		"too small": func(c *train.Config) { c.Growth.Most = 11 },
		"steps":     func(c *train.Config) { c.Epochs, c.Steps = 0, 20 },
		"one shard": func(c *train.Config) { c.Plan = cut(t, 1, 1) },
	} {
		c := growing(t)
		cpu, err := compute.Open(compute.Config{})
		if err != nil {
			t.Fatal(err)
		}
		c.CPU = cpu
		change(&c)
		if err := c.Validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
		cpu.Close()
	}
}
