package setting

import (
	"math"
	"slices"
	"strings"

	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/model"
	"lockstep/optim"
)

// Setting is one value of a Config: a flag of `lockstep train`, a key of its configuration file,
// and the environment variable LOCKSTEP_TRAIN_<NAME>.
type Setting struct {
	Name    string
	Group   string   // heading in the help text
	Usage   string   // meaning and unit
	Type    string   // what kind of value the flag takes; "" for a switch
	Default string   // "": none, or derived as Usage says
	Values  []string // the names that it takes; nil: it takes other values

	elsewhere []string // names of the setting in other programs
	isOwn     bool     // its value may differ between the processes of a job; see Terms
	idle      reason   // returns why the setting has no effect; nil: it has one if the run trains

	parse  func(c *Config, text string) error
	format func(c *Config) string
	value  func(c *Config) any   // pointer to the value in JSON; nil: JSON has the text
	check  func(c *Config) error // checks the value alone, without the other settings
	isOpen func(c *Config) bool  // reports whether the value is left to Complete or to its user
}

// IsSwitch reports whether the flag needs no value.
func (s Setting) IsSwitch() bool { return s.Type == "" }

// Settings returns all settings in the order of the help text, with the names that k has.
func Settings(k *Catalog) []Setting {
	settings := slices.Concat(dataSettings(k), workerSettings(), outerSettings(), asyncSettings(),
		lengthSettings(), updateSettings(), outputSettings())
	initial := Default()
	for i := range settings {
		if s := &settings[i]; !s.isOpen(&initial) {
			s.Default = s.format(&initial)
		}
	}
	return settings
}

func dataSettings(k *Catalog) []Setting {
	return inGroup("Model and data", slices.Concat(setSettings(k), textSettings(), sampleSettings())...)
}

// setSettings say which model is trained on which data set.
func setSettings(k *Catalog) []Setting {
	return []Setting{
		choice("model", "architecture", k.models().Names(),
			func(c *Config) *string { return &c.Model }).aliases("arch", "architecture"),
		choice("stem", "first layers of resnet50: 3x3 for small images, or 7x7 with a pool; auto chooses by "+
			"their size", model.Stems(), func(c *Config) *string { return &c.Stem }).
			unless(hasStems),
		dataSet(k.data(), "data", "data set by name (glyphs is generated and needs no file), or path "+
			"of a folder of images by class or of a CSV or TSV file of texts",
			func(c *Config) *string { return &c.Data }).aliases("dataset", "dataset-name"),
		text("data-dir", "FOLDER",
			"folder of data sets (default: LOCKSTEP_DATA, else the user's cache folder)",
			func(c *Config) *string { return &c.DataDir }).own().
			aliases("data-path", "data-root", "dataset-dir"),
		number("size", "height and width of synthetic images, and to which images of a folder are scaled",
			1, 4096, func(c *Config) *int { return &c.Size }).
			unless(ownSize).aliases("image-size", "img-size", "input-size"),
	}
}

// textSettings say how texts are read.
func textSettings() []Setting {
	return []Setting{
		text("vocab", "FILE",
			"WordPiece vocabulary of texts: vocab.txt or tokenizer.json (default: that beside --weights, "+
				"else bert-base-uncased/vocab.txt among the data sets)",
			func(c *Config) *string { return &c.Vocab }).
			unless(readsTexts),
		number("sequence", "greatest number of tokens of a text; longer texts are cut", 3, 512,
			func(c *Config) *int { return &c.Sequence }).
			aliases("max-seq-length", "max-length", "seq-len").
			unless(readsTexts),
		text("text-column", "COLUMN", "column of the text, by name or by number from 1 "+
			"(default: text, sentence, content or review)",
			func(c *Config) *string { return &c.TextColumn }).
			unless(hasColumns),
		text("pair-column", "COLUMN", "column of the second text, if samples are pairs of texts "+
			"(default: single texts)",
			func(c *Config) *string { return &c.PairColumn }).
			aliases("text-pair").
			unless(hasColumns),
		text("label-column", "COLUMN", "column of the label; a file has no header if all columns are "+
			"numbers (default: label or class)",
			func(c *Config) *string { return &c.LabelColumn }).
			unless(hasColumns),
	}
}

