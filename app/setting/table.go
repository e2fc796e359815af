package setting

import (
	"math"
	"slices"
	"strings"

	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/comm"
	"lockstep/compute"
	"lockstep/data"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/random"
	"lockstep/train"
)

// Setting is one value of a Config: a flag of `lockstep train`, a key of its configuration file,
// and the environment variable LOCKSTEP_TRAIN_<NAME>.
type Setting struct {
	value
	Name    string
	Group   string // heading in the help text
	Usage   string // meaning and unit
	Default string // "": none, or derived as Usage says

	canOpen bool // its zero value is left to Complete or to its user
	isOwn   bool // its value may differ between the processes of a job; see Terms
}

// isOpen reports whether the value is left to Complete or to its user.
func (s Setting) isOpen() bool { return s.canOpen && (s.text() == "" || s.text() == "0") }

// IsSwitch reports whether the flag needs no value.
func (s Setting) IsSwitch() bool { return s.Type == "" }

// Settings returns all settings in the order of the help text, with the names that k has.
func Settings(k *Catalog) []Setting {
	initial := Default()
	initial.Catalog = k
	settings := initial.table()
	for i := range settings {
		s := &settings[i]
		if s.Values != nil {
			s.Usage += ": " + strings.Join(s.Values, ", ")
		}
		if !s.isOpen() {
			s.Default = s.text()
		}
	}
	return settings
}

// table lists the settings of c in the order of the help text: reading one sets a field of c.
func (c *Config) table() []Setting {
	return slices.Concat(
		inGroup("Model and data", c.dataSettings(), c.textSettings(), c.sampleSettings()),
		inGroup("Workers", c.workerSettings(), c.linkSettings(), c.sharingSettings(), c.processSettings()),
		inGroup("Averages of weights", c.averageSettings()),
		inGroup("Asynchronous updates", c.asyncSettings()),
		inGroup("Length and batch", c.lengthSettings()),
		inGroup("Optimizer", c.ruleSettings(), c.scheduleSettings(), c.dampingSettings()),
		inGroup("Output", c.outputSettings()))
}

func inGroup(name string, groups ...[]Setting) []Setting {
	settings := slices.Concat(groups...)
	for i := range settings {
		settings[i].Group = name
	}
	return settings
}

const (
	maxThreads = 1024
	maxShards  = 4096 // each has a row of statistics on every worker
	maxCount   = 1 << 30
)

// dataSettings say which model is trained on which data set.
func (c *Config) dataSettings() []Setting {
	return []Setting{
		{Name: "model", value: choiceOr(&c.Model, c.Models().Names(), "", model.IsFile),
			Usage: "architecture, or an ONNX file, with its weights"},
		{Name: "stem", value: choice(&c.Stem, model.Stems()),
			Usage: "first layers of resnet50: 3x3 for small images, or 7x7 with a pool; auto is that " +
				"of the weights, else by the images' size"},
		{Name: "data", value: choiceOr(&c.Data, c.Datasets().Names(), "; nor is there such a path",
			c.Datasets().IsPath),
			Usage: "data set by name (glyphs is generated and needs no file), or path of a folder of " +
				"images by class, of arrays (.npy) or tar files, or of a CSV, TSV or JSONL file of texts " +
				"or numbers"},
		{Name: "data-dir", value: text(&c.DataDir, "FOLDER"), isOwn: true,
			Usage: "folder of data sets (default: LOCKSTEP_DATA, else the user's cache folder)"},
		{Name: "size", value: number(&c.Size, 1, 4096),
			Usage: "height and width of synthetic images, and to which images of a folder are scaled"},
	}
}

// textSettings say how texts are read.
func (c *Config) textSettings() []Setting {
	return []Setting{
		{Name: "vocab", value: text(&c.Vocab, "FILE"),
			Usage: "WordPiece vocabulary of texts: vocab.txt or tokenizer.json (default: that beside " +
				"--weights, else bert-base-uncased/vocab.txt among the data sets, else one made of the " +
				"training texts)"},
		{Name: "sequence", value: number(&c.Sequence, 3, 512),
			Usage: "greatest number of tokens of a text; longer texts are cut"},
		{Name: "text-column", value: text(&c.TextColumn, "COLUMN"),
			Usage: "column of the text, by name or by number from 1 (default: text, sentence, content or " +
				"review)"},
		{Name: "pair-column", value: text(&c.PairColumn, "COLUMN"),
			Usage: "column of the second text, if samples are pairs of texts (default: single texts)"},
		{Name: "label-column", value: text(&c.LabelColumn, "COLUMN"),
			Usage: "column of the label; a file of texts has no header if all columns are numbers " +
				"(default: label, class or target)"},
		{Name: "task", value: choice(&c.Task, []string{classification, Regression}),
			Usage: "what labels are, classes or numbers to predict, which are learnt standardised"},
	}
}

