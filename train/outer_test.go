package train_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/comm"
	"lockstep/compute"
	"lockstep/gradsync"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/train"
)

// outerCase is a run of workers that average their weights.
type outerCase struct {
	train.Config
	outer     train.OuterConfig
	workers   int
	threads   int
	algorithm string
	wire      string
	// For checkpoints; each may be nil.
	join    func(rank int, u *train.Outer)
	keep    func(rank int) train.Checkpointer
	prepare func(rank int, l *train.Loop) // before Run
	context func(rank int) context.Context
	meter   *meter // of rank 0
}

// outerOutcome is what one of its workers ends with.
type outerOutcome struct {
	outcome
	weights  []float32
	counters comm.Counters
	buckets  []gradsync.Bucket
}

// runOuter trains a case over in-process links.
func runOuter(t *testing.T, c outerCase) []outerOutcome {
	t.Helper()
	outcomes, errs := outerWorkers(t, c)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for rank, o := range outcomes {
		if o.ParameterSHA256 != outcomes[0].ParameterSHA256 {
			t.Fatalf("rank %d ends with %s, rank 0 with %s", rank, o.ParameterSHA256,
				outcomes[0].ParameterSHA256)
		}
	}
	return outcomes
}

// outerWorkers runs the workers of a case.
func outerWorkers(t *testing.T, c outerCase) ([]outerOutcome, []error) {
	t.Helper()
	c.Plan = cut(t, c.Plan.Shards(), c.workers)
	c.threads = max(c.threads, 1)
	outcomes, errs := make([]outerOutcome, c.workers), make([]error, c.workers)
	var wait sync.WaitGroup
	for rank, mesh := range comm.NewLocal(c.workers) {
		wait.Go(func() { errs[rank] = outerWorker(c, rank, mesh, &outcomes[rank]) })
	}
	wait.Wait()
	return outcomes, errs
}

func outerWorker(c outerCase, rank int, mesh comm.Mesh, o *outerOutcome) (err error) {
	plan, err := shard.Cut(c.workers, c.workers)
	if err != nil {
		return err
	}
	group, err := comm.NewGroup(mesh, comm.Config{Plan: plan, Algorithm: c.algorithm})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, group.Close()) }()
	config := c.Config
	config.Rank = rank
	if config.CPU, err = compute.Open(compute.Config{ISA: compute.Best(), Threads: c.threads,
		Crowded: true}); err != nil {
		return err
	}
	defer config.CPU.Close()
	var sums *gradsync.Outer
	config.Updater = func(l *train.Loop) (train.Updater, error) {
		w, err := gradsync.ParseWire(c.wire)
		if c.wire != "" && err != nil {
			return nil, err
		}
		sums, err = gradsync.NewOuter(gradsync.OuterConfig{Group: group, Wire: w,
			Parts: c.outer.Ranges(len(l.Variables().Weights))})
		if err != nil {
			return nil, err
		}
		u, err := train.NewOuter(l, c.outer, sums)
		if c.join != nil {
			c.join(rank, u)
		}
		return u, err
	}
	if c.keep != nil {
		config.Checkpointer = c.keep(rank)
	}
	loop, err := train.New(config)
	if err != nil {
		return err
	}
	defer loop.Close()
	if c.prepare != nil {
		c.prepare(rank, loop)
	}
	var sink train.Sink = &o.diary
	if c.meter != nil {
		sink = nil
		if rank == 0 {
			sink = c.meter
		}
	}
	ctx := context.Background()
	if c.context != nil {
		ctx = c.context(rank)
	}
	o.Result, err = loop.Run(ctx, sink)
	o.weights = slices.Clone(loop.Variables().Weights)
	o.counters, o.buckets = group.Counters(), sums.Buckets()
	return err
}

// localSGD returns the outer settings of local SGD with rounds of that many steps.
func localSGD(every int) train.OuterConfig { return train.OuterConfig{Every: every, LR: 1} }