// sampleSettings say with which samples and weights a run begins, and how it is evaluated.
func sampleSettings() []Setting {
	return []Setting{
		choice("augment", "random changes of training images", augmentNames(),
			func(c *Config) *string { return &c.Augment }),
		limit("limit-train", "use only the first N training samples", 1,
			func(c *Config) *int { return &c.LimitTrain }).aliases("max-train-samples"),
		limit("limit-test", "use only the first N test samples; 0 for no evaluation", 0,
			func(c *Config) *int { return &c.LimitTest }).aliases("max-eval-samples"),
		text("weights", "PATH", "start from a safetensors file, or from a folder with one such file or "+
			"several and their index (default: random initialization)",
			func(c *Config) *string { return &c.Weights }).
			aliases("pretrained", "model-name-or-path", "init-from"),
		toggle("fresh-head", "with --weights: initialize the last layer at random, and ignore the file's "+
			"heads; without, its classes are those of the weights, by name",
			func(c *Config) *bool { return &c.FreshHead }),
		choice("normalize", "mean and standard deviation of images: auto takes those of the data set, or "+
			"with --weights those in the file, else ImageNet's", normalizeNames(),
			func(c *Config) *string { return &c.Normalize }).
			unless(readsImages),
		toggle("eval-only", "evaluate --weights on the test samples and stop",
			func(c *Config) *bool { return &c.EvalOnly }).aliases("evaluate"),
		choice("tta", "test-time augmentation: average the logits of each test image and its mirror "+
			"image (flip), also of both shifted by a pixel (flip-shift)", ttaNames(),
			func(c *Config) *string { return &c.TTA }).
			unless(evaluates),
	}
}

func workerSettings() []Setting {
	return inGroup("Workers", slices.Concat(exchangeSettings(), linkSettings(), ddpSettings(),
		processSettings())...)
}

// exchangeSettings say who exchanges gradients with whom.
func exchangeSettings() []Setting {
	return []Setting{
		number("workers", "replicas; under lockstep launch, by default as many as the hosts have slots",
			1, MaxWorkers,
			func(c *Config) *int { return &c.Workers }).own(). // of such a job, the number of its processes
			aliases("nproc-per-node", "nproc", "num-processes", "num-replicas", "world-size",
				"devices", "num-gpus", "np"),
		open(number("threads",
			"compute threads of each worker (default: cores / workers, at least 1; a server apart has one)",
			1, maxThreads,
			func(c *Config) *int { return &c.Threads })).own().
			aliases("num-threads", "nthreads", "omp-num-threads"),
		open(choice("strategy",
			"how gradients are exchanged (default: single for one worker, else ddp)", strategy.Names(),
			func(c *Config) *string { return &c.Strategy })),
		number("servers", "with ps: servers, which hold equal parts of the parameters", 1, MaxWorkers,
			func(c *Config) *int { return &c.Servers }).
			unless(ofStrategies("servers")),
		choice("server-place", "with ps: workers puts server s into the process of worker s mod workers, "+
			"apart gives each a process of its own", serverPlaces(),
			func(c *Config) *string { return &c.ServerPlace }).
			unless(ofStrategies("server-place")),
		choice("algorithm", "all-reduce algorithm", algorithms(),
			func(c *Config) *string { return &c.Algorithm }).
			unless(hasAlgorithm),
	}
}

// linkSettings say how gradients travel.
func linkSettings() []Setting {
	return []Setting{
		choice("link", "local: workers are goroutines of one process; shm, tcp: each worker is a process; "+
			"auto is local for one worker, else shm if the system has it", links(),
			func(c *Config) *string { return &c.Link }).
			aliases("backend", "dist-backend", "process-group-backend", "ddp-backend"),
		insecure().unless(meets),
		streams().unless(hasLinks),
		choice("wire", "compression of gradients; "+strings.Join(exactWires(), ", ")+" are lossless; top-k "+
			"sends the largest hundredth, powersgd-R sends matrices as factors of rank R, both with error "+
			"feedback; auto measures on the first step's gradients and rounds no more than bf16",
			wires(), func(c *Config) *string { return &c.Wire }).
			aliases("compression", "gradient-compression", "ddp-comm-hook", "fp16-allreduce",
				"communication-data-type").
			unless(sendsGradients),
	}
}

