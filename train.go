package lockstep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"lockstep/app/setting"
	"lockstep/checkpoint"
	"lockstep/data"
	"lockstep/graph"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/shard"
	"lockstep/train"
)

// Config is a training run in the calling process. Train and either Model or Name are required. It is read as
// the command line's flags of the same names are, by the same code; Adjust reaches those that have no field.
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
	// Patience is the number of evaluations on Validation in a row without a better one that end the run; 0
	// means that none do. RestoreBest ends it with the weights of the best evaluation. BestBy is the figure
	// that makes one the best, one of train.ByNames; "" means the accuracy or, of a Task that has none, the
	// RMSE of the outputs. Of a Task of targets that has Correct it may also be the loss.
	Patience    int
	RestoreBest bool
	BestBy      string
	// Weights is a safetensors file or folder to start from; "" means random values. FreshHead gives the last
	// layer random values all the same.
	Weights   string
	FreshHead bool
	// Clip is the greatest norm of the gradient, EMA the decay of an average of the weights that is evaluated
	// and returned in their place; 0 means none of either.
	Clip, EMA float64

	// Workers is the number of replicas, each a goroutine with Threads compute threads. 0 workers means 1;
	// 0 threads means processors / workers. With equal Shards they change no bit of the result.
	Workers, Threads int
	// Strategy is how workers exchange gradients, Algorithm how they add them up, Wire how gradients are
	// compressed, by the names of the command line; "" means its defaults: ddp, auto, fp32.
	Strategy, Algorithm, Wire string
	// Device is what computes, "cpu" or "" for it, "cuda", or with Out "auto"; Math is how, ISA by which
	// instructions; "" means fast, and the best that there are.
	Device, Math, ISA string
	// Batch is the number of samples of a step over all workers; 0 means 64.
	Batch int
	// Shards is the number of virtual shards that a batch is cut into, at least Workers. Runs with equal
	// Shards end with the same bits. 0 means shard.Usual, by which 1, 2 and 4 workers have as many where the
	// batch is large enough.
	Shards int
	// Epochs or Steps sets the length of the run; both 0 means one epoch. Until, from 0 to 1, ends it at the
	// first evaluation with at least this accuracy; 0 means none.
	Epochs, Steps int
	Until         float64
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
	// EvalEvery is the number of epochs between evaluations on Validation or, without it, on Test; 0 means at
	// the end only.
	EvalEvery int

	// Out is the run directory, new or empty, which gets what a run of the command line leaves: the steps,
	// the weights, a summary for `lockstep report`. "" means that nothing is written.
	Out string
	// CheckpointEvery is the distance of checkpoints in Out, in steps ("100") or time ("5m"); "" means none.
	CheckpointEvery string
	// Resume is the directory of a run with checkpoints, which goes on from the newest, in place of Out.
	// Model and samples must be those of that run. Every other setting is that run's, but for Workers,
	// Threads, Strategy and the length, which may be given anew, and Callbacks.
	Resume string
	// Log takes what the command line tells people, a line at a time; nil means nothing.
	Log io.Writer
	// Adjust changes any other setting, before the run is checked; nil changes none. Package app/setting
	// describes them. Model, data and link stay.
	Adjust func(*setting.Config)

	Callbacks
}

// Callbacks are called by the first worker, on its training goroutine, between steps; nil ones are not. An
// error of one ends the run, and Train returns it, unless it is [ErrStop]. They may take as long as they like
// without Out, at most ten minutes with it, after which the worker counts as stuck.
type Callbacks struct {
	// OnStep is called after each step, and OnEvaluation after each evaluation. Where they return ErrStop,
	// the run ends as if that were its length: every worker stops at the same step, with the same bits.
	OnStep       func(train.Step) error
	OnEvaluation func(train.Evaluation) error
	// OnEnd is called with the result, before anything is saved in Out.
	OnEnd func(*Result) error
}

// ErrStop is what a callback returns to end the run well.
var ErrStop = errors.New("lockstep: the run may end here")

// samplesName and modelName are what the settings of a run call samples and a network of the program.
const (
	samplesName = "samples"
	modelName   = "model"
)

// setting returns the complete settings of the run and its network.
func (c *Config) setting() (s setting.Config, n model.Network, err error) {
	if c.Train == nil || c.Train.Len() == 0 {
		return s, n, errors.New("lockstep: no training samples")
	}
	if (c.Model == nil) == (c.Name == "") {
		return s, n, errors.New("lockstep: want either a Model or the Name of one")
	}
	for _, set := range (data.Sets{Train: c.Train, Validation: c.Validation, Test: c.Test}).All() {
		if err := set.Check(); err != nil {
			return s, n, err
		}
	}
	catalog, err := c.catalog()
	if err != nil {
		return s, n, err
	}
	outputs := len(c.Train.Classes)
	if !c.Train.HasLabels() {
		outputs = c.Train.NumTargets
	}
	name := cmp.Or(c.Name, modelName)
	if n, err = catalog.Models.Named(name, outputs, c.Train.Shape); err != nil {
		return s, n, err
	}
	if c.Resume != "" {
		s, err = c.resumed(catalog)
		return s, n, err
	}
	s = c.named(n)
	s.Catalog = catalog
	if c.Adjust != nil {
		c.Adjust(&s)
	}
	s.Catalog, s.Model, s.Data, s.Link, s.Resume = catalog, name, samplesName, "local", ""
	if _, err := shard.Cut(s.Shards, s.Workers); err != nil {
		return s, n, err
	}
	if err = s.Validate(); err != nil {
		return s, n, fmt.Errorf("lockstep: %w", err)
	}
	s = s.Complete()
	return s, n, c.check(s)
}

