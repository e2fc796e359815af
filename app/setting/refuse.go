package setting

import (
	"fmt"
	"strings"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/internal/spelling"
	"lockstep/optim"
)

// adder adds a problem of the setting called name.
type adder = func(name, format string, args ...any)

// Validate returns nil, or a *UsageError with one line per value that cannot work. Open fields
// are taken as Complete would decide them.
func (c Config) Validate() error {
	return usageError(c.problems())
}

// problem is an invalid value, with its setting or, when that is resolved, the origin of the value.
type problem struct {
	where string
	err   error
}

// problems lists the invalid values or, if all are valid, the invalid combinations.
func (c Config) problems() []problem {
	var found []problem
	for _, s := range c.table() {
		if s.isOpen() || s.check == nil {
			continue
		}
		if err := s.check(s.Name); err != nil {
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
	c.overlapProblems(add)
	c.slowProblems(add)
	c.balanceProblems(add)
	c.replayProblems(add)
	if err := c.wireProblem(); err != nil {
		add("wire", "%w", err)
	}
	c.deviceProblems(add)
	c.kernelProblems(add)
	return found
}

// usageError words problems; it returns nil if there are none.
func usageError(problems []problem) error {
	if len(problems) == 0 {
		return nil
	}
	e := &UsageError{}
	for _, p := range problems {
		e.Lines = append(e.Lines, p.where+": "+p.err.Error())
	}
	return e
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

// lengthProblems adds invalid combinations of the settings of the run's length.
func (c Config) lengthProblems(add adder) {
	if c.Epochs > 0 && c.Steps > 0 {
		add("steps", "the length is given twice, as %s and as %s; leave one out",
			spelling.Count(c.Steps, "step"), spelling.Count(c.Epochs, "epoch"))
	}
	switch {
	case c.For == "":
	case c.Epochs > 0 || c.Steps > 0:
		add("for", "the length is given twice, as %s and by --epochs or --steps; leave one out", c.For)
	case c.Schedule.WantsLength():
		add("for", "the schedule %s wants to know the number of steps; give --epochs or --steps, or "+
			"--schedule constant", c.Schedule.Name)
	case c.Lookahead.Power > 0:
		add("for", "--lookahead %s wants to know the number of steps", c.Lookahead)
	}
	switch {
	case c.Until == 0:
	case c.LimitTest == 0:
		add("until", "has nothing to evaluate with --limit-test 0")
	case c.IsIsolated():
		add("until", "wants replicas that are equal; those of --strategy none are not")
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
	readsTexts := c.Models().ReadsTexts(c.Model)
	switch kind := c.Datasets().KindOf(c.Data); {
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

// deviceProblems adds what the device cannot compute.
func (c Config) deviceProblems(add adder) {
	isOfGPU := c.Math == mathFloat32 || c.Math == mathTF32
	switch {
	case c.Device == DeviceCPU && isOfGPU:
		add("math", "%s is for --device %s; on the CPU want %s or %s, which are float32, or %s", c.Math,
			DeviceCUDA, compute.Fast, compute.Exact, compute.BF16)
	case c.IsOnGPU() && len(c.SlowWorkers) > 0:
		add("slow-worker", "slows what a CPU computes, and --device %s computes on a GPU", c.Device)
	case c.IsOnGPU() && c.WantsCPU() != "":
		add("math", "%s is for CPUs with AMX; with --device %s want %s, %s or %s", c.Math, c.Device,
			mathFloat32, mathTF32, compute.BF16)
	}
}

// slowProblems adds the problems of SlowWorkers.
func (c Config) slowProblems(add func(name, format string, args ...any)) {
	for _, s := range c.SlowWorkers {
		if s.Rank >= c.Workers {
			add("slow-worker", "there is no worker of rank %d among %s; want %s", s.Rank,
				spelling.Count(c.Workers, "worker"), ranksBelow(c.Workers))
			return
		}
	}
}

// ranksBelow lists the ranks of some workers.
func ranksBelow(workers int) string {
	if workers == 1 {
		return "0"
	}
	return fmt.Sprintf("0 to %d", workers-1)
}

// updateProblems adds the problems of the optimizer and its schedule.
func (c Config) updateProblems(add adder) {
	update := c.UpdateRule()
	switch err := update.Validate(); {
	case update.Nesterov && update.Momentum == 0:
		add("nesterov", "Nesterov's rule needs a momentum above 0")
	case !(update.LR <= optim.MaxRate):
		add("scale-lr", "%v makes %v of the learning rate %v, want at most %.4g", c.ScaleLR, update.LR,
			c.Optimizer.LR, float64(optim.MaxRate))
	case err != nil:
		add("optimizer", "%w", err)
	}
	switch err := c.Schedule.Validate(); {
	case c.Schedule.Name == "triangle" && c.Schedule.Warmup > 0:
		add("warmup", "the schedule triangle climbs by itself, as --triangle says")
	case c.Schedule.Every > 0 && len(c.Schedule.Milestones) > 0:
		add("drop-every", "--milestones say when the rate drops; leave one out")
	case err != nil:
		add("schedule", "%w", err)
	}
	if err := c.groupProblem(); err != nil {
		add("groups", "%w", err)
	}
	if err := c.Lookahead.Validate(); err != nil {
		add("lookahead", "%w", err)
	}
}

// groupProblem returns why the parameter groups do not fit the model, or nil.
func (c Config) groupProblem() error {
	network, err := c.network()
	if err != nil {
		return nil // it needs the shape of the data
	}
	return c.CheckGroups(network)
}
