package setting

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/app/host"
	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/comm/shm"
	"lockstep/compute"
	"lockstep/data"
	"lockstep/gradsync"
	"lockstep/internal/spelling"
	"lockstep/model"
	"lockstep/optim"
)

// Config is the configuration of a run. Each field is the value of a [Setting], whose name is the flag and
// the key in JSON and in config.yaml. Fields whose zero value means "open" are filled in by Complete.
type Config struct {
	// Catalog knows Model and Data by name; it belongs to the program and is no setting.
	Catalog *Catalog

	Model         string  // architecture, a name of the catalog
	Stem          string  // first layers of resnet50, one of model.Stems
	Data          string  // data set, a name of the catalog or a path
	DataDir       string  // folder of data sets; "": the user's cache
	Size          int     // side of the images of a folder
	Vocab         string  // WordPiece vocabulary; "": that beside Weights, or BERT's
	Sequence      int     // tokens of a text, at most
	TextColumn    string  // of a file of texts; "": one of a usual name
	PairColumn    string  // of a file of pairs of texts, the second one; "": single texts
	LabelColumn   string  // of a file of texts; "": one of a usual name
	Augment       string  // random changes of training images
	LimitTrain    int     // use the first n training samples; -1: all
	LimitTest     int     // use the first n test samples; -1: all, 0: none
	Weights       string  // safetensors file or folder to start from; "": none
	FreshHead     bool    // the last layer may differ from that of Weights
	Normalize     string  // scale of images: auto, data or imagenet
	EvalOnly      bool    // evaluate Weights, train nothing
	TTA           string  // views of test images whose logits are averaged
	Workers       int     // replicas, 1 to MaxWorkers
	Threads       int     // compute threads per worker; 0: cores / workers
	Strategy      string  // "": single for one worker, ddp otherwise
	Algorithm     string  // collective algorithm; auto chooses
	Link          string  // auto, local (one process), shm or tcp (processes)
	Wire          string  // compression of gradients; auto chooses
	Bucket        int     // bytes of a ddp bucket
	Memory        int     // bytes of activations; above it, some are recomputed; 0: no limit
	Insecure      bool    // links between hosts are not encrypted
	Streams       int     // connections of each link by TCP, 1 to cluster.MaxStreams
	MasterAddr    string  // interface of the rendezvous
	MasterPort    int     // port of the rendezvous; 0: any
	Device        string  // what computes: cpu, cuda, cuda:N, or auto
	ISA           string  // kernel path; "": the best all workers have
	Math          string  // how products are computed, see compute.Math and gpu.Math
	Epochs        int     // length in epochs; 0: given by Steps or For, or 1
	Steps         int     // length in steps; 0: given by Epochs or For
	For           string  // length in training time; "": by Epochs or Steps
	Until         float64 // accuracy that ends the run, 0 to 1; 0: none
	Batch         int     // samples of one step over all workers
	Shards        int     // virtual shards; 0: the usual number
	Accumulate    int     // batches of one step
	AdaptiveBatch int     // largest batch of a step, to which it may grow; 0: it stays
	Seed          uint64  // seed of all random numbers
	Clip          float64 // greatest norm of the gradient; 0: no limit
	EMA           float64 // decay of the average of the weights; 0: none
	Smoothing     float64 // fraction of a label spread over all classes
	EvalEvery     int     // epochs between evaluations; 0: at the end only
	Out           string  // run directory; "": runs/<time>-<what>
	Save          bool    // leave the trained weights in the run directory
	Trace         bool    // write trace.json

	Optimizer optim.Config          // the update rule, with the rate for the global batch
	ScaleLR   optim.ScaleRule       // adapts the rate to the batch
	Schedule  optim.ScheduleConfig  // learning rate schedule
	Lookahead optim.LookaheadConfig // slow weights

	Rebalance       bool        // shards move from slow workers to fast ones
	SlowWorkers     SlowWorkers // workers that compute more slowly
	AverageEvery    int         // steps from one average of the weights to the next
	OuterLR         float64     // learning rate of the outer optimizer
	OuterMomentum   float64     // its momentum
	OuterWire       string      // compression of averages
	OuterParts      int         // parts of the weights that are averaged in turn
	OuterOverlap    int         // steps for which an average may be on its way
	TuneBucket      bool        // try bucket sizes in the first steps
	OverlapForward  bool        // exchange gradients during the next forward pass
	Servers         int         // parameter servers, 1 to MaxWorkers
	ServerPlace     string      // where they are: workers, apart
	Staleness       string      // bound of asynchronous updates: auto, or a number
	BackupWorkers   int         // whose gradients are not waited for
	StalenessRate   bool        // divide learning rates by staleness
	Replay          string      // updates.jsonl of the run that is repeated; "": none
	ShardOptimizer  bool        // each worker updates its shard of the weights
	CheckpointEvery string      // steps or time; "": no checkpoints
	Resume          string      // run directory to resume; "": a new run
}