// With rounds of one step and plain SGD, averaging the weights x - lr*g_r/n_r by n_r/n is the update
// x - lr*sum(g_r)/n of all-reduce, so both agree to rounding: also where shards, and so the workers'
// samples, are uneven, and in a last step that leaves a worker without samples. With momentum they
// agree too, because every worker's velocity is as linear in the gradients, as long as all have equal
// samples.
func TestRoundsOfOneStepAgreeWithAllReduce(t *testing.T) {
	for _, test := range []struct {
		name            string
		samples         int
		shards, workers int
		momentum        float64
	}{
		{"equal", 120, 4, 2, 0},
		{"uneven shards", 100, 5, 3, 0},
		{"a worker without samples", 92, 4, 4, 0},
		{"momentum", 120, 4, 2, 0.9},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := example(t, "lenet", test.samples, 40)
			c.Plan = cut(t, test.shards, 1)
			c.Optimizer.Momentum, c.Optimizer.WeightDecay, c.Steps, c.Epochs = test.momentum, 0, 0, 2
			alone := alone(t, c)
			want, err := alone.Run(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := runOuter(t, outerCase{Config: c, outer: localSGD(1), workers: test.workers})
			if d := distance(got[0].weights, alone.Variables().Weights); d > 1e-6 {
				t.Errorf("weights differ by %v of their norm", d)
			}
			if g := got[0]; g.Samples != want.Samples || g.TrainSamples != want.TrainSamples ||
				math.Abs(g.TrainAccuracy()-want.TrainAccuracy()) > 0.05 ||
				math.Abs(g.Test.Loss-want.Test.Loss) > 1e-3*want.Test.Loss {
				t.Errorf("%+v, want about %+v", g.Result, want)
			}
		})
	}
}

// distance returns |a-b| / |b|.
func distance(a, b []float32) float64 {
	var diff, norm float64
	for i, x := range a {
		diff += float64(x-b[i]) * float64(x-b[i])
		norm += float64(b[i]) * float64(b[i])
	}
	return math.Sqrt(diff / norm)
}

// outerCases are ways to average, over epochs of 4 steps, which rounds do not divide.
func outerCases(t *testing.T) map[string]outerCase {
	c := example(t, "lenet", 100, 37)
	c.Steps, c.EvalEvery = 10, 1
	adamw := c
	adamw.Optimizer.Name, adamw.Optimizer.LR = "adamw", 1e-3
	norm := example(t, "resnet20", 26, 10)
	norm.Batch, norm.Steps = 7, 5
	diloco := func(every, parts, overlap int) train.OuterConfig {
		return train.OuterConfig{Every: every, Parts: parts, Overlap: overlap, LR: 0.7, Momentum: 0.9}
	}
	return map[string]outerCase{
		"local-sgd":  {Config: c, outer: localSGD(3), workers: 3},
		"diloco":     {Config: adamw, outer: diloco(3, 1, 0), workers: 2},
		"one worker": {Config: adamw, outer: diloco(2, 1, 0), workers: 1},
		"streaming":  {Config: adamw, outer: diloco(3, 3, 0), workers: 3},
		"overlap":    {Config: adamw, outer: diloco(3, 1, 2), workers: 2},
		"all of it":  {Config: adamw, outer: diloco(3, 2, 2), workers: 3, wire: "int8"},
		"norm":       {Config: norm, outer: diloco(2, 2, 1), workers: 2},
	}
}

// The result is a function of the configuration and the number of workers: threads, algorithms and
// timing do not change a bit of it. Each sample is used once per epoch, or the run fails.
func TestAveragesAreReproducible(t *testing.T) {
	for name, c := range outerCases(t) {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "norm" {
				t.Skip("slow")
			}
			want := runOuter(t, c)
			c.threads = 2
			again := runOuter(t, c)
			if again[0].ParameterSHA256 != want[0].ParameterSHA256 {
				t.Errorf("parameters %s, want %s", again[0].ParameterSHA256, want[0].ParameterSHA256)
			}
			for _, algorithm := range []string{"gather", "tree", "halving-doubling"} {
				if c.algorithm = algorithm; c.wire != "" {
					continue // a lossy sum depends on the algorithm
				}
				if got := runOuter(t, c)[0].ParameterSHA256; got != want[0].ParameterSHA256 {
					t.Errorf("%s: parameters %s, want %s", algorithm, got, want[0].ParameterSHA256)
				}
			}
			for rank, o := range want {
				if o.Samples != want[0].Samples || o.TrainSamples != want[0].TrainSamples ||
					o.TrainCorrect != want[0].TrainCorrect || o.Test.Correct != want[0].Test.Correct {
					t.Errorf("rank %d: %+v, rank 0 %+v", rank, o.Result, want[0].Result)
				}
			}
		})
	}
}

