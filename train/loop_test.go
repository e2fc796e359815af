package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/tensor"
	"lockstep/trace"
	"lockstep/train"
)

// glyphs returns generated sets of the given sizes.
func glyphs(t *testing.T, trainSize, testSize int) (training, test *data.Set) {
	t.Helper()
	training, test, err := data.Load(context.Background(), "glyphs",
		data.Options{Seed: 1, TrainSize: trainSize, TestSize: testSize})
	if err != nil {
		t.Fatal(err)
	}
	return training, test
}

// example returns a configuration of one worker without a CPU.
func example(t *testing.T, name string, trainSize, testSize int) train.Config {
	t.Helper()
	training, test := glyphs(t, trainSize, testSize)
	network, err := model.Named(name, len(training.Classes), training.Shape)
	if err != nil {
		t.Fatal(err)
	}
	return train.Config{
		Network: network, Train: training, Test: test,
		Batch: 30, Plan: cut(t, 4, 1), Steps: 6, EvalBatch: 16,
		Optimizer: optim.Config{LR: 0.05, Momentum: 0.9, WeightDecay: 1e-4},
		Schedule:  optim.ScheduleConfig{Name: "cosine", Warmup: 0.5},
		Seed:      5,
	}
}

func cut(t *testing.T, shards, workers int) shard.Plan {
	t.Helper()
	plan, err := shard.Cut(shards, workers)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// skipShort skips a test that takes long without our assembly and has nothing to say about kernels.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("short: what does not depend on kernels is tested with our assembly")
	}
}

// diary records the events of a loop.
type diary struct {
	steps       []train.Step
	evaluations []train.Evaluation
	figures     []uint64 // bits of every metric of every evaluation, where predictions are gathered
}

func (d *diary) Step(s train.Step) { d.steps = append(d.steps, s) }
func (d *diary) Evaluation(e train.Evaluation) {
	d.evaluations = append(d.evaluations, e)
	if p := e.Predictions; p != nil && p.Labels != nil {
		d.figures = append(d.figures, figuresOf(p)...)
	}
}

// outcome is the result of one worker.
type outcome struct {
	train.Result
	diary
}

// run trains c with the given number of workers, as goroutines with the given number of threads
// each.
func run(t *testing.T, c train.Config, workers, threads int, isa compute.ISA) []outcome {
	t.Helper()
	return runWith(t, c, workers, threads, isa, (*hub).join)
}