// sampleSettings say with which samples and weights a run begins, and how it is evaluated.
func (c *Config) sampleSettings() []Setting {
	return []Setting{
		{Name: "augment", value: choice(&c.Augment, augmentNames()),
			Usage: "random changes of training images: resized-crop scales a part of 8 to 100 % of the " +
				"area to --size, as ImageNet's trainers do, and jitter changes colours"},
		{Name: "mixup", value: real(&c.Mixup, random.MaxBeta),
			Usage: "add another training image to each, and its class: the share that is left is of the " +
				"beta distribution of this parameter, 0.05 to 2, such as 0.2; 0 for none"},
		{Name: "cutmix", value: real(&c.Cutmix, random.MaxBeta),
			Usage: "the same with a rectangle of the other image, such as 1; with both, half of the images " +
				"in each way"},
		{Name: "shuffle", value: choice(&c.Shuffle, []string{shuffleAll, shuffleBlocks}),
			Usage: "how an epoch mixes the samples: all of them, or 16,384 at a time, out of blocks of 64 " +
				"in a row, so that a disk is read in large parts"},
		{Name: "skip-bad", value: number(&c.SkipBad, 0, maxCount),
			Usage: "leave out at most N images of a folder or of tar files that cannot be decoded, after " +
				"all have been tried once, and name them"},
		{Name: "limit-train", value: limit(&c.LimitTrain, 1),
			Usage: "use only the first N training samples"},
		{Name: "limit-test", value: limit(&c.LimitTest, 0),
			Usage: "use only the first N test samples; 0 for no evaluation"},
		{Name: "validation", value: parsed(&c.Validation, "SHARE|PATH", "", parseHeld),
			Usage: "samples to choose by (--patience, --restore-best): a share of the training samples of " +
				"each class, by --seed, or a path like that of --data; 0 for none, or what is in val/"},
		{Name: "weight-column", value: text(&c.WeightColumn, "COLUMN"),
			Usage: "column of a table or a file of texts with what each training sample counts, 0 or more: " +
				"the loss of a step is sum(w*loss)/sum(w) over the global batch; evaluations count each " +
				"sample once (default: each counts once)"},
		{Name: "class-weights", value: text(&c.ClassWeights, "balanced|FILE"),
			Usage: "how often the training samples of a class count in the loss, which is the weighted " +
				"mean over the global batch: balanced makes all classes count alike; a file has a class " +
				"and its weight to a line, as CSV (default: each sample counts once)"},
		{Name: "class-shares", value: text(&c.ClassShares, "balanced|FILE"),
			Usage: "how often the training samples of a class are drawn, in place of each once in an " +
				"epoch: balanced draws all classes alike, a file as for --class-weights has shares; the " +
				"samples of a class take turns (default: each sample once)"},
		{Name: "weights", value: text(&c.Weights, "PATH"),
			Usage: "start from a safetensors file, or from a folder with one such file or several and " +
				"their index (default: random initialization)"},
		{Name: "fresh-head", value: toggle(&c.FreshHead),
			Usage: "with --weights: initialize the last layer at random, and ignore the file's heads; " +
				"without, its classes are those of the weights, by name"},
		{Name: "normalize", value: choice(&c.Normalize, []string{auto, NormalizeData, NormalizeImageNet}),
			Usage: "mean and standard deviation of images: auto takes those of the data set, or with " +
				"--weights those in the file, else ImageNet's"},
		{Name: "eval-only", value: toggle(&c.EvalOnly),
			Usage: "evaluate --weights on the test samples and stop"},
		{Name: "tta", value: choice(&c.TTA, []string{none, ttaFlip, ttaFlipShift}),
			Usage: "test-time augmentation: average the logits of each test image and its mirror image " +
				"(flip), also of both shifted by a pixel (flip-shift)"},
	}
}