// What travels is the all-reduces of the parts, as often as OuterConfig.Averages says, those of the
// running statistics at the end of each epoch and of the run, and integers: three counts at the end of each
// epoch and of the run, and the sums of each evaluation. No rows.
func TestBytesOfAverages(t *testing.T) {
	for name, c := range outerCases(t) {
		if c.wire != "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			c.algorithm = "direct"
			got := runOuter(t, c)
			perEpoch := (c.Train.Len() + c.Batch - 1) / c.Batch
			weights, ends := len(got[0].weights), c.Steps/perEpoch+min(1, c.Steps%perEpoch)
			state := len(alone(t, c.Config).Variables().State)
			for rank, o := range got {
				sent := func(elems int) int64 {
					return 4 * int64(comm.Theory("direct", comm.OneHost(c.workers), rank, elems).Sent)
				}
				want := int64(ends) * sent(state)
				for i, times := range c.outer.Averages(c.Steps, perEpoch) {
					r := c.outer.Ranges(weights)[i]
					want += int64(times) * sent(r[1]-r[0])
					if b := o.buckets[i]; b.Steps != times || b.Sent != int64(times)*sent(r[1]-r[0]) {
						t.Errorf("rank %d: part %d: %+v, want %d averages", rank, i, b, times)
					}
				}
				reduced, all := int64(0), int64(0)
				for _, ops := range o.counters.Peers {
					reduced += ops[comm.AllReduce].Sent
					for _, n := range ops {
						all += n.Sent
					}
				}
				if reduced != want {
					t.Errorf("rank %d: sent %d bytes of averages, want %d", rank, reduced, want)
				}
				testBatches := (c.Test.Len() + c.EvalBatch - 1) / c.EvalBatch
				integers := 3*(c.Steps/perEpoch+1) + len(o.evaluations)*(2+testBatches)
				if rest := all - reduced; rest != int64(8*integers*(c.workers-1)) {
					t.Errorf("rank %d: sent %d bytes besides, want %d integers", rank, rest, integers)
				}
			}
		})
	}
}

// Parts are averaged in turn, all of them at the end of an epoch and of the run.
func TestAverages(t *testing.T) {
	for _, test := range []struct {
		c               train.OuterConfig
		steps, perEpoch int
		want            []int
	}{
		{train.OuterConfig{Every: 1}, 10, 100, []int{10}},
		{train.OuterConfig{Every: 5}, 100, 100, []int{20}},
		{train.OuterConfig{Every: 5}, 11, 4, []int{3}},
		{train.OuterConfig{Every: 4, Parts: 2}, 10, 10, []int{3, 3}}, // after 2 6 10, and after 4 8 10
		{train.OuterConfig{Every: 3, Parts: 3}, 7, 5, []int{5, 3, 3}},
	} {
		got := test.c.Averages(test.steps, test.perEpoch)
		if !slices.Equal(got, test.want) {
			t.Errorf("%+v, %d steps of %d: %v, want %v", test.c, test.steps, test.perEpoch, got, test.want)
		}
	}
}

// A run whose length is a time ends after the same step on all workers, near that time in one of three
// tries: how many steps fit is foretold from those before, which other programs may have slowed.
func TestOuterRunEndsAtOneStep(t *testing.T) {
	for _, overlap := range []int{0, 2} {
		c := example(t, "lenet", 300, 10)
		c.Steps, c.For, c.Schedule.Name, c.Schedule.Warmup = 0, 250*time.Millisecond, "constant", 0
		o := localSGD(1000)
		o.Overlap = overlap
		var longest time.Duration
		for try := 0; try < 3 && longest < c.For/2; try++ {
			got := runOuter(t, outerCase{Config: c, outer: o, workers: 2})
			if got[0].Steps != got[1].Steps {
				t.Errorf("%d and %d steps", got[0].Steps, got[1].Steps)
			}
			longest = max(longest, got[0].Trained)
		}
		if longest < c.For/2 {
			t.Errorf("overlap %d: ended after %v at most, want about %v", overlap, longest, c.For)
		}
	}
}

// A step allocates nothing, once each part has been averaged.
func TestOuterStepAllocatesNothing(t *testing.T) {
	c := example(t, "lenet", 1000, 0)
	c.Test, c.Steps, c.StopsTogether = nil, 32, true // an epoch has 34
	(&meter{from: 6, to: 30}).measured(t, "two workers", func(m *meter) {
		runOuter(t, outerCase{Config: c, workers: 2, meter: m,
			outer: train.OuterConfig{Every: 3, Parts: 2, Overlap: 1, LR: 0.7, Momentum: 0.9}})
	})
}