// check refuses what the samples, or a run without a directory, do not allow.
func (c *Config) check(s setting.Config) error {
	wantsOut := s.KeepsCheckpoints() || s.IsDeviceOpen() || s.NumApart() > 0 || s.Trace
	switch {
	case s.Choosing() != "" && c.Validation == nil:
		return errors.New("lockstep: Patience, RestoreBest and BestBy choose by Validation, which is nil")
	case !c.Train.HasLabels() && !s.IsRegression() && s.BestBy != "accuracy" && s.BestBy != "loss":
		return fmt.Errorf("lockstep: BestBy %s is of samples with classes; want accuracy or loss", s.BestBy)
	case s.Strategy == setting.Auto:
		return errors.New("lockstep: strategy auto makes short runs first, which Train does not; name one")
	case s.EvalOnly || s.Validation != setting.Held{} || s.ClassWeights+s.ClassShares+s.WeightColumn != "":
		return errors.New("lockstep: Adjust asks for samples to be loaded or only scored, which Train does " +
			"not; change the sets instead")
	case wantsOut && s.Out == "":
		return errors.New("lockstep: checkpoints, a trace, device auto and servers apart want a run " +
			"directory: set Out")
	}
	return nil
}

// catalog returns the names of the run's own network and samples.
func (c *Config) catalog() (k *setting.Catalog, err error) {
	k = &setting.Catalog{}
	k.Data, err = k.Data.With(samplesName, func(context.Context, data.Options) (train, test *data.Set,
		err error) {
		return c.Train, c.Test, nil
	})
	if err == nil && c.Model != nil {
		k.Models, err = k.Models.With(modelName, c.Model)
	}
	return k, err
}

// named returns the settings that have fields, with the defaults of the others.
func (c *Config) named(n model.Network) setting.Config {
	s := setting.Default()
	s.Workers, s.Batch = cmp.Or(c.Workers, 1), cmp.Or(c.Batch, 64)
	s.Threads = cmp.Or(c.Threads, max(1, runtime.NumCPU()/max(1, s.Workers)))
	s.Shards = cmp.Or(c.Shards, shard.Usual(s.Batch, n.LeastShard(), s.Workers))
	s.Epochs, s.Steps, s.Until, s.EvalEvery, s.Seed = c.Epochs, c.Steps, c.Until, c.EvalEvery, c.Seed
	if rule := c.Optimizer; rule.Name != "" || rule.LR != 0 {
		rule.Name = cmp.Or(rule.Name, s.Optimizer.Name)
		s.Optimizer = rule
	}
	if !c.Train.HasLabels() && !c.Task.HasCorrect() {
		s.Task = setting.Regression
	}
	if c.Schedule.Name != "" {
		s.Schedule = c.Schedule
	}
	s.Clip, s.EMA, s.Weights, s.FreshHead = c.Clip, c.EMA, c.Weights, c.FreshHead
	s.Patience, s.RestoreBest, s.BestBy = c.Patience, c.RestoreBest, cmp.Or(c.BestBy, s.BestBy)
	s.Strategy, s.ISA = c.Strategy, c.ISA
	s.Algorithm, s.Wire = cmp.Or(c.Algorithm, s.Algorithm), cmp.Or(c.Wire, s.Wire)
	s.Math = cmp.Or(c.Math, s.Math)
	s = s.Placed(cmp.Or(c.Device, s.Device))
	s.Out, s.CheckpointEvery, s.Spans = c.Out, c.CheckpointEvery, c.Out != ""
	return s
}

// resumed returns the settings of the run in the directory Resume, with those that are given anew.
func (c *Config) resumed(k *setting.Catalog) (setting.Config, error) {
	flags := map[string]string{"resume": c.Resume}
	for name, n := range map[string]int{"workers": c.Workers, "threads": c.Threads, "epochs": c.Epochs,
		"steps": c.Steps} {
		if n != 0 {
			flags[name] = fmt.Sprint(n)
		}
	}
	for name, text := range map[string]string{"strategy": c.Strategy, "checkpoint-every": c.CheckpointEvery} {
		if text != "" {
			flags[name] = text
		}
	}
	s, _, err := setting.Resolve(setting.Source{Catalog: k, Flags: flags})
	s.Link = "local"
	return s, err
}

// Result is the outcome of a run.
type Result struct {
	// Losses is the mean loss over the batch of each step, before its update; of a resumed run, of the steps
	// since then.
	Losses []float64
	// TestLoss and TestAccuracy are from the last evaluation; NaN if there was none. TestAccuracy is also
	// NaN if the task has no accuracy.
	TestLoss, TestAccuracy float64
	// TestMetrics are the task's metrics in the last evaluation.
	TestMetrics []train.Figure
	// Best is the best evaluation on Validation; its Evaluation has no Samples if there was none.
	Best train.Best
	// Steps is the number of steps of the whole run.
	Steps int
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
		Table: r.set.Table, Values: r.set.Predicts()}
	_, err := checkpoint.Save(path, r.Variables, r.seen, d.Metadata())
	return err
}
