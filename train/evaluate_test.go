package train_test

import (
	"math"
	"slices"
	"testing"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/optim"
	"lockstep/train"
)

// Views of test images give the same counts for any number of workers. One unchanged view changes
// nothing; several change the counts, but not the training.
func TestViewsOfTestImages(t *testing.T) {
	c := example(t, "lenet", 300, 201)
	c.Steps = 20
	plain := run(t, c, 1, 1, compute.Best())[0]
	c.Views = []data.View{{Weight: 1}}
	if got := run(t, c, 1, 1, compute.Best())[0]; got.Test.Correct != plain.Test.Correct {
		t.Errorf("one view: %d correct, want %d", got.Test.Correct, plain.Test.Correct)
	}
	c.Views = data.FlipShiftViews()
	want := run(t, c, 1, 1, compute.Best())[0]
	if want.Test.Correct == plain.Test.Correct || want.Test.Samples != 201 {
		t.Errorf("six views: %d of %d correct, as many as without", want.Test.Correct, want.Test.Samples)
	}
	for workers := 1; workers <= 4; workers++ {
		for rank, got := range run(t, c, workers, 2, compute.Best()) {
			if got.Test.Correct != want.Test.Correct || got.Test.Samples != want.Test.Samples ||
				got.ParameterSHA256 != plain.ParameterSHA256 {
				t.Errorf("%d workers, rank %d: %d of %d correct, parameters %s; want %d of %d, %s",
					workers, rank, got.Test.Correct, got.Test.Samples, got.ParameterSHA256,
					want.Test.Correct, want.Test.Samples, plain.ParameterSHA256)
			}
		}
	}
}

// With views, the average of the logits decides.
func TestViewsAverageLogits(t *testing.T) {
	c := example(t, "lenet", 60, 16)
	c.Steps, c.Views = 1, data.FlipViews()
	l := alone(t, c)
	done, err := l.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	g := graph.New()
	logits := c.Network.Build(c.Network.Samples(g, 16))
	loss := graph.SoftmaxCrossEntropy(logits, g.Labels("labels", 16))
	cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	p, err := graph.Compile(g, graph.NewHost(cpu), graph.Options{Logits: logits, Loss: loss})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Attach(l.Variables()); err != nil {
		t.Fatal(err)
	}
	var sh data.Shard
	sums := make([]float64, 16*c.Network.Classes)
	for _, v := range data.FlipViews() {
		c.Test.TakeView(&sh, 0, 16, v)
		p.Input("images").SetFloats(sh.Images)
		p.Input("labels").SetInts(sh.Labels)
		p.Forward()
		for i, x := range p.Logits() {
			sums[i] += float64(x) / 2
		}
	}
	correct := int64(0)
	for n, label := range sh.Labels {
		best := 0
		for k := range c.Network.Classes {
			if sums[n*c.Network.Classes+k] > sums[n*c.Network.Classes+best] {
				best = k
			}
		}
		if best == int(label) {
			correct++
		}
	}
	if done.Test.Correct != correct || done.Test.Samples != 16 {
		t.Errorf("%d of %d correct, want %d of 16", done.Test.Correct, done.Test.Samples, correct)
	}
}

// A kernel may select its algorithm by the number of images, as Winograd does for up to two images
// of resnet20 and twelve of vgg11. Workers evaluate whole batches, so counts and losses are the
// same for any number of workers, even for more workers than batches.
func TestEvaluationForAnyNumberOfWorkers(t *testing.T) {
	checkEvaluation(t, "resnet20", 5, 100)
	checkEvaluation(t, "resnet20", 9, 2)
	if !testing.Short() {
		checkEvaluation(t, "vgg11", 23, 100)
	}
}

// checkEvaluation evaluates a fresh network on one to four workers.
func checkEvaluation(t *testing.T, name string, samples, batch int) {
	t.Helper()
	c := example(t, name, 20, samples)
	c.EvalOnly, c.EvalBatch = true, batch
	want := run(t, c, 1, 1, compute.Best())[0].Test
	for workers := 2; workers <= 4; workers++ {
		for rank, o := range run(t, c, workers, 1, compute.Best()) {
			if got := o.Test; got.Loss != want.Loss || got.Correct != want.Correct ||
				got.Samples != int64(samples) {
				t.Errorf("%s in batches of %d, %d workers, rank %d: loss %v, %d of %d; want %v, %d of %d",
					name, batch, workers, rank, got.Loss, got.Correct, got.Samples, want.Loss,
					want.Correct, samples)
			}
		}
	}
}

// An evaluation tells its start and the end of each of its batches, the last one too.
func TestEvaluationTellsItsProgress(t *testing.T) {
	c := example(t, "lenet", 20, 25)
	c.EvalOnly, c.EvalBatch = true, 10
	var told []int
	c.Scored = func(set *data.Set, done, all int) {
		if told = append(told, done, all); set != c.Test {
			t.Errorf("of another set than the one for tests")
		}
	}
	run(t, c, 1, 1, compute.Best())
	if want := []int{0, 25, 10, 25, 20, 25, 25, 25}; !slices.Equal(told, want) {
		t.Errorf("told %d, want %d", told, want)
	}
}

// The loss is the mean over all test samples, without label smoothing; an unchanged view does not
// change it.
func TestLossOfAnEvaluation(t *testing.T) {
	c := example(t, "lenet", 30, 37)
	c.Steps, c.Task, c.Schedule = 1, train.Classification(0.5), optim.ScheduleConfig{}
	l := alone(t, c)
	done, err := l.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	g := graph.New()
	loss := graph.SoftmaxCrossEntropy(c.Network.Build(c.Network.Samples(g, 37)), g.Labels("labels", 37))
	p, err := graph.Compile(g, graph.NewHost(cpu), graph.Options{Loss: loss})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Attach(l.Variables()); err != nil {
		t.Fatal(err)
	}
	var sh data.Shard
	c.Test.Take(&sh, 0, 37)
	p.Input("images").SetFloats(sh.Images)
	p.Input("labels").SetInts(sh.Labels)
	p.Forward()
	if want := p.Loss() / 37; math.Abs(done.Test.Loss-want) > 1e-6*want || done.Test.Rate != 0.05 {
		t.Errorf("loss %v at rate %v, want %v at 0.05", done.Test.Loss, done.Test.Rate, want)
	}
	c.Views = []data.View{{Weight: 1}}
	if got := run(t, c, 1, 1, compute.Best())[0].Test.Loss; got != done.Test.Loss {
		t.Errorf("one view: loss %v, want %v", got, done.Test.Loss)
	}
}
