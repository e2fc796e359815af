package train_test

import (
	"testing"

	"lockstep/data"
	"lockstep/graph"
	"lockstep/internal/kernel"
)

// Views of test images count the same for any number of workers; one view as it is changes nothing,
// and several do, but not the training.
func TestViewsOfTestImages(t *testing.T) {
	c := example(t, "lenet", 300, 201)
	c.Steps = 20
	plain := run(t, c, 1, 1, kernel.Best())[0]
	c.Views = []data.View{{Weight: 1}}
	if got := run(t, c, 1, 1, kernel.Best())[0]; got.Test.Correct != plain.Test.Correct {
		t.Errorf("one view: %d correct, want %d", got.Test.Correct, plain.Test.Correct)
	}
	c.Views = data.FlipShiftViews()
	want := run(t, c, 1, 1, kernel.Best())[0]
	if want.Test.Correct == plain.Test.Correct || want.Test.Samples != 201 {
		t.Errorf("six views: %d of %d correct, as many as without", want.Test.Correct, want.Test.Samples)
	}
	for workers := 1; workers <= 4; workers++ {
		for rank, got := range run(t, c, workers, 2, kernel.Best()) {
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
	done, err := l.Run(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := graph.New()
	logits := c.Network.Build(c.Network.Samples(g, 16))
	loss := graph.SoftmaxCrossEntropy(logits, g.Labels("labels", 16))
	cpu, err := kernel.Open(kernel.Config{ISA: kernel.Best()})
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
		p.SetInput(sh.Images, sh.Labels)
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