// workerSettings say who exchanges gradients with whom.
func (c *Config) workerSettings() []Setting {
	return []Setting{
		{Name: "workers", value: number(&c.Workers, 1, MaxWorkers),
			isOwn: true, // of such a job, its processes
			Usage: "replicas; under lockstep launch, by default as many as the hosts have slots"},
		{Name: "threads", value: number(&c.Threads, 1, maxThreads), canOpen: true, isOwn: true,
			Usage: "compute threads of each worker (default: cores / workers, at least 1; a server apart " +
				"has one)"},
		{Name: "strategy", value: choice(&c.Strategy, strategy.Names()), canOpen: true,
			Usage: "how gradients are exchanged (default: single for one worker, else ddp)"},
		{Name: "servers", value: number(&c.Servers, 1, MaxWorkers),
			Usage: "with ps: servers, which hold equal parts of the parameters"},
		{Name: "server-place", value: choice(&c.ServerPlace, []string{withWorkers, apart}),
			Usage: "with ps: workers puts server s into the process of worker s mod workers, apart gives " +
				"each a process of its own"},
		{Name: "algorithm", value: choice(&c.Algorithm, append([]string{auto}, comm.Algorithms()...)),
			Usage: "all-reduce algorithm"},
	}
}

// linkSettings say how gradients travel.
func (c *Config) linkSettings() []Setting {
	return []Setting{
		{Name: "link", value: choice(&c.Link, []string{auto, linkLocal, linkSHM, linkTCP}),
			Usage: "local: workers are goroutines of one process; shm, tcp: each worker is a process; " +
				"auto is local for one worker, else shm if the system has it"},
		{Name: "insecure", value: toggle(&c.Insecure),
			Usage: "do not encrypt links between hosts; for a network that you trust, where TLS takes " +
				"time; processes join with TLS all the same"},
		{Name: "streams", value: number(&c.Streams, 1, cluster.MaxStreams), // processes may be on one host
			Usage: "connections of each link by TCP, over which its bytes are spread, for networks where " +
				"one connection does not fill the line; changes no result"},
		{Name: "socket-buffer", value: byteSize(&c.SocketBuffer, 0, cluster.MaxSocketBuffer),
			Usage: "bytes of the sockets of links by TCP, in each direction, to measure what they do; 0 " +
				"leaves them to the kernel, which sizes them by the link; changes no result"},
		{Name: "wire", value: choice(&c.Wire, wires(isAny)),
			Usage: "compression of gradients; " + strings.Join(wires(isLossless), ", ") + " are lossless; " +
				"top-k sends the largest hundredth, powersgd-R sends matrices as factors of rank R, both " +
				"with error feedback; auto measures on the first step's gradients and rounds no more than " +
				"bf16"},
	}
}

// sharingSettings are of workers that share every step: what they exchange at once, and who computes how
// much.
func (c *Config) sharingSettings() []Setting {
	return []Setting{
		{Name: "bucket", value: byteSize(&c.Bucket, 4, maxCount),
			Usage: "bytes of gradients that ddp sends as one bucket"},
		{Name: "overlap-forward", value: toggle(&c.OverlapForward),
			Usage: "with ddp: start the next forward pass while gradients are still being exchanged, in " +
				"forward order, and update weights as gradients arrive; for slow links; changes no result"},
		{Name: "shard-optimizer", value: toggle(&c.ShardOptimizer),
			Usage: "with ddp: each worker holds a shard of the optimizer's state, updates that shard of " +
				"the weights, and gathers the others (ZeRO-1); for sgd and adamw; changes no result"},
		{Name: "rebalance", value: toggle(&c.Rebalance),
			Usage: "measure how fast the workers compute, and move shards from slow ones to fast ones " +
				"between steps; changes no result"},
		{Name: "slow-worker", value: parsed(&c.SlowWorkers, "LIST", "", ParseSlowWorkers),
			Usage: "make workers slower: 1:3 makes the computation of rank 1 take three times as long by a " +
				"duty cycle, and 1:20ms lets it wait for 20 ms in each step, to try out unequal machines; " +
				"separated by commas; changes no result (default: none)"},
		{Name: "slow-loader", value: parsed(&c.SlowLoader, "X|TIME", "", data.ParsePace),
			Usage: "make the preparation of every batch take so many times as long (1.3), or so much " +
				"longer (20ms), to try out data that comes late; changes no result (default: none)"},
	}
}