// MaxWorkers bounds Workers on one machine. A larger number is probably a typing error.
const MaxWorkers = 256

// defaultMemory is room for the activations of vgg11 at batch 256 and of resnet50 with 8 images of 224
// pixels. With it resnet50 at batch 64, 1.4 GB in all, computes one product again, and else only what moves
// data (docs/design/0034). On a GPU it means no limit.
const defaultMemory = 1 << 30

// Default returns the configuration of `lockstep train` without flags: lenet on the generated
// glyphs, one worker, one epoch. The learning rate suits lenet at batch 64.
func Default() Config {
	return Config{
		Model: "lenet", Stem: model.StemAuto, Data: "glyphs", Size: 32, Sequence: 512, Augment: auto,
		LimitTrain: -1, LimitTest: -1,
		Workers: 1, Servers: 1, ServerPlace: withWorkers, Staleness: auto, Algorithm: auto, Link: auto,
		Wire:   gradsync.Wire{}.String(),
		Bucket: 1 << 20, Memory: defaultMemory,
		Streams:    1,
		MasterAddr: "127.0.0.1", Device: DeviceCPU, Math: compute.Fast.String(),
		Batch: 64, Accumulate: 1, Seed: 1,
		Optimizer: optim.Config{Name: "sgd", LR: 0.02, Momentum: 0.9},
		Schedule:  optim.ScheduleConfig{Name: "constant"}, EvalEvery: 1,
		Normalize: auto, TTA: none, Save: true,
		AverageEvery: 50, OuterLR: 0.7, OuterMomentum: 0.9, OuterWire: gradsync.Wire{}.String(),
		OuterParts: 1,
	}
}

