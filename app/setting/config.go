package setting

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"lockstep/app/host"
	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/compute"
	"lockstep/data"
	"lockstep/gradsync"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/train"
)

// Config is the configuration of a run. Each field, also of its parts, is the value of a [Setting], whose
// name is the flag and the key in JSON and in config.yaml. Fields whose zero value means "open" are filled in
// by Complete.
type Config struct {
	// Catalog knows Model and Data by name; it belongs to the program and is no setting.
	Catalog *Catalog

	Model    string  // architecture, a name of the catalog
	Stem     string  // first layers of resnet50, one of model.Stems
	Data     string  // data set, a name of the catalog or a path
	Workers  int     // replicas, 1 to MaxWorkers
	Strategy string  // "": single for one worker, ddp otherwise
	Device   string  // what computes: cpu, cuda, cuda:N, or auto
	Epochs   int     // length in epochs; 0: given by Steps or For, or 1
	Steps    int     // length in steps; 0: given by Epochs or For
	For      string  // length in training time; "": by Epochs or Steps
	Until    float64 // accuracy that ends the run, 0 to 1; 0: none

	SlowWorkers SlowWorkers // workers that compute more slowly, or wait
	SlowLoader  data.Pace   // data that comes more slowly

	Samples
	Start
	Kernels
	Exchange
	Batches
	Choice
	Update
	Averaging
	Serving
	Output
}

// Samples says which samples of the data a run sees, and how they are read.
type Samples struct {
	DataDir     string  // folder of data sets; "": the user's cache
	Size        int     // side of the images of a folder
	Vocab       string  // WordPiece vocabulary; "": that beside Weights, or BERT's
	Sequence    int     // tokens of a text, at most
	TextColumn  string  // of a file of texts; "": one of a usual name
	PairColumn  string  // of a file of pairs of texts, the second one; "": single texts
	LabelColumn string  // of a file of texts; "": one of a usual name
	Task        string  // classification or regression: what labels are
	Augment     string  // random changes of training images
	Mixup       float64 // parameter of the share that an added image leaves; 0: none
	Cutmix      float64 // the same for a rectangle of another
	Shuffle     string  // all or blocks: what is mixed in an epoch
	Normalize   string  // scale of images: auto, data or imagenet
	TTA         string  // views of test images whose logits are averaged
	LimitTrain  int     // use the first n training samples; -1: all
	LimitTest   int     // use the first n test samples; -1: all, 0: none

	SkipBad      int    // images that may be left out because they cannot be decoded
	Validation   Held   // samples to choose by, besides those that the data says are for it
	WeightColumn string // of what each training sample counts; "": all count alike
	ClassWeights string // data.Balanced, or a file of the weights of classes; "": all samples count alike
	ClassShares  string // the same of how often classes are drawn; "": each sample once
}

// Names of the tasks.
const (
	classification = "classification"
	Regression     = "regression"
)

// IsRegression reports whether labels are numbers to predict.
func (c Config) IsRegression() bool { return c.Task == Regression }

// Choosing returns the setting that wants a choice by validation samples; "": none does.
func (c Config) Choosing() string {
	switch {
	case c.RestoreBest:
		return "restore-best"
	case c.Patience > 0:
		return "patience"
	case c.BestBy != "" && c.BestBy != c.usualBy():
		return "best-by"
	}
	return ""
}

// usualBy returns the figure by which an evaluation of the task is the best unless BestBy says another.
func (c Config) usualBy() string { return train.ByNames(!c.IsRegression(), c.IsRegression())[0] }

// ClassFiles returns those of ClassWeights and ClassShares that are files, by the name of the setting.
func (c *Config) ClassFiles() map[string]*string {
	files := map[string]*string{"class-weights": &c.ClassWeights, "class-shares": &c.ClassShares}
	maps.DeleteFunc(files, func(_ string, path *string) bool { return *path == "" || *path == data.Balanced })
	return files
}

// Held says which samples are set apart to choose by: a share of the training samples, or those at a path.
type Held struct {
	Share float64 // 0 to below 1
	Path  string  // "": none
}

// String returns what parseHeld reads.
func (h Held) String() string { return cmp.Or(h.Path, decimal(h.Share)) }