// ddpSettings are of workers that share every step: what they exchange at once, and who computes how much.
func ddpSettings() []Setting {
	return []Setting{
		byteSize("bucket", "bytes of gradients that ddp sends as one bucket", 4, maxCount,
			func(c *Config) *int { return &c.Bucket }).
			aliases("bucket-cap-mb", "bucket-size", "ddp-bucket-cap-mb", "fusion-threshold-mb",
				"reduce-bucket-size").
			unless(hasBuckets),
		toggle("tune-bucket", "with ddp: try several bucket sizes, ten steps each, and keep the fastest; "+
			"changes no result", func(c *Config) *bool { return &c.TuneBucket }).
			unless(sharesSteps),
		toggle("overlap-forward", "with ddp: start the next forward pass while gradients are still being "+
			"exchanged, in forward order, and update weights as gradients arrive; for slow links; "+
			"changes no result", func(c *Config) *bool { return &c.OverlapForward }).
			unless(sharesSteps),
		toggle("shard-optimizer", "with ddp: each worker holds a shard of the optimizer's state, updates "+
			"that shard of the weights, and gathers the others (ZeRO-1); for sgd and adamw; changes no "+
			"result",
			func(c *Config) *bool { return &c.ShardOptimizer }).
			aliases("zero-stage", "use-distributed-optimizer").
			unless(sharesSteps),
		toggle("rebalance", "measure how fast the workers compute, and move shards from slow ones to fast "+
			"ones between steps; changes no result",
			func(c *Config) *bool { return &c.Rebalance }).
			unless(sharesSteps),
		parsed("slow-worker", "LIST", "make workers slower by a duty cycle, RANK:FACTOR[@STEP]: 1:3 makes "+
			"the computation of rank 1 take three times as long, from STEP on, to try out unequal "+
			"machines; separated by commas; changes no result (default: none)", "", ParseSlowWorkers,
			func(c *Config) *SlowWorkers { return &c.SlowWorkers }),
	}
}

// processSettings are of each worker's process: its memory, where it meets the others, its kernels.
func processSettings() []Setting {
	return []Setting{
		byteSize("memory", "activations that a worker keeps; above it, cheap ones are recomputed in "+
			"the backward pass, and shards are computed in turn; 0 for no limit; with --device cuda "+
			"the default means none", 0, math.MaxInt,
			func(c *Config) *int { return &c.Memory }).
			aliases("activation-checkpointing", "gradient-checkpointing"),
		text("master-addr", "ADDRESS", "interface on which workers meet",
			func(c *Config) *string { return &c.MasterAddr }).own().
			filled("the address of one, such as 127.0.0.1").unless(meets),
		number("master-port", "port on which workers meet; 0 for any free port, or for none on a loopback "+
			"interface", 0, math.MaxUint16,
			func(c *Config) *int { return &c.MasterPort }).own().
			unless(meets),
		deviceSetting(),
		open(choice("isa", "kernel path (default: LOCKSTEP_ISA, else the best that all workers have)",
			isaNames(), func(c *Config) *string { return &c.ISA })),
		mathSetting(),
	}
}

func insecure() Setting {
	return toggle("insecure", "do not encrypt links between hosts; for a network that you trust, where TLS "+
		"takes time; processes join with TLS all the same",
		func(c *Config) *bool { return &c.Insecure })
}

func streams() Setting {
	return number("streams", "connections of each link by TCP, over which its bytes are spread, for "+
		"networks where one connection does not fill the line; changes no result", 1, cluster.MaxStreams,
		func(c *Config) *int { return &c.Streams })
}

func lengthSettings() []Setting {
	return inGroup("Length and batch",
		open(number("epochs", "length in passes over the data (default: 1, unless --steps or --for)",
			1, maxCount, func(c *Config) *int { return &c.Epochs })).
			aliases("num-epochs", "num-train-epochs", "max-epochs"),
		open(number("steps", "length in steps, instead of --epochs (default: given by --epochs)", 1, maxCount,
			func(c *Config) *int { return &c.Steps })).
			aliases("max-steps", "num-steps", "max-iters", "iterations", "max-train-steps", "train-iters",
				"iters"),
		open(duration("for", "length in training time such as 30s, evaluations not counted, instead of "+
			"--epochs (default: given by --epochs)", func(c *Config) *string { return &c.For })).
			aliases("max-time"),
		target("until", "stop at the first evaluation with accuracy=X or more, 0 to 1; the exit status "+
			"is 8 if none has it (default: none)", func(c *Config) *float64 { return &c.Until }),
		number("batch", "samples of one step, over all workers", 1, maxCount,
			func(c *Config) *int { return &c.Batch }).
			aliases("batch-size", "global-batch-size", "train-batch-size",
				"per-device-train-batch-size", "bs", "micro-batch-size"),
		open(number("shards",
			"virtual shards of the batch; equal shards give equal bits (default: 4, halved until each has 8 "+
				"samples, with batch norm 32; as many as workers if those cannot share them evenly, for "+
				"networks of more than 2^20 parameters and with --device cuda; with --rebalance four "+
				"times as many)",
			1, maxShards, func(c *Config) *int { return &c.Shards })),
		number("accumulate", "gradient accumulation: batches of one step, computed in turn; equals --batch "+
			"and --shards times N", 1, maxShards, func(c *Config) *int { return &c.Accumulate }).
			aliases("gradient-accumulation-steps", "accumulate-grad-batches", "grad-accum",
				"backward-passes-per-step"),
		open(number("adaptive-batch", "let the samples of one step grow to at most N: between epochs they "+
			"double if that is no more than the gradient noise scale (McCandlish et al. 2018), with the "+
			"learning rate that --scale-lr gives (default: they stay)", 1, maxCount,
			func(c *Config) *int { return &c.AdaptiveBatch })),
		seed(),
	)
}

