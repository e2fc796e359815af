package lockstep

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"sync"

	"lockstep/app/job/input"
	"lockstep/app/job/worker"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/checkpoint"
	"lockstep/comm"
	"lockstep/compute"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/train"
)

// Config is a training run in the calling process. Train and either Model or Name are required.
type Config struct {
	// Model adds the network to the graph of x, images [N, H, W, C], and returns logits [N, classes]. If
	// the samples have targets instead of labels, classes is the number of targets.
	Model func(x *graph.Node, classes int) *graph.Node
	// Name is a network that comes with Lockstep, such as "resnet20", in place of Model.
	Name string
	// Task is what the network learns; the zero value is train.Classification(0).
	Task train.Task
	// Train holds the training samples, Test those to evaluate on; a nil Test means never.
	Train, Test *data.Set
	// Validation holds the samples that Patience and RestoreBest choose by; nil means none.
	Validation *data.Set
	// Patience is the number of evaluations on Validation in a row without a better accuracy that end the
	// run; 0 means that none do. RestoreBest ends it with the weights of the best evaluation.
	Patience    int
	RestoreBest bool
	// Weights is a safetensors file or folder to start from; "" means random values.
	Weights string
	// Clip is the greatest norm of the gradient, EMA the decay of an average of the weights that is evaluated
	// and returned in their place; 0 means none of either.
	Clip, EMA float64

	// Workers is the number of replicas, each a goroutine with Threads compute threads. 0 workers means 1;
	// 0 threads means processors / workers. With equal Shards they change no bit of the result.
	Workers, Threads int
	// Batch is the number of samples of a step over all workers; 0 means 64.
	Batch int
	// Shards is the number of virtual shards that a batch is cut into, at least Workers. Runs with equal
	// Shards end with the same bits. 0 means shard.Usual, by which 1, 2 and 4 workers have as many where the
	// batch is large enough.
	Shards int
	// Epochs or Steps sets the length of the run; both 0 means one epoch.
	Epochs, Steps int
	// Optimizer is the update rule. The zero value is SGD with rate 0.02 and momentum 0.9, which suits
	// small networks in batches of 64.
	Optimizer optim.Config
	// Schedule varies the learning rate over the run; the zero value keeps it constant.
	Schedule optim.ScheduleConfig
	// Augment configures random changes of training images; the zero value makes none.
	Augment data.Augmentation
	// Seed determines the initial parameters, the order of samples and augmentation. The command
	// line's default is 1.
	Seed uint64
	// EvalEvery is the number of epochs between evaluations on Test; 0 means at the end only.
	EvalEvery int

	// OnStep and OnEvaluation, if not nil, are called by the first worker, on its goroutine, after each
	// step and each evaluation.
	OnStep       func(train.Step)
	OnEvaluation func(train.Evaluation)
}

// Result is the outcome of a run.
type Result struct {
	// Losses is the mean loss over the batch of each step, before its update.
	Losses []float64
	// TestLoss and TestAccuracy are from the last evaluation; NaN if there was none. TestAccuracy is also
	// NaN if the task has no accuracy.
	TestLoss, TestAccuracy float64
	// TestMetrics are the task's metrics in the last evaluation.
	TestMetrics []train.Figure
	// ParameterSHA256 is the hash of all parameters and running statistics.
	ParameterSHA256 string
	// Variables are the trained parameters and running statistics, under PyTorch's names.
	Variables *graph.Variables

	seen int64     // batches that the running statistics have seen
	set  *data.Set // of training
}

// Save writes the weights as a safetensors file, which PyTorch and Train's command line read. The file names
// the classes and says how images are normalised.
func (r *Result) Save(path string) error {
	d := checkpoint.Description{Classes: r.set.Classes, Mean: r.set.Mean, Std: r.set.Std, Input: r.set.Shape,
		Table: r.set.Table}
	_, err := checkpoint.Save(path, r.Variables, r.seen, d.Metadata())
	return err
}

// Train trains one replica per worker in the calling process, over links in memory. With equal Shards the
// result does not depend on Workers and Threads. When ctx ends, Train stops between two steps and returns
// the cause. If the loss is no longer finite, it returns a *train.DivergedError. While it runs, GOMAXPROCS
// is raised so that other goroutines need not wait for compute threads.
func Train(ctx context.Context, c Config) (*Result, error) {
	network, err := c.complete()
	if err != nil {
		return nil, err
	}
	if _, err := shard.Cut(c.Shards, c.Workers); err != nil {
		return nil, err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(c.Workers * (c.Threads + 2)))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	results := make([]*Result, c.Workers)
	var running sync.WaitGroup
	meshes := make([]comm.Mesh, 1)
	if c.Workers > 1 {
		meshes = comm.NewLocal(c.Workers)
	}
	for rank, mesh := range meshes {
		r := replica{config: c, rank: rank}
		running.Go(func() {
			if mesh != nil {
				stop := context.AfterFunc(ctx, mesh.Shutdown) // ends waits for peers
				defer stop()
			}
			var err error
			if results[rank], err = r.run(ctx, network, mesh); err != nil {
				cancel(err) // the first stops the others and is the cause
			}
		})
	}
	running.Wait()
	return results[0], context.Cause(ctx)
}