// processSettings are of each worker's process: its memory, where it meets the others, its kernels.
func (c *Config) processSettings() []Setting {
	return []Setting{
		{Name: "memory", value: byteSize(&c.Memory, 0, math.MaxInt),
			Usage: "activations that a worker keeps; above it, cheap ones are recomputed in the backward " +
				"pass, and shards are computed in turn; 0 for its share of a quarter of the memory " +
				"that the samples leave, at least 1GiB, and on a GPU for all of them"},
		{Name: "resident", value: byteSize(&c.Resident, 0, math.MaxInt),
			Usage: "resident memory that a process of the run may plan: samples of a path that would take " +
				"more than a quarter of it are read from their files while it trains, and a run that does " +
				"not fit is refused; changes no result; 0 for no limit"},
		{Name: "master-addr", value: text(&c.MasterAddr, "ADDRESS"), isOwn: true, canOpen: true,
			Usage: "interface on which workers meet"},
		{Name: "master-port", value: number(&c.MasterPort, 0, math.MaxUint16), isOwn: true,
			Usage: "port on which workers meet; 0 for any free port, or for none on a loopback interface"},
		{Name: "device", value: choiceOr(&c.Device, []string{DeviceCPU, DeviceCUDA, auto}, "", isNumbered),
			Usage: "what computes forward and backward passes; cuda is an NVIDIA GPU, which a binary " +
				"built with -tags cuda can use: workers of a host take its GPUs in turn; cuda:1 is the " +
				"second one; auto takes a GPU if one can be used, and says so"},
		{Name: "isa", value: choice(&c.ISA, []string{compute.Plain.String(),
			compute.AVX2.String(), compute.AVX512.String(), compute.NEON.String()}), canOpen: true,
			isOwn: true,
			Usage: "kernel path, for tests and diagnosis; changes no result (default: LOCKSTEP_ISA, else " +
				"the best of each worker's processor)"},
		{Name: "math", value: choice(&c.Math, []string{compute.Fast.String(), compute.Exact.String(),
			compute.BF16x6.String(), compute.BF16x3.String(), compute.BF16.String(), mathFloat32, mathTF32}),
			Usage: "how matrix products are computed: fast takes Winograd's and Strassen's algorithms, " +
				"whose gradients are twice as far from float64 as PyTorch's float32; exact avoids them; " +
				"bf16x6 and bf16x3 sum six and three products of bf16 parts on AMX; bf16 rounds the " +
				"operands of large products to bf16, which pays on AMD's AVX512_BF16 (on AMX it is " +
				"untried); on a GPU fp32, tf32 and bf16 are known, and fast and exact mean fp32"},
	}
}

// averageSettings are of the strategies that average weights.
func (c *Config) averageSettings() []Setting {
	return []Setting{
		{Name: "average-every", value: number(&c.AverageEvery, 1, maxCount),
			Usage: "with local-sgd and diloco: steps from one average of the weights to the next; they " +
				"are also averaged after each epoch and at the end"},
		{Name: "outer-lr", value: real(&c.OuterLR, 10),
			Usage: "with diloco: learning rate of the outer optimizer"},
		{Name: "outer-momentum", value: share(&c.OuterMomentum),
			Usage: "with diloco: Nesterov momentum of the outer optimizer, 0 to below 1"},
		{Name: "outer-wire", value: choice(&c.OuterWire, wires(isFixed)),
			Usage: "with local-sgd and diloco: compression of what is averaged, the changes of the " +
				"weights since the last average"},
		{Name: "outer-parts", value: number(&c.OuterParts, 1, maxCount),
			Usage: "with local-sgd and diloco: parts of the weights that are averaged in turn, spread " +
				"over the steps from one average to the next"},
		{Name: "outer-overlap", value: number(&c.OuterOverlap, 0, maxCount),
			Usage: "with local-sgd and diloco: steps that go on while an average is on its way; then the " +
				"weights move half the way to it"},
	}
}

// asyncSettings are of asynchronous updates.
func (c *Config) asyncSettings() []Setting {
	return []Setting{
		{Name: "staleness", value: written(&c.Staleness, "N", parseStaleness),
			Usage: "with ps-async: the most updates that may come between the weights from which a " +
				"gradient was computed and its own update; 0 is the strategy ps, auto four for each worker"},
		{Name: "backup-workers", value: number(&c.BackupWorkers, 0, MaxWorkers),
			Usage: "with ps-async: workers whose gradients are not waited for; of each round of gradients " +
				"the last so many are dropped, and their batches computed again"},
		{Name: "staleness-rate", value: toggle(&c.StalenessRate),
			Usage: "with ps-async: divide the learning rate of an update by its staleness"},
		{Name: "replay", value: text(&c.Replay, "FILE"),
			Usage: "with ps-async: make the updates of another run again, in the order of its " +
				"updates.jsonl, to the same bits; with any number of workers and servers"},
	}
}