// runWith is run with the Updaters that join makes.
func runWith(t *testing.T, c train.Config, workers, threads int, isa compute.ISA,
	join func(h *hub, rank int, l *train.Loop) (train.Updater, error)) []outcome {
	t.Helper()
	c.Plan = cut(t, c.Plan.Shards(), workers)
	hub := newHub(c.Plan)
	outcomes := make([]outcome, workers)
	errs := make([]error, workers)
	loops := make([]*train.Loop, workers)
	for rank := range workers {
		cpu, err := compute.Open(compute.Config{ISA: isa, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		defer cpu.Close()
		c := c
		c.Rank, c.CPU = rank, cpu
		if !c.Isolated {
			c.Updater = func(l *train.Loop) (train.Updater, error) { return join(hub, rank, l) }
		}
		if loops[rank], err = train.New(c); err != nil {
			t.Fatal(err)
		}
		defer loops[rank].Close()
	}
	var wait sync.WaitGroup
	for rank, l := range loops {
		wait.Go(func() {
			o := &outcomes[rank]
			o.Result, errs[rank] = l.Run(context.Background(), &o.diary)
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return outcomes
}

// alone returns the loop of a single worker on a CPU of its own, both closed with the test.
func alone(t *testing.T, c train.Config) *train.Loop { return aloneOn(t, c, 1) }

// aloneOn is alone with so many threads.
func aloneOn(t *testing.T, c train.Config, threads int) *train.Loop {
	t.Helper()
	cpu, err := compute.Open(compute.Config{ISA: compute.Best(), Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cpu.Close)
	c.CPU = cpu
	l, err := train.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// losses returns the loss of every step as bits, for exact comparison.
func (o outcome) losses() []uint64 {
	var bits []uint64
	for _, s := range o.steps {
		bits = append(bits, math.Float64bits(s.Loss))
	}
	return bits
}

// Batch 30 over 4 shards is uneven; 100 samples leave a last batch of 10 in each epoch of 4 steps.
func TestOneHashForAnyNumberOfWorkersAndThreads(t *testing.T) {
	c := example(t, "lenet", 100, 37)
	c.EvalEvery = 1
	want := run(t, c, 1, 1, compute.Best())[0]
	for workers := 1; workers <= 4; workers++ {
		for threads := 1; threads <= 2; threads++ {
			for rank, got := range run(t, c, workers, threads, compute.Best()) {
				place := fmt.Sprintf("%d workers, %d threads, rank %d", workers, threads, rank)
				compareOutcomes(t, place, got, want)
			}
		}
	}
}

func compareOutcomes(t *testing.T, place string, got, want outcome) {
	t.Helper()
	if got.ParameterSHA256 != want.ParameterSHA256 {
		t.Errorf("%s: parameters %s, want %s", place, got.ParameterSHA256, want.ParameterSHA256)
	}
	if !slices.Equal(got.losses(), want.losses()) {
		t.Errorf("%s: other losses", place)
	}
	if len(got.evaluations) != len(want.evaluations) {
		t.Fatalf("%s: %d evaluations, want %d", place, len(got.evaluations), len(want.evaluations))
	}
	for i, e := range got.evaluations {
		w := want.evaluations[i]
		if e.Loss != w.Loss || e.Rate != w.Rate || e.Correct != w.Correct || e.Samples != w.Samples ||
			e.Steps != w.Steps {
			t.Errorf("%s: evaluation %+v, want %+v", place, e, w)
		}
	}
	if got.TrainCorrect != want.TrainCorrect || got.TrainSamples != want.TrainSamples ||
		got.Samples != want.Samples {
		t.Errorf("%s: %d/%d of %d, want %d/%d of %d", place, got.TrainCorrect, got.TrainSamples,
			got.Samples, want.TrainCorrect, want.TrainSamples, want.Samples)
	}
}

// Batch norm uses the statistics of its shard, and running statistics are combined in shard order.
// The last batch of 2 leaves shards 2 to 4 empty.
func TestOneHashWithBatchNormAndEmptyShards(t *testing.T) {
	c := example(t, "resnet20", 22, 5)
	c.Batch, c.Plan, c.Steps = 10, cut(t, 5, 1), 4
	want := run(t, c, 1, 1, compute.Best())[0]
	for _, workers := range []int{2, 3} {
		for rank, got := range run(t, c, workers, 1, compute.Best()) {
			compareOutcomes(t, fmt.Sprintf("%d workers, rank %d", workers, rank), got, want)
		}
	}
}

// A residual network with a batch norm after every convolution, and shortcuts with their own. The
// last maps are 1 x 1, so each shard needs two samples: a single value has no variance.
func TestOneHashForResNet50(t *testing.T) {
	training, _ := synthetic(t, tensor.Shape{8, 8, 3}, 9, 1)
	c := example(t, "lenet", 1, 1)
	// No evaluation: after two steps the running statistics are far from what 53 layers need.
	c.Train, c.Test, c.Batch, c.Plan, c.Steps = training, nil, 9, cut(t, 4, 1), 2
	var err error
	if c.Network, err = model.Named("resnet50", len(training.Classes), training.Shape); err != nil {
		t.Fatal(err)
	}
	want := run(t, c, 1, 1, compute.Best())[0]
	most := 3 // each worker has 23.5 million parameters
	if testing.Short() {
		most = 2
	}
	for workers := 2; workers <= most; workers++ {
		for rank, got := range exchangeRun(t, c, workers, 1+workers%2, "ddp", "") {
			compareOutcomes(t, fmt.Sprintf("%d workers, rank %d", workers, rank), got, want)
		}
	}
}

// synthetic returns random images.
func synthetic(t *testing.T, shape tensor.Shape, trainSize, testSize int) (training, test *data.Set) {
	t.Helper()
	training, test, err := data.Load(context.Background(), "synthetic",
		data.Options{Shape: shape, TrainSize: trainSize, TestSize: testSize})
	if err != nil {
		t.Fatal(err)
	}
	return training, test
}

// A step of resnet50 on images of 224 x 224 uses the stem for ImageNet and the planned memory.
func TestLargeImages(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	training, _ := synthetic(t, tensor.Shape{224, 224, 3}, 2, 1)
	c := example(t, "lenet", 1, 1)
	c.Train, c.Test, c.Batch, c.Plan, c.Steps = training, nil, 2, cut(t, 1, 1), 1
	var err error
	if c.Network, err = model.Named("resnet50", len(training.Classes), training.Shape); err != nil {
		t.Fatal(err)
	}
	o := run(t, c, 1, 2, compute.Best())[0]
	if o.Parameters != 23528522 || !(o.LastLoss > 0 && o.LastLoss < 10) {
		t.Errorf("%d parameters, loss %v", o.Parameters, o.LastLoss)
	}
}

func TestResultAndEventsAgree(t *testing.T) {
	c := example(t, "lenet", 100, 37)
	c.EvalEvery = 1
	o := run(t, c, 1, 1, compute.Best())[0]
	var samples, lastEpoch []int
	for i, s := range o.steps {
		samples = append(samples, s.Samples)
		if s.Epoch == 1 {
			lastEpoch = append(lastEpoch, s.Samples)
		}
		if s.Number != i || s.Time != s.Phases.Total() || s.Time != o.StepTimes[i] {
			t.Errorf("step %d: %+v, phases %v, in the result %v", i, s, s.Phases.Total(), o.StepTimes[i])
		}
	}
	if want := []int{30, 30, 30, 10, 30, 30}; !slices.Equal(samples, want) {
		t.Errorf("steps of %v samples, want %v", samples, want)
	}
	if o.Steps != 6 || o.Epochs != 1.5 || o.Samples != 160 || o.OwnSamples != 160 ||
		o.TrainSamples != 60 || len(lastEpoch) != 2 {
		t.Errorf("result %+v", o.Result)
	}
	if o.FirstLoss != o.steps[0].Loss || o.LastLoss != o.steps[5].Loss || // of a whole batch
		train.LossAfter(2, 5, 10, 30) != 1./3*5+2./3*2 || train.LossAfter(2, 5, 30, 30) != 5 {
		t.Errorf("losses %v %v", o.FirstLoss, o.LastLoss)
	}
	if len(o.evaluations) != 2 || o.evaluations[0].Steps != 4 ||
		!reflect.DeepEqual(o.evaluations[1], o.Test) ||
		o.Test.Samples != 37 {
		t.Errorf("evaluations %+v, last %+v", o.evaluations, o.Test)
	}
	if o.Parameters != 53762 {
		t.Errorf("%d parameters, want 53762", o.Parameters)
	}
	if math.Abs(o.FirstLoss-math.Log(10)) > 0.3 {
		t.Errorf("first loss %v, want about ln 10", o.FirstLoss)
	}
}

// A tenth of each label is spread over ten classes. At first, while all classes are about as
// likely, the loss is the same as without smoothing; but it cannot fall below the target's entropy,
// 0.5003.
func TestLabelSmoothing(t *testing.T) {
	c := example(t, "lenet", 30, 10)
	c.Steps, c.Task, c.Schedule = 200, train.Classification(0.1), optim.ScheduleConfig{}
	o := run(t, c, 1, 1, compute.Best())[0]
	if math.Abs(o.FirstLoss-math.Log(10)) > 0.3 || o.LastLoss < 0.5003 || o.LastLoss > 0.6 {
		t.Errorf("loss from %v to %v, want about ln 10 to 0.51", o.FirstLoss, o.LastLoss)
	}
}

func TestLossFallsAndAccuracyRises(t *testing.T) {
	c := example(t, "lenet", 1000, 200)
	c.Batch, c.Steps, c.Epochs = 32, 0, 5
	c.Optimizer.LR = 0.05
	o := run(t, c, 1, 1, compute.Best())[0]
	if o.LastLoss > 0.7*o.FirstLoss {
		t.Errorf("loss went from %v to %v", o.FirstLoss, o.LastLoss)
	}
	if o.Test.Accuracy() < 0.4 || o.TrainAccuracy() < 0.4 {
		t.Errorf("accuracy %v in training, %v in test", o.TrainAccuracy(), o.Test.Accuracy())
	}
}

// A busy machine may suspend the process between the clock's stop and the caller's, so the best of
// five runs counts.
func TestPhasesAddUpToTheWallTime(t *testing.T) {
	c := example(t, "lenet", 600, 100)
	c.Steps, c.EvalEvery = 40, 1
	var r train.Result
	var wall time.Duration
	for range 5 {
		r, wall = timed(t, c)
		if r.Phases.Total() != r.Time {
			t.Fatalf("phases add up to %v of %v", r.Phases.Total(), r.Time)
		}
		if gap := wall - r.Time; gap >= 0 && gap <= wall/50 {
			break
		}
	}
	if gap := wall - r.Time; gap < 0 || gap > wall/50 {
		t.Errorf("the run took %v, the caller waited %v", r.Time, wall)
	}
	for _, p := range []trace.Phase{trace.Data, trace.Forward, trace.Backward, trace.Optimizer,
		trace.Evaluation} {
		if r.Phases[p] <= 0 {
			t.Errorf("no time in phase %v", p)
		}
	}
}

// timed runs c on one worker and returns how long the caller waited.
func timed(t *testing.T, c train.Config) (r train.Result, wall time.Duration) {
	t.Helper()
	l := alone(t, c)
	start := time.Now()
	r, err := l.Run(context.Background(), nil)
	wall = time.Since(start)
	if err != nil {
		t.Fatal(err)
	}
	return r, wall
}

func TestIsolatedWorkersTrainOnTheirOwnShards(t *testing.T) {
	c := example(t, "lenet", 100, 37)
	c.Plan, c.Isolated = cut(t, 7, 1), true
	outcomes := run(t, c, 3, 1, compute.Best())
	total := int64(0)
	for rank, o := range outcomes {
		total += o.OwnSamples
		if o.Samples != o.OwnSamples || o.Test.Samples != 37 {
			t.Errorf("rank %d: %d samples, %d own, %d tested", rank, o.Samples, o.OwnSamples,
				o.Test.Samples)
		}
	}
	if total != 160 {
		t.Errorf("%d samples over all workers, want 160", total)
	}
	if outcomes[0].ParameterSHA256 == outcomes[1].ParameterSHA256 {
		t.Error("workers that never exchange have the same parameters")
	}
}

// The own losses, weighted by samples, average to the global loss, and the first equals that of the
// same shards trained in isolation, bit for bit. The last batch of an epoch, 2 of 22 samples in 5
// shards, leaves workers without a sample.
func TestOwnLossIsTheMeanOverOwnShards(t *testing.T) {
	c := example(t, "lenet", 22, 0)
	c.Test, c.Batch, c.Plan, c.Steps = nil, 10, cut(t, 5, 1), 4
	single := run(t, c, 1, 1, compute.Best())[0]
	for i, s := range single.steps {
		if s.OwnLoss != s.Loss {
			t.Errorf("one worker, step %d: own loss %v, loss %v", i, s.OwnLoss, s.Loss)
		}
	}
	isolated := c
	isolated.Isolated = true
	for _, workers := range []int{2, 3} {
		plan := cut(t, 5, workers)
		alone := run(t, isolated, workers, 1, compute.Best())
		together := exchangeRun(t, c, workers, 1, "ddp", "")
		sums := make([]float64, c.Steps)
		for rank, o := range together {
			if got, want := o.steps[0].OwnLoss, alone[rank].steps[0].Loss; got != want {
				t.Errorf("%d workers, rank %d: first own loss %v, alone %v", workers, rank, got, want)
			}
			lo, hi := plan.Run(rank)
			for i, s := range o.steps {
				own := 0
				for v := lo; v < hi; v++ {
					own += shard.Samples(s.Samples, 5, v)
				}
				if math.IsNaN(s.OwnLoss) != (own == 0) {
					t.Errorf("%d workers, rank %d, step %d: own loss %v of %d samples",
						workers, rank, i, s.OwnLoss, own)
				}
				if own > 0 {
					sums[i] += s.OwnLoss * float64(own)
				}
			}
		}
		for i, s := range single.steps {
			if got := sums[i] / float64(s.Samples); math.Abs(got-s.Loss) > 1e-12 {
				t.Errorf("%d workers, step %d: own losses average to %v, want %v",
					workers, i, got, s.Loss)
			}
		}
		if last := together[workers-1].steps[2]; !math.IsNaN(last.OwnLoss) {
			t.Errorf("%d workers: own loss %v of no sample, want NaN", workers, last.OwnLoss)
		}
	}
}

func TestDivergence(t *testing.T) {
	c := example(t, "lenet", 100, 10)
	c.Steps, c.Optimizer.LR, c.Schedule = 30, 1e5, optim.ScheduleConfig{}
	_, err := runOne(t, c, context.Background(), nil)
	var diverged *train.DivergedError
	if !errors.As(err, &diverged) || diverged.Step == 0 {
		t.Fatalf("error %v, want a DivergedError after step 0", err)
	}
	if !strings.Contains(err.Error(), fmt.Sprintf("rank 0, step %d: loss is ", diverged.Step+1)) {
		t.Errorf("error %q names no rank and step", err)
	}
}

// Every rank blames the one whose shard has a loss that is not finite.
func TestDivergenceNamesWhoseShard(t *testing.T) {
	c := example(t, "lenet", 100, 10)
	l := alone(t, c)
	for v, want := range map[int]int{0: 0, 3: 1, 6: 2} {
		if got := l.NotFinite(cut(t, 7, 3), v, float32(math.Inf(1))); got != want {
			t.Errorf("shard %d: rank %d, want %d", v, got, want)
		}
	}
}

// The last update may leave values that no later loss reveals. An evaluation reveals them, and does
// not count NaN as class 0 to reach a target; without an evaluation the check of parameters does.
func TestDivergenceInTheLastUpdate(t *testing.T) {
	c := example(t, "lenet", 30, 10)
	c.Steps, c.Schedule, c.Target = 1, optim.ScheduleConfig{}, 0.01
	c.Optimizer.LR, c.Optimizer.WeightDecay = 1e6, 1e6
	for what, test := range map[string]*data.Set{"test loss is NaN": c.Test, "conv1.bias is +Inf": nil} {
		c.Test = test
		l := alone(t, c)
		if test == nil { // a channel that is always 0, whose bias the decay makes infinite
			l.Variables().Weights[offsetOf(t, l, "conv1.bias")] = -1e30
		}
		var d diary
		_, err := l.Run(t.Context(), &d)
		var diverged *train.DivergedError
		if !errors.As(err, &diverged) || !strings.Contains(err.Error(), "step 1: "+what) ||
			len(d.evaluations) > 0 {
			t.Errorf("error %v after %d evaluations, want a DivergedError: %s", err, len(d.evaluations), what)
		}
	}
}

// Weights that are not finite from the start are not blamed on the learning rate.
func TestDivergenceBeforeAnyStep(t *testing.T) {
	c := example(t, "lenet", 30, 10)
	c.EvalOnly = true
	l := alone(t, c)
	l.Variables().Weights[0] = float32(math.NaN())
	_, err := l.Run(t.Context(), nil)
	const want = "train: rank 0: test loss is NaN before any step: the weights have or lead to values " +
		"that are not finite; math exact is the last to overflow"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// offsetOf returns the offset of a parameter.
func offsetOf(t *testing.T, l *train.Loop, name string) int {
	t.Helper()
	for _, p := range l.Parameters() {
		if p.Name == name {
			return p.Offset
		}
	}
	t.Fatalf("no parameter %s", name)
	return 0
}

func runOne(t *testing.T, c train.Config, ctx context.Context, s train.Sink) (train.Result, error) {
	t.Helper()
	l := alone(t, c)
	return l.Run(ctx, s)
}

// stopper cancels the run in step 2.
type stopper struct {
	diary
	cancel context.CancelFunc
}

func (s *stopper) Step(e train.Step) {
	s.diary.Step(e)
	if e.Number == 2 {
		s.cancel()
	}
}

func TestCancelStopsBetweenSteps(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &stopper{cancel: cancel}
	r, err := runOne(t, example(t, "lenet", 100, 10), ctx, s)
	if !errors.Is(err, context.Canceled) || r.Steps != 3 || len(s.steps) != 3 {
		t.Errorf("%d steps, error %v, want 3 and the context's", r.Steps, err)
	}
	if r.ParameterSHA256 != "" || len(s.evaluations) != 0 {
		t.Errorf("a stopped run was evaluated: %+v", r)
	}
}

// faulty is an exchange that fails or returns wrong results in one of its methods.
type faulty struct {
	wait, sum error
	add       float32 // to the lowest part of the hash of a shard's samples
}

func (f faulty) Begin(int)                  {}
func (f faulty) Ready(int)                  {}
func (f faulty) Wait() error                { return f.wait }
func (f faulty) Sum([]int64) error          { return f.sum }
func (f faulty) GatherRows(rows train.Rows) { rows[3] += f.add }

func TestErrorsOfTheExchangeNameRankAndStep(t *testing.T) {
	lost := errors.New("peer 1 lost")
	for _, c := range []struct {
		name string
		sync train.GradSync
		want string
		kept []int // the steps done when a snapshot was kept
	}{
		{"wait", faulty{wait: lost}, "train: rank 0, step 1: exchange of gradients: peer 1 lost", []int{0}},
		{"sum", faulty{sum: lost}, "train: rank 0, step 4: sum of test results: peer 1 lost", []int{4}},
		{"coverage", faulty{add: 1}, "train: rank 0, step 4: coverage: the epoch's samples hash to", nil},
	} {
		config := example(t, "lenet", 100, 10)
		kept := &album{}
		config.EvalEvery, config.Checkpointer = 1, kept
		cpu, err := compute.Open(compute.Config{ISA: compute.Best()})
		if err != nil {
			t.Fatal(err)
		}
		config.CPU = cpu
		config.Updater = func(l *train.Loop) (train.Updater, error) { return train.NewWhole(l, c.sync) }
		l, err := train.New(config)
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Run(context.Background(), nil)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		var steps []int
		for _, m := range kept.snapshots {
			steps = append(steps, m.Step)
		}
		if !slices.Equal(steps, c.kept) {
			t.Errorf("%s: kept after steps %v, want %v", c.name, steps, c.kept)
		}
		l.Close()
		cpu.Close()
	}
}

func TestConfigErrors(t *testing.T) {
	cpu, err := compute.Open(compute.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer cpu.Close()
	valid := example(t, "lenet", 20, 5)
	valid.CPU = cpu
	for name, change := range map[string]func(c *train.Config){
		"no CPU":            func(c *train.Config) { c.CPU = nil },
		"no data":           func(c *train.Config) { c.Train = nil },
		"no plan":           func(c *train.Config) { c.Plan = shard.Plan{} },
		"rank":              func(c *train.Config) { c.Rank = 1 },
		"small batch":       func(c *train.Config) { c.Batch = 3 },
		"no length":         func(c *train.Config) { c.Steps = 0 },
		"two lengths":       func(c *train.Config) { c.Epochs = 1 },
		"no test to do":     func(c *train.Config) { c.EvalOnly, c.Test = true, nil },
		"negative interval": func(c *train.Config) { c.EvalEvery = -1 },
		"clip":              func(c *train.Config) { c.Clip = -1 },
		"average":           func(c *train.Config) { c.EMA = 1 },
		"lookahead":         func(c *train.Config) { c.Lookahead.Every = 5 },
		"group": func(c *train.Config) {
			c.Optimizer.Groups = []optim.Group{{Match: "x", Rate: 1}}
		},
		"smoothing": func(c *train.Config) { c.Task = train.Classification(math.NaN()) },
		"classes":   func(c *train.Config) { c.Network.Classes = 9 },
		"schedule":  func(c *train.Config) { c.Schedule.Name = "sine" },
		"optimizer": func(c *train.Config) { c.Optimizer.Momentum = 2 },
	} {
		c := valid
		change(&c)
		l, err := train.New(c)
		if err == nil {
			l.Close()
			t.Errorf("%s: no error", name)
		} else if strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%s: more than a line: %q", name, err)
		}
	}
}