// complete fills in defaults and returns the network.
func (c *Config) complete() (model.Network, error) {
	if c.Train == nil || c.Train.Len() == 0 {
		return model.Network{}, errors.New("lockstep: no training samples")
	}
	if (c.Model == nil) == (c.Name == "") {
		return model.Network{}, errors.New("lockstep: want either a Model or the Name of one")
	}
	c.Workers, c.Batch = cmp.Or(c.Workers, 1), cmp.Or(c.Batch, 64)
	c.Threads = cmp.Or(c.Threads, max(1, runtime.NumCPU()/c.Workers))
	if c.Epochs == 0 && c.Steps == 0 {
		c.Epochs = 1
	}
	if c.Optimizer.Name == "" && c.Optimizer.LR == 0 {
		c.Optimizer = optim.Config{LR: 0.02, Momentum: 0.9}
	}
	known, name := model.Catalog{}, c.Name
	if c.Model != nil {
		name = "model"
		var err error
		if known, err = known.With(name, c.Model); err != nil {
			return model.Network{}, err
		}
	}
	outputs := len(c.Train.Classes)
	if !c.Train.HasLabels() {
		outputs = c.Train.NumTargets
	}
	network, err := known.Named(name, outputs, c.Train.Shape)
	if err == nil && c.Shards == 0 {
		c.Shards = shard.Usual(c.Batch, network.LeastShard(), c.Workers)
	}
	return network, err
}

// settings returns the configuration of the workers.
func (c *Config) settings() setting.Config {
	s := setting.Default()
	s.Workers, s.Threads, s.Batch, s.Shards, s.Accumulate = c.Workers, c.Threads, c.Batch, c.Shards, 1
	s.Epochs, s.Steps, s.EvalEvery, s.Seed = c.Epochs, c.Steps, c.EvalEvery, c.Seed
	s.Optimizer, s.Schedule, s.Clip, s.EMA = c.Optimizer, c.Schedule, c.Clip, c.EMA
	s.Patience, s.RestoreBest, s.Weights, s.Save = c.Patience, c.RestoreBest, c.Weights, false
	s.Device, s.Math, s.ISA = setting.DeviceCPU, compute.Fast.String(), compute.Best().String()
	s.Strategy, s.Link = strategy.DDP, "local"
	if c.Workers == 1 {
		s.Strategy = strategy.Single
	}
	return s
}

// replica is one worker of Train.
type replica struct {
	config Config
	rank   int
	losses []float64
}

// run trains to the end. It owns the mesh.
func (r *replica) run(ctx context.Context, network model.Network, mesh comm.Mesh) (result *Result,
	err error) {
	c := r.config
	task := input.Task{Network: network, Train: c.Train, Validation: c.Validation, Test: c.Test,
		Augment: c.Augment, Learns: c.Task}
	if c.Weights != "" {
		if task.Start, err = input.Open(c.settings(), func(string) {}); err != nil {
			return nil, err
		}
	}
	err = worker.Bare(c.settings(), task, r.rank, mesh, func(l *train.Loop) error {
		done, err := l.Run(ctx, r)
		if err == nil {
			result = r.result(l, done)
		}
		return err
	})
	return result, err
}

// result returns the outcome.
func (r *replica) result(l *train.Loop, done train.Result) *Result {
	c := r.config
	result := &Result{Losses: r.losses, TestLoss: math.NaN(), TestAccuracy: math.NaN(),
		ParameterSHA256: done.ParameterSHA256, Variables: l.Variables(),
		seen: int64(done.Steps) * int64(c.Shards), set: c.Train}
	if done.Test.Samples > 0 {
		result.TestLoss, result.TestMetrics = done.Test.Loss, done.Test.Metrics
		if c.Task.Loss == nil || c.Task.Correct != nil {
			result.TestAccuracy = done.Test.Accuracy()
		}
	}
	return result
}

// Step implements train.Sink.
func (r *replica) Step(s train.Step) {
	r.losses = append(r.losses, s.Loss)
	if r.rank == 0 && r.config.OnStep != nil {
		r.config.OnStep(s)
	}
}

// Evaluation implements train.Sink.
func (r *replica) Evaluation(e train.Evaluation) {
	if r.rank == 0 && r.config.OnEvaluation != nil {
		r.config.OnEvaluation(e)
	}
}