func updateSettings() []Setting {
	return inGroup("Optimizer", slices.Concat(ruleSettings(), scheduleSettings(), dampingSettings())...)
}

// ruleSettings are of the update rule.
func ruleSettings() []Setting {
	return []Setting{
		choice("optimizer", "update rule", optim.Names(),
			func(c *Config) *string { return &c.Optimizer.Name }).aliases("optim", "opt"),
		real("lr", "learning rate, for the global batch", optim.MaxRate,
			func(c *Config) *float64 { return &c.Optimizer.LR }).
			aliases("learning-rate", "base-lr"),
		parsed("scale-lr", "RULE", "linear,B multiplies the learning rate by batch/B, sqrt,B by its "+
			"square root (default: none)", "rule such as linear,256 or sqrt,256", optim.ParseScaleRule,
			func(c *Config) *optim.ScaleRule { return &c.ScaleLR }),
		share("momentum", "momentum, 0 to below 1",
			func(c *Config) *float64 { return &c.Optimizer.Momentum }).
			unless(ofOptimizers(momentumRules()...)),
		toggle("nesterov", "Nesterov's momentum",
			func(c *Config) *bool { return &c.Optimizer.Nesterov }).
			unless(ofOptimizers(momentumRules()...)),
		real("weight-decay", "L2 penalty, added to the gradient; for adamw and muon, decoupled decay",
			optim.MaxRate, func(c *Config) *float64 { return &c.Optimizer.WeightDecay }).aliases("wd"),
		decay().unless(hasDecay),
		open(share("beta1", "AdamW and LAMB: decay of the first moment (default: 0.9)",
			func(c *Config) *float64 { return &c.Optimizer.Beta1 })).aliases("adam-beta1").
			unless(ofOptimizers("adamw", "lamb", "muon")),
		open(share("beta2", "AdamW and LAMB: decay of the second moment (default: 0.999)",
			func(c *Config) *float64 { return &c.Optimizer.Beta2 })).aliases("adam-beta2").
			unless(ofOptimizers("adamw", "lamb", "muon")),
		open(real("eps", "AdamW and LAMB: added to the denominator (default: 1e-8, for lamb 1e-6)", 1,
			func(c *Config) *float64 { return &c.Optimizer.Eps })).aliases("adam-epsilon", "adam-eps").
			unless(ofOptimizers("adamw", "lamb", "muon")),
		parsed("groups", "RULES", "parameter groups: MATCH=RATE,DECAY[,STEPS] gives the parameters whose "+
			"names match, such as *.bias, RATE times the learning rate and the weight decay DECAY, and "+
			"freezes them after STEPS steps, or with rate 0; separated by ; (default: none)",
			"", optim.ParseGroups, func(c *Config) *optim.Groups { return &c.Optimizer.Groups }),
	}
}