// NewOuter refuses what it cannot do.
func TestOuterRefuses(t *testing.T) {
	for _, test := range []struct {
		outer  train.OuterConfig
		change func(c *train.Config)
		want   string
	}{
		{localSGD(0), nil, "want at least 1"},
		{train.OuterConfig{Every: 4, Parts: 5}, nil, "want 1 to 4"},
		{train.OuterConfig{Every: 4, Overlap: 4}, nil, "want 0 to 3"},
		{localSGD(1), func(c *train.Config) { c.EMA = 0.9 }, "no moving average"},
		{localSGD(1), func(c *train.Config) { c.Isolated = true }, "want NewLocal"},
		{train.OuterConfig{Every: 1 << 20, Parts: 1 << 20}, nil, "weights in"},
	} {
		c := example(t, "lenet", 20, 5)
		if test.change != nil {
			test.change(&c)
		}
		cpu, err := compute.Open(compute.Config{})
		if err != nil {
			t.Fatal(err)
		}
		c.CPU = cpu
		c.Updater = func(l *train.Loop) (train.Updater, error) {
			return train.NewOuter(l, test.outer, new(gradsync.Outer))
		}
		if _, err = train.New(c); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: error %v, want %q", test.outer, err, test.want)
		}
		cpu.Close()
	}
}

// outerAlbum keeps what its workers need to be resumed after a step: the snapshot of rank 0, and what
// each worker has of its own.
type outerAlbum struct {
	album
	updaters []*train.Outer
	own      [][][]float32
}

// keeper is the Checkpointer of a worker.
type keeper struct {
	*outerAlbum
	rank int
}

func (k keeper) Save(m train.Snapshot, _ bool) (bool, error) {
	if m.Step != k.after[0] {
		return false, nil
	}
	if err := k.updaters[k.rank].Arrive(); err != nil {
		return false, err
	}
	for _, v := range ownVectors(k.updaters[k.rank]) {
		k.own[k.rank] = append(k.own[k.rank], slices.Clone(v.Data))
	}
	// The progress of one worker is its own part of the run's.
	counts := []int64{int64(m.Coverage), m.TrainCorrect, m.TrainSamples}
	if err := k.updaters[k.rank].Sum(counts); err != nil || k.rank > 0 {
		return false, err
	}
	m.Coverage, m.TrainCorrect, m.TrainSamples = uint64(counts[0]), counts[1], counts[2]
	return k.album.Save(m, false)
}

// ownVectors returns what a worker has of its own.
func ownVectors(u *train.Outer) []optim.Vector { return slices.Concat(u.Own()) }

// restoreOuter restores a worker.
func (a *outerAlbum) restoreOuter(t *testing.T, rank int, l *train.Loop) {
	m := l.Snapshot()
	copy(m.Variables.Weights, a.weights[0])
	copy(m.Variables.State, a.states[0])
	for j, v := range keptVectors(m) {
		copy(v.Data, a.vectors[0][j])
	}
	for i, v := range ownVectors(a.updaters[rank]) {
		copy(v.Data, a.own[rank][i])
	}
	if err := l.Resume(a.snapshots[0].Progress); err != nil {
		t.Error(err)
	}
}

// A run resumed after any step at which the workers meet ends with the bits of the uninterrupted run,
// also while sums are on their way.
func TestResumedAveragesEndAsTheUndisturbed(t *testing.T) {
	skipShort(t)
	for name, c := range outerCases(t) {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "norm" {
				t.Skip("slow")
			}
			want := runOuter(t, c)[0]
			perEpoch := (c.Train.Len() + c.Batch - 1) / c.Batch
			for step := 1; step < c.Steps; step++ {
				if !c.outer.IsMeeting(step, perEpoch) {
					continue
				}
				a := &outerAlbum{album: album{after: []int{step}}, own: make([][][]float32, c.workers),
					updaters: make([]*train.Outer, c.workers)}
				c := c
				c.join = func(rank int, u *train.Outer) { a.updaters[rank] = u }
				c.keep = func(rank int) train.Checkpointer { return keeper{a, rank} }
				runOuter(t, c)
				c.keep = nil
				c.prepare = func(rank int, l *train.Loop) { a.restoreOuter(t, rank, l) }
				got := runOuter(t, c)[0]
				if got.ParameterSHA256 != want.ParameterSHA256 {
					t.Errorf("from step %d: parameters %s, want %s", step, got.ParameterSHA256,
						want.ParameterSHA256)
				}
				if got.Samples != want.Samples || got.TrainCorrect != want.TrainCorrect ||
					got.TrainSamples != want.TrainSamples || got.Test.Loss != want.Test.Loss {
					t.Errorf("from step %d: %+v, want %+v", step, got.Result, want.Result)
				}
			}
		})
	}
}