// lengthSettings say how long a run is, and in which batches.
func (c *Config) lengthSettings() []Setting {
	return []Setting{
		{Name: "epochs", value: number(&c.Epochs, 1, maxCount), canOpen: true,
			Usage: "length in passes over the data (default: 1, unless --steps or --for)"},
		{Name: "steps", value: number(&c.Steps, 1, maxCount), canOpen: true,
			Usage: "length in steps, instead of --epochs (default: given by --epochs)"},
		{Name: "for", value: written(&c.For, "TIME", parseTime), canOpen: true,
			Usage: "length in training time such as 30s, evaluations not counted, instead of --epochs " +
				"(default: given by --epochs)"},
		{Name: "until", value: target(&c.Until),
			Usage: "stop at the first evaluation with accuracy=X or more, 0 to 1; the exit status is 8 if " +
				"none has it (default: none)"},
		{Name: "patience", value: number(&c.Patience, 0, maxCount),
			Usage: "stop after N evaluations on the validation samples in a row without a better one; 0 " +
				"for never"},
		{Name: "batch", value: number(&c.Batch, 1, maxCount),
			Usage: "samples of one step, over all workers"},
		{Name: "shards", value: number(&c.Shards, 1, maxShards), canOpen: true,
			Usage: "virtual shards of the batch; equal shards give equal bits (default: 4, halved until " +
				"each has 8 samples, with batch norm 32; as many as workers if those cannot share them " +
				"evenly, for networks of more than 2^20 parameters and with --device cuda; with " +
				"--rebalance four times as many)"},
		{Name: "accumulate", value: number(&c.Accumulate, 1, maxShards),
			Usage: "gradient accumulation: batches of one step, computed in turn; equals --batch and " +
				"--shards times N"},
		{Name: "seed", value: seed(&c.Seed), Usage: "seed of all random numbers"},
	}
}

// ruleSettings are of the update rule.
func (c *Config) ruleSettings() []Setting {
	rule := &c.Optimizer
	return []Setting{
		{Name: "optimizer", value: choice(&rule.Name, optim.Names()),
			Usage: "update rule"},
		{Name: "lr", value: real(&rule.LR, optim.MaxRate),
			Usage: "learning rate, for the global batch"},
		{Name: "scale-lr", value: parsed(&c.ScaleLR, "RULE", "rule such as linear,256 or sqrt,256",
			optim.ParseScaleRule),
			Usage: "linear,B multiplies the learning rate by batch/B, sqrt,B by its square root (default: " +
				"none)"},
		{Name: "momentum", value: share(&rule.Momentum), Usage: "momentum, 0 to below 1"},
		{Name: "nesterov", value: toggle(&rule.Nesterov), Usage: "Nesterov's momentum"},
		{Name: "weight-decay", value: real(&rule.WeightDecay, optim.MaxRate),
			Usage: "L2 penalty, added to the gradient; for adamw and muon, decoupled decay"},
		{Name: "decay", value: decay(&rule.DecayMatrices),
			Usage: "parameters with weight decay; matrices leaves out biases and norms"},
		{Name: "beta1", value: share(&rule.Beta1), canOpen: true,
			Usage: "AdamW and LAMB: decay of the first moment (default: 0.9)"},
		{Name: "beta2", value: share(&rule.Beta2), canOpen: true,
			Usage: "AdamW and LAMB: decay of the second moment (default: 0.999)"},
		{Name: "eps", value: real(&rule.Eps, 1), canOpen: true,
			Usage: "AdamW and LAMB: added to the denominator (default: 1e-8, for lamb 1e-6)"},
		{Name: "groups", value: parsed(&rule.Groups, "RULES", "", optim.ParseGroups),
			Usage: "parameter groups: MATCH=RATE,DECAY[,STEPS] gives the parameters whose names match, " +
				"such as *.bias, RATE times the learning rate and the weight decay DECAY, and freezes " +
				"them after STEPS steps, or with rate 0; separated by ; (default: none)"},
	}
}