// scheduleSettings say how the learning rate changes over the run.
func scheduleSettings() []Setting {
	return []Setting{
		choice("schedule", "learning rate schedule; step drops the rate at intervals",
			optim.ScheduleNames(), func(c *Config) *string { return &c.Schedule.Name }).
			aliases("lr-scheduler", "lr-scheduler-type", "scheduler"),
		real("warmup", "epochs of linear warm-up", optim.MaxRate,
			func(c *Config) *float64 { return &c.Schedule.Warmup }).
			aliases("warmup-epochs", "lr-warmup-epochs", "warmup-steps", "num-warmup-steps", "warmup-ratio"),
		open(real("drop-every", "epochs between two drops of --schedule step (default: 30)", optim.MaxRate,
			func(c *Config) *float64 { return &c.Schedule.Every })).aliases("step-size", "lr-step-size").
			unless(ofSchedule("step")),
		parsed("milestones", "EPOCHS", "epochs at which --schedule step drops the rate, such as 30,60,80, "+
			"instead of --drop-every (default: none)",
			"rising list of epochs such as 30,60,80", optim.ParseMilestones,
			func(c *Config) *optim.Milestones { return &c.Schedule.Milestones }).aliases("lr-milestones").
			unless(ofSchedule("step")),
		open(real("gamma", "factor of the learning rate at each drop of --schedule step (default: 0.1)", 1,
			func(c *Config) *float64 { return &c.Schedule.Factor })).aliases("lr-gamma", "drop-factor").
			unless(ofSchedule("step")),
		parsed("triangle", "A,P,E", "--schedule triangle climbs from A times the learning rate to the full "+
			"rate at the fraction P of the run, then falls to E times it (default: 0,0,0)",
			"START,PEAK,END, each from 0 to 1, such as 0.2,0.23,0.07", optim.ParseTriangle,
			func(c *Config) *optim.Triangle { return &c.Schedule.Triangle }).
			unless(ofSchedule("triangle")),
	}
}

// dampingSettings keep updates steady: clipped gradients, averaged weights, smooth labels.
func dampingSettings() []Setting {
	return []Setting{
		real("clip", "scale the gradient down to this norm if it is larger; 0 for never",
			math.MaxFloat32,
			func(c *Config) *float64 { return &c.Clip }).
			aliases("max-grad-norm", "gradient-clip-val", "clip-grad-norm", "grad-clip", "gradient-clipping"),
		share("ema", "decay of an exponential moving average of the weights, which is evaluated and "+
			"saved in place of them; 0 for none",
			func(c *Config) *float64 { return &c.EMA }).aliases("ema-decay"),
		parsed("lookahead", "K,A[,P]", "every K steps the slow weights move the fraction "+
			"1-(1-A)*(step/steps)^P of the way to the weights, which then restart from them; "+
			"P is 0 if left out (default: none)",
			"EVERY,ALPHA or EVERY,ALPHA,POWER such as 5,0.5", optim.ParseLookahead,
			func(c *Config) *optim.LookaheadConfig { return &c.Lookahead }),
		real("label-smoothing", "fraction of each training label that is spread over all classes, 0 to 1", 1,
			func(c *Config) *float64 { return &c.Smoothing }).aliases("label-smoothing-factor"),
	}
}

func outputSettings() []Setting {
	return inGroup("Output",
		number("eval-every", "epochs between evaluations; 0 to evaluate only at the end", 0, maxCount,
			func(c *Config) *int { return &c.EvalEvery }).
			aliases("eval-interval", "eval-freq", "val-every", "check-val-every-n-epoch", "eval-steps").
			unless(evaluates),
		text("out", "FOLDER",
			"run directory, new or empty (default: runs/<time>-<model>-<strategy>-w<N>)",
			func(c *Config) *string { return &c.Out }).own().
			aliases("output-dir", "save-dir", "default-root-dir", "log-dir", "output", "out-dir"),
		toggle("save", "write the trained weights to model.safetensors in the run directory, and for BERT "+
			"the files that from_pretrained needs",
			func(c *Config) *bool { return &c.Save }),
		every("checkpoint-every", "write a checkpoint to the run directory at this interval, in steps (100) "+
			"or time (5m), and when the run ends (default: none)",
			func(c *Config) *string { return &c.CheckpointEvery }).
			aliases("save-every", "ckpt-every", "checkpoint-interval", "every-n-train-steps",
				"save-steps", "save-interval"),
		text("resume", "FOLDER", "resume the run in this directory from its newest valid checkpoint, with "+
			"its settings; only those of workers and length may be changed",
			func(c *Config) *string { return &c.Resume }).
			aliases("resume-from-checkpoint", "ckpt-path", "resume-from", "load-checkpoint"),
		toggle("trace", "write trace.json, a Chrome trace of every rank",
			func(c *Config) *bool { return &c.Trace }).
			aliases("profile", "profiler", "timeline-filename"),
	)
}

func inGroup(name string, settings ...Setting) []Setting {
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