// Workers that stop together end after the step in which rank 0's word arrives, and a run resumed from there
// ends with the bits of the undisturbed one. Nobody but rank 0 needs to be cancelled.
func TestStoppedAveragesEndAfterTheSameStep(t *testing.T) {
	skipShort(t)
	after := map[string]int{"local-sgd": 3, "diloco": 3, "one worker": 1, "streaming": 3, "overlap": 3 + 2,
		"all of it": 3 + 2, "norm": 2 + 1}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range outerCases(t) {
		t.Run(name, func(t *testing.T) {
			want := runOuter(t, c)[0]
			a := &outerAlbum{album: album{after: []int{after[name]}}, own: make([][][]float32, c.workers),
				updaters: make([]*train.Outer, c.workers)}
			c := c
			c.join = func(rank int, u *train.Outer) { a.updaters[rank] = u }
			stopped := c
			stopped.StopsTogether = true
			stopped.keep = func(rank int) train.Checkpointer { return keeper{a, rank} }
			stopped.context = func(rank int) context.Context {
				if rank == 0 {
					return cancelled
				}
				return t.Context()
			}
			outcomes, errs := outerWorkers(t, stopped)
			for rank, o := range outcomes {
				if !errors.Is(errs[rank], context.Canceled) || o.Steps != after[name] {
					t.Fatalf("rank %d: %v after %d steps, want %d", rank, errs[rank], o.Steps, after[name])
				}
			}
			c.prepare = func(rank int, l *train.Loop) { a.restoreOuter(t, rank, l) }
			if got := runOuter(t, c)[0]; got.ParameterSHA256 != want.ParameterSHA256 ||
				got.TrainCorrect != want.TrainCorrect || got.TrainSamples != want.TrainSamples {
				t.Errorf("%+v, want %+v", got.Result, want.Result)
			}
		})
	}
}

// A word that would not arrive before the end of the run is not sent.
func TestAveragesAreNotStoppedAtTheirEnd(t *testing.T) {
	c := outerCases(t)["overlap"]
	c.Steps, c.StopsTogether = 4, true
	want := runOuter(t, c)
	c.context = func(int) context.Context {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		return ctx
	}
	if got := runOuter(t, c); got[0].ParameterSHA256 != want[0].ParameterSHA256 {
		t.Errorf("parameters %s, want %s", got[0].ParameterSHA256, want[0].ParameterSHA256)
	}
}

// A stop is noticed within a round and an overlap also where a word is always on its way, as in a run whose
// length is a time and whose overlap is long.
func TestStoppedAveragesDoNotWaitForTheirTime(t *testing.T) {
	c := outerCases(t)["overlap"]
	c.Train = example(t, "lenet", 68, 5).Train
	c.Batch, c.Steps, c.For, c.StopsTogether = 2, 0, time.Hour, true // 34 steps in an epoch
	c.Plan, c.Schedule.Name, c.Schedule.Warmup = cut(t, 2, 1), "constant", 0
	c.outer.Every, c.outer.Overlap = 17, 15
	c.context = func(rank int) context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		if rank == 0 {
			time.AfterFunc(50*time.Millisecond, cancel)
		} else {
			t.Cleanup(cancel)
		}
		return ctx
	}
	ended := time.Now()
	outcomes, errs := outerWorkers(t, c)
	for rank, o := range outcomes {
		if !errors.Is(errs[rank], context.Canceled) || o.Steps != outcomes[0].Steps {
			t.Errorf("rank %d: %v after %d steps, rank 0 after %d", rank, errs[rank], o.Steps,
				outcomes[0].Steps)
		}
	}
	if took := time.Since(ended); took > 30*time.Second {
		t.Errorf("ended after %v", took)
	}
}