// parseHeld reads a share, or else a path.
func parseHeld(text string) (h Held, err error) {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return Held{Path: text}, nil
	case !(x >= 0 && float32(x) < 1):
		return h, fmt.Errorf("%v is out of range, want a share from 0 to below 1, or a path", x)
	}
	return Held{Share: x}, nil
}

// Choice says how validation samples choose weights and the end of a run.
type Choice struct {
	BestBy      string // the figure of the best evaluation, one of train.ByNames; "": the task's first
	Patience    int    // evaluations without a better one that end the run; 0: none
	RestoreBest bool   // the run ends with the best weights
}

// Start says with which weights a run begins.
type Start struct {
	Weights   string // safetensors file or folder to start from; "": none
	FreshHead bool   // the last layer may differ from that of Weights
	EvalOnly  bool   // evaluate Weights, train nothing
}

// Kernels says how each worker computes.
type Kernels struct {
	Threads int    // compute threads per worker; 0: cores / workers
	ISA     string // kernel path; "": the best of the processor
	Math    string // how products are computed, see compute.Math and gpu.Math
	Memory  int    // bytes of activations; above it, some are recomputed; 0: what the machine has room for
	// Resident is how many bytes of memory each process may take; 0: no limit.
	Resident int
}

// Exchange says how gradients travel between workers that share their steps.
type Exchange struct {
	Algorithm      string // collective algorithm; auto chooses
	Link           string // auto, local (one process), shm or tcp (processes)
	Wire           string // compression of gradients; auto chooses
	Bucket         int    // bytes of a ddp bucket
	OverlapForward bool   // exchange gradients during the next forward pass
	ShardOptimizer bool   // each worker updates its shard of the weights
	Rebalance      bool   // shards move from slow workers to fast ones
	Insecure       bool   // links between hosts are not encrypted
	Streams        int    // connections of each link by TCP, 1 to cluster.MaxStreams
	SocketBuffer   int    // bytes of the sockets of these connections; 0: as the kernel decides
	MasterAddr     string // interface of the rendezvous
	MasterPort     int    // port of the rendezvous; 0: any
}

// Batches says how samples are cut into steps.
type Batches struct {
	Batch      int    // samples of one step over all workers
	Shards     int    // virtual shards; 0: the usual number
	Accumulate int    // batches of one step
	Seed       uint64 // seed of all random numbers
}

// Update says how gradients change the weights.
type Update struct {
	Optimizer optim.Config          // the update rule, with the rate for the global batch
	ScaleLR   optim.ScaleRule       // adapts the rate to the batch
	Schedule  optim.ScheduleConfig  // learning rate schedule
	Lookahead optim.LookaheadConfig // slow weights
	Clip      float64               // greatest norm of the gradient; 0: no limit
	EMA       float64               // decay of the average of the weights; 0: none
	Smoothing float64               // fraction of a label spread over all classes
}

// Averaging is of strategies that average weights.
type Averaging struct {
	AverageEvery  int     // steps from one average of the weights to the next
	OuterLR       float64 // learning rate of the outer optimizer
	OuterMomentum float64 // its momentum
	OuterWire     string  // compression of averages
	OuterParts    int     // parts of the weights that are averaged in turn
	OuterOverlap  int     // steps for which an average may be on its way
}

// Serving is of strategies with parameter servers.
type Serving struct {
	Servers       int    // parameter servers, 1 to MaxWorkers
	ServerPlace   string // where they are: workers, apart
	Staleness     string // bound of asynchronous updates: auto, or a number
	BackupWorkers int    // whose gradients are not waited for
	StalenessRate bool   // divide learning rates by staleness
	Replay        string // updates.jsonl of the run that is repeated; "": none
}

// Output says what a run leaves, and where.
type Output struct {
	Out             string // run directory; "": runs/<time>-<what>
	Save            bool   // leave the trained weights in the run directory
	Trace           bool   // write trace.json
	Spans           bool   // record spans
	EvalEvery       int    // epochs between evaluations; 0: at the end only
	CheckpointEvery string // steps or time; "": no checkpoints
	Resume          string // run directory to resume; "": a new run
}

// MaxWorkers bounds Workers on one machine. A larger number is probably a typing error.
const MaxWorkers = 256