// Complete returns c with every open field decided: one epoch, single for one worker or else ddp,
// the usual number of shards, the machine's cores divided among the workers, but for one of each server
// apart, in one process or in several. Out and ISA stay open until Run.
func (c Config) Complete() Config {
	if c.Epochs == 0 && c.Steps == 0 && c.For == "" {
		c.Epochs = 1
	}
	if c.Strategy == "" {
		c.Strategy = strategy.DDP
		if c.Workers == 1 {
			c.Strategy = strategy.Single
		}
	}
	if c.Strategy == strategy.Auto && c.Workers == 1 {
		c.Strategy = strategy.Single
	}
	if c.Shards == 0 {
		c.Shards = c.UsualShards(c.Workers)
		if c.IsBalanced() {
			c.Shards = BalancedShards(c.Workers, c.Batch)
		}
		if c.IsAdaptive() {
			c.Shards = max(c.Shards, min(adaptiveShards, c.Batch))
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
	paths := []*string{&c.DataDir, &c.Vocab, &c.Weights, &c.Replay}
	if c.Catalog.data().IsPath(c.Data) {
		paths = append(paths, &c.Data)
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

// InProcesses returns c with each worker in a process of its own.
func (c Config) InProcesses() Config {
	c.Link = betweenProcesses()
	return c
}

// IsOneProcess reports whether all workers share one process.
func (c Config) IsOneProcess() bool { return c.Link == linkLocal }

// SharesMemory reports whether workers are processes linked by shared memory.
func (c Config) SharesMemory() bool { return c.Link == linkSHM }

// betweenProcesses returns the link of workers in processes of this host.
func betweenProcesses() string {
	if shm.IsSupported {
		return linkSHM
	}
	return linkTCP
}

// Validate returns nil, or a *UsageError with one line per value that cannot work. Open fields
// are taken as Complete would decide them.
func (c Config) Validate() error {
	return usageError(c.problems(), func(name string) string { return name })
}

// problem is an invalid value.
type problem struct {
	name string // of the setting
	err  error
}

// problems lists the invalid values or, if all are valid, the invalid combinations.
func (c Config) problems() []problem {
	var found []problem
	for _, s := range Settings(c.Catalog) {
		if s.isOpen(&c) {
			continue
		}
		if err := s.check(&c); err != nil {
			found = append(found, problem{s.Name, err})
		}
	}
	if len(found) > 0 {
		return found
	}
	c = c.Complete()
	add := func(name, format string, args ...any) {
		found = append(found, problem{name, fmt.Errorf(format, args...)})
	}
	c.lengthProblems(add)
	c.strategyProblems(add)
	c.batchProblems(add)
	c.weightProblems(add)
	c.dataProblems(add)
	c.updateProblems(add)
	c.shardProblems(add)
	c.bucketProblems(add)
	c.overlapProblems(add)
	c.slowProblems(add)
	c.balanceProblems(add)
	c.adaptiveProblems(add)
	c.replayProblems(add)
	if err := c.wireProblem(); err != nil {
		add("wire", "%w", err)
	}
	c.deviceProblems(add)
	c.kernelProblems(add)
	return found
}

// batchProblems adds what the numbers of samples, shards and workers do not allow.
func (c Config) batchProblems(add adder) {
	switch {
	case c.Shards >= c.Workers:
	case c.Resume != "":
		add("workers", "the run that is resumed has %s, so that at most as many workers can go on with it; "+
			"--shards at its start leaves room for more", spelling.Count(c.Shards, "shard"))
	default:
		add("shards", "%s cannot be spread over %s; want at least as many",
			spelling.Count(c.Shards, "shard"), spelling.Count(c.Workers, "worker"))
	}
	if c.Batch < c.Shards {
		add("batch", "%d is smaller than the number of shards, %d; "+
			"want at least one sample in each", c.Batch, c.Shards)
	}
	if n := c.StepShards(); n > maxShards {
		add("accumulate", "%d batches in %s make %d shards of a step, want at most %d",
			c.Accumulate, spelling.Count(c.Shards, "shard"), n, maxShards)
	}
}

// weightProblems adds the problems of weights that are read, evaluated or kept.
func (c Config) weightProblems(add adder) {
	switch {
	case c.Weights == "" && c.FreshHead:
		add("fresh-head", "only says how --weights may differ, and there is none")
	case c.Weights == "" && c.EvalOnly:
		add("eval-only", "needs --weights, a safetensors file or folder to evaluate")
	case c.FreshHead && c.EvalOnly:
		add("eval-only", "evaluates weights as they are, without --fresh-head")
	case c.EvalOnly && c.LimitTest == 0:
		add("eval-only", "has nothing to do with --limit-test 0")
	}
	switch {
	case c.KeepsCheckpoints() && c.EvalOnly:
		add("checkpoint-every", "has nothing to do with --eval-only")
	case c.KeepsCheckpoints() && c.IsIsolated():
		add("checkpoint-every", "wants replicas that are equal; those of --strategy none are not")
	}
}

// kernelProblems adds what this processor or build cannot compute with.
func (c Config) kernelProblems(add adder) {
	if isa, err := c.KernelPath(); err != nil {
		add("isa", "%w", err)
	} else if m, err := compute.ParseMath(c.Math); !c.IsOnGPU() && err == nil && m.On(isa) != nil {
		add("math", "%w", m.On(isa))
	}
}

// dataProblems adds the invalid combinations of model, data and views.
func (c Config) dataProblems(add adder) {
	readsTexts := c.Catalog.models().ReadsTexts(c.Model)
	switch kind := c.Catalog.data().KindOf(c.Data); {
	case readsTexts && kind == data.ImageKind:
		add("data", "%s is no data of texts, which %s reads; try sst2, a CSV or TSV file, or a folder with "+
			"one called train", c.Data, c.Model)
	case !readsTexts && kind == data.TextKind:
		add("data", "%s holds texts, but %s reads images; try a model of texts, such as bert-mini",
			c.Data, c.Model)
	case readsTexts && c.TTA != none:
		add("tta", "%s is a way to show images, but %s reads texts", c.TTA, c.Model)
	case readsTexts && c.Augment != auto && c.Augment != augmentNone:
		add("augment", "%s changes images, but %s reads texts", c.Augment, c.Model)
	}
}

// KernelPath returns the kernel path asked for, or the best of this processor.
func (c Config) KernelPath() (compute.ISA, error) {
	if c.ISA == "" {
		return compute.Best(), nil
	}
	isa, err := compute.ParseISA(c.ISA)
	if err == nil && !slices.Contains(compute.Supported(), isa) {
		err = fmt.Errorf("this processor or build has no %v, only %v", isa, compute.Supported())
	}
	return isa, err
}

// UsageError lists the problems of a configuration, one per line.
type UsageError struct {
	Lines []string
}

// Error returns the lines.
func (e *UsageError) Error() string { return strings.Join(e.Lines, "\n") }

// Refuse returns a *UsageError of one line.
func Refuse(format string, args ...any) error {
	return &UsageError{Lines: []string{fmt.Sprintf(format, args...)}}
}

// usageError words problems with where each value came from; it returns nil if there are none.
func usageError(problems []problem, where func(name string) string) error {
	if len(problems) == 0 {
		return nil
	}
	e := &UsageError{}
	for _, p := range problems {
		e.Lines = append(e.Lines, where(p.name)+": "+p.err.Error())
	}
	return e
}
