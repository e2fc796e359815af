package job

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/compute"
	"lockstep/shard"
	"lockstep/train"
)

// referenceMath returns the name of the math that others are compared with: exact, which avoids algorithms
// that round more, or what a GPU has for it.
func referenceMath(maths []record.MathTerms) string {
	for _, m := range maths {
		if m.Math == compute.Exact.String() {
			return m.Math
		}
	}
	return maths[0].Math
}

// compareFirstSteps fills in how far loss and gradient of given's first shard are from those of the
// reference, with the weights that the run begins with.
func (p *prober) compareFirstSteps(ctx context.Context, given setting.Config,
	maths []record.MathTerms) error {
	c, b, err := oneShard(given)
	if err != nil {
		return err
	}
	t, err := load(ctx, c, c.DataOptions(p.options.Environment), b)
	if err != nil {
		return err
	}
	c.Math = referenceMath(maths)
	want, err := stepOnce(ctx, c, t)
	if err != nil {
		return err
	}
	for i := range maths {
		m, got := &maths[i], want
		if c.Math = m.Math; c.Math != referenceMath(maths) {
			if got, err = stepOnce(ctx, c, t); err != nil {
				return err
			}
		}
		m.Loss = record.Number(math.Abs(got.loss-want.loss) / math.Abs(want.loss))
		m.Gradient = record.Number(distance(got.gradient, want.gradient))
	}
	return nil
}

// oneShard returns the step of one worker alone with the first shard of c's first step.
func oneShard(given setting.Config) (c setting.Config, b beginning, err error) {
	whole := given.Complete()
	c = brief(given)
	c.Weights, c.FreshHead, c.LimitTrain = given.Weights, given.FreshHead, given.LimitTrain
	c.AdaptiveBatch = 0
	c.Batch, c.Shards, c.Accumulate = shard.Samples(whole.StepBatch(), whole.StepShards(), 0), 1, 1
	c.Workers, c.Strategy, c.Steps, c.SlowWorkers = 1, strategy.Single, 1, nil
	if c.Weights != "" {
		if b.Weights, err = openWeights(c.Weights); err != nil {
			return c, b, err
		}
	}
	isa, err := c.KernelPath()
	c = c.Complete()
	c.ISA = isa.String()
	return c, b, err
}

// stepped is an updater and a sink that keeps loss and gradient of the first step.
type stepped struct {
	train.Updater
	loop     *train.Loop
	loss     float64
	gradient []float32
}

// Update keeps the gradient before it makes the update.
func (s *stepped) Update(u train.Update) error {
	s.gradient = slices.Clone(s.loop.Pieces()[0])
	return s.Updater.Update(u)
}

// Step keeps the loss.
func (s *stepped) Step(t train.Step) { s.loss = t.Loss }

// Evaluation is not called: there is none.
func (*stepped) Evaluation(train.Evaluation) {}

// stepOnce computes one step of c, which has one shard, in this process.
func stepOnce(ctx context.Context, c setting.Config, t task) (s *stepped, err error) {
	s = &stepped{}
	w := &worker{config: c, task: t, log: io.Discard, beacon: newBeacon(), tell: func(notice) {},
		between: func(_ setting.Config, _ int, u train.Updater) train.Updater {
			s.Updater = u
			return s
		}}
	if w.plan, err = shard.Cut(1, 1); err != nil {
		return nil, err
	}
	if w.cpu, err = openCPU(c, c.Threads, false); err != nil {
		return nil, err
	}
	defer w.cpu.Close()
	defer w.closeDevice()
	if err := w.openDevice(); err != nil {
		return nil, err
	}
	if s.loop, err = w.loop(w.cpu, nil); err != nil {
		return nil, err
	}
	defer s.loop.Close()
	if err := w.start(s.loop.Variables()); err != nil {
		return nil, err
	}
	if _, err := s.loop.Run(ctx, s); err != nil {
		return nil, fmt.Errorf("math auto: the first step by %s: %w", c.Math, err)
	}
	return s, w.deviceErr()
}

// distance returns |a - b| / |b| by the Euclidean norm.
func distance(a, b []float32) float64 {
	var off, whole float64
	for i := range b {
		d := float64(a[i]) - float64(b[i])
		off += d * d
		whole += float64(b[i]) * float64(b[i])
	}
	return math.Sqrt(off / whole)
}