// Default returns the configuration of `lockstep train` without flags: lenet on the generated
// glyphs, one worker, one epoch. The learning rate suits lenet at batch 64.
func Default() Config {
	plain := gradsync.Wire{}.String()
	return Config{
		Model: "lenet", Stem: model.StemAuto, Data: "glyphs", Workers: 1, Device: DeviceCPU,
		Samples: Samples{Size: 32, Sequence: 512, Augment: auto, Normalize: auto, TTA: none, LimitTrain: -1,
			Shuffle: shuffleAll, Task: classification, LimitTest: -1},
		Kernels: Kernels{Math: compute.Fast.String()},
		Exchange: Exchange{Algorithm: auto, Link: auto, Wire: plain, Bucket: 1 << 20, Streams: 1,
			MasterAddr: "127.0.0.1"},
		Batches: Batches{Batch: 64, Accumulate: 1, Seed: 1},
		Update: Update{Optimizer: optim.Config{Name: "sgd", LR: 0.02, Momentum: 0.9},
			Schedule: optim.ScheduleConfig{Name: "constant"}},
		Averaging: Averaging{AverageEvery: 50, OuterLR: 0.7, OuterMomentum: 0.9, OuterWire: plain,
			OuterParts: 1},
		Serving: Serving{Servers: 1, ServerPlace: withWorkers, Staleness: auto},
		Output:  Output{Save: true, Spans: true, EvalEvery: 1},
	}
}

// Complete returns c with every open field decided: one epoch, single for one worker or else ddp,
// the usual number of shards, the machine's cores divided among the workers, but for one of each server
// apart, in one process or in several. Out and ISA stay open until Run.
func (c Config) Complete() Config {
	if c.Epochs == 0 && c.Steps == 0 && c.For == "" {
		c.Epochs = 1
	}
	switch isOpen := c.Strategy == ""; {
	case c.Workers == 1 && (isOpen || c.Strategy == strategy.Auto):
		c.Strategy = strategy.Single
	case isOpen:
		c.Strategy = strategy.DDP
	}
	c.BestBy = cmp.Or(c.BestBy, c.usualBy())
	if c.Shards == 0 {
		c.Shards = c.UsualShards(c.Workers)
		if c.IsBalanced() {
			c.Shards = BalancedShards(c.Workers, c.Batch)
		}
	}
	if c.Threads == 0 {
		c.Threads = max(1, (host.Cores()-c.NumApart())/max(1, c.Workers))
	}
	if c.Link == auto {
		c.Link = betweenProcesses()
		if c.World() == 1 {
			c.Link = linkLocal
		}
	}
	return c
}

// On returns c with defaults taken from the environment: with one worker on each of several hosts, which may
// be those of a lab, the link is not shared memory, and no worker has more threads than its share of its
// host's cores.
func (c Config) On(e cluster.Environment) Config {
	if c.Link == auto && e.IsApart(c.Workers, c.NumApart()) {
		c.Link = linkTCP
	}
	if c.Threads > 0 {
		return c
	}
	for _, l := range e.Loads(c.Workers, c.NumApart()) {
		threads := max(1, (cmp.Or(l.Cores, host.Cores())-l.Servers)/max(1, l.Workers))
		if c.Threads == 0 || threads < c.Threads {
			c.Threads = threads
		}
	}
	return c
}

// Rooted returns c with absolute paths for all inputs of the run, so that it can be repeated and resumed
// from any folder.
func (c Config) Rooted() Config {
	paths := []*string{&c.DataDir, &c.Vocab, &c.Weights, &c.Replay, &c.Validation.Path}
	if c.Datasets().IsPath(c.Data) {
		paths = append(paths, &c.Data)
	}
	paths = slices.AppendSeq(paths, maps.Values(c.ClassFiles()))
	if model.IsFile(c.Model) {
		paths = append(paths, &c.Model)
	}
	for _, path := range paths {
		if absolute, err := filepath.Abs(*path); err == nil && *path != "" {
			*path = absolute
		}
	}
	return c
}

// Foreign returns c as the configuration of a stranger, who may say what is computed and not which folders of
// this machine are written to, nor where it listens: data sets are found, and downloaded to, where they are
// without --data-dir, no run directory is resumed, and the rendezvous is on the loopback interface.
func (c Config) Foreign() Config {
	c.DataDir, c.Resume, c.Out = "", "", ""
	c.MasterAddr, c.MasterPort = Default().MasterAddr, Default().MasterPort
	return c
}