// scheduleSettings say how the learning rate changes over the run.
func (c *Config) scheduleSettings() []Setting {
	return []Setting{
		{Name: "schedule", value: choice(&c.Schedule.Name, optim.ScheduleNames()),
			Usage: "learning rate schedule; step drops the rate at intervals"},
		{Name: "warmup", value: real(&c.Schedule.Warmup, optim.MaxRate), Usage: "epochs of linear warm-up"},
		{Name: "drop-every", value: real(&c.Schedule.Every, optim.MaxRate), canOpen: true,
			Usage: "epochs between two drops of --schedule step (default: 30)"},
		{Name: "milestones", value: parsed(&c.Schedule.Milestones, "EPOCHS",
			"rising list of epochs such as 30,60,80", optim.ParseMilestones),
			Usage: "epochs at which --schedule step drops the rate, such as 30,60,80, instead of " +
				"--drop-every (default: none)"},
		{Name: "gamma", value: real(&c.Schedule.Factor, 1), canOpen: true,
			Usage: "factor of the learning rate at each drop of --schedule step (default: 0.1)"},
		{Name: "triangle", value: parsed(&c.Schedule.Triangle, "A,P,E",
			"START,PEAK,END, each from 0 to 1, such as 0.2,0.23,0.07", optim.ParseTriangle),
			Usage: "--schedule triangle climbs from A times the learning rate to the full rate at the " +
				"fraction P of the run, then falls to E times it (default: 0,0,0)"},
	}
}

// dampingSettings keep updates steady: clipped gradients, averaged weights, smooth labels.
func (c *Config) dampingSettings() []Setting {
	return []Setting{
		{Name: "clip", value: real(&c.Clip, math.MaxFloat32),
			Usage: "scale the gradient down to this norm if it is larger; 0 for never"},
		{Name: "ema", value: share(&c.EMA),
			Usage: "decay of an exponential moving average of the weights, which is evaluated and saved " +
				"in place of them; 0 for none"},
		{Name: "lookahead", value: parsed(&c.Lookahead, "K,A[,P]",
			"EVERY,ALPHA or EVERY,ALPHA,POWER such as 5,0.5", optim.ParseLookahead),
			Usage: "every K steps the slow weights move the fraction 1-(1-A)*(step/steps)^P of the way to " +
				"the weights, which then restart from them; P is 0 if left out (default: none)"},
		{Name: "label-smoothing", value: real(&c.Smoothing, 1),
			Usage: "fraction of each training label that is spread over all classes, 0 to 1"},
	}
}

// outputSettings say what a run leaves.
func (c *Config) outputSettings() []Setting {
	return []Setting{
		{Name: "eval-every", value: number(&c.EvalEvery, 0, maxCount),
			Usage: "epochs between evaluations; 0 to evaluate only at the end"},
		{Name: "out", value: text(&c.Out, "FOLDER"), isOwn: true,
			Usage: "run directory, new or empty (default: runs/<time>-<model>-<strategy>-w<N>)"},
		{Name: "save", value: toggle(&c.Save),
			Usage: "write the trained weights to model.safetensors in the run directory, and for BERT the " +
				"files that from_pretrained needs"},
		{Name: "best-by", value: choice(&c.BestBy, train.ByNames(true, true)), canOpen: true,
			Usage: "figure of the validation samples by which an evaluation is the best so far; its " +
				"weights are kept in best/ of the run directory (default: accuracy, with --task regression " +
				"rmse)"},
		{Name: "restore-best", value: toggle(&c.RestoreBest),
			Usage: "end with the weights of the best evaluation on the validation samples, and score the " +
				"test samples with them"},
		{Name: "checkpoint-every", value: written(&c.CheckpointEvery, "N|TIME", parseInterval),
			Usage: "write a checkpoint to the run directory at this interval, in steps (100) or time " +
				"(5m), and when the run ends (default: none)"},
		{Name: "resume", value: text(&c.Resume, "FOLDER"),
			Usage: "resume the run in this directory from its newest valid checkpoint, with its settings; " +
				"only those of workers and length may be changed"},
		{Name: "trace", value: toggle(&c.Trace),
			Usage: "write trace.json, a Chrome trace of every rank"},
		{Name: "spans", value: toggle(&c.Spans), isOwn: true,
			Usage: "record in the run directory what every rank did when, for reports and explanations; " +
				"at most 32 MiB per rank"},
	}
}
