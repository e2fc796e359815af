package job

import (
	"lockstep/internal/kernel"
)

// Config is a run as values, after every default and rule has been applied (see Resolve). A field
// has the name of its flag; JSON and YAML use the flag's spelling.
type Config struct {
	Model       string  `json:"model"`        // architecture, a name of model.Names
	Data        string  `json:"data"`         // data set, a name of data.Names
	DataDir     string  `json:"data-dir"`     // folder of data sets; "": the user cache
	Augment     string  `json:"augment"`      // none, crop, flip, crop-flip
	Strategy    string  `json:"strategy"`     // "": single for one worker, ddp otherwise
	Algorithm   string  `json:"algorithm"`    // collective algorithm; auto chooses
	Link        string  `json:"link"`         // auto, local (one process) or tcp (processes)
	Workers     int     `json:"workers"`      // replicas, 1 to MaxWorkers
	Threads     int     `json:"threads"`      // compute threads per worker; 0: cores / workers
	Batch       int     `json:"batch"`        // samples of one step over all workers
	Shards      int     `json:"shards"`       // virtual shards; 0: as many as workers
	Epochs      int     `json:"epochs"`       // length in epochs; 0: given by Steps
	Steps       int     `json:"steps"`        // length in steps; 0: given by Epochs
	Optimizer   string  `json:"optimizer"`    // sgd
	LR          float64 `json:"lr"`           // learning rate of the global batch
	ScaleLR     string  `json:"scale-lr"`     // "", or "linear,B": multiply LR by Batch/B
	Momentum    float64 `json:"momentum"`     // 0 <= momentum < 1
	Nesterov    bool    `json:"nesterov"`     // Nesterov's momentum
	WeightDecay float64 `json:"weight-decay"` // coupled L2, as PyTorch's SGD
	Schedule    string  `json:"schedule"`     // constant, step, cosine, linear
	Warmup      float64 `json:"warmup"`       // epochs of linear warm-up
	Bucket      int     `json:"bucket"`       // bytes of a ddp bucket
	EvalEvery   int     `json:"eval-every"`   // epochs between evaluations; 0: at the end only
	LimitTrain  int     `json:"limit-train"`  // use the first n training samples; -1: all
	LimitTest   int     `json:"limit-test"`   // use the first n test samples; -1: all, 0: none
	Seed        uint64  `json:"seed"`         // start of all random numbers
	ISA         string  `json:"isa"`          // kernel path; "": the best all workers have
	Trace       bool    `json:"trace"`        // write trace.json
	Out         string  `json:"out"`          // run directory; "": runs/<time>-<what>
}

// MaxWorkers bounds Workers on one machine: beyond it a mistyped number would only exhaust
// the machine's processes.
const MaxWorkers = 256

// Default returns the configuration of `lockstep train` without flags: lenet on the generated
// glyphs, one worker, one epoch. The learning rate suits lenet at batch 64.
func Default() Config {
	return Config{
		Model: "lenet", Data: "glyphs", Augment: "none", Algorithm: "auto", Link: "auto",
		Workers: 1, Batch: 64, Optimizer: "sgd", LR: 0.05, Momentum: 0.9,
		Schedule: "constant", Bucket: 1 << 20, EvalEvery: 1, LimitTrain: -1, LimitTest: -1,
		Seed: 1,
	}
}

// isa returns the kernel path asked for, or the best of this processor.
func (c Config) isa() (kernel.ISA, error) {
	if c.ISA == "" {
		return kernel.Best(), nil
	}
	return kernel.ParseISA(c.ISA)
}

// Validate returns nil, or a *UsageError with one line per value that cannot work.
func (c Config) Validate() error { return nil }
