package setting

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/compute"
	"lockstep/data"
	"lockstep/internal/spelling"
	"lockstep/model"
	"lockstep/optim"
	"lockstep/random"
	"lockstep/train"
)

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

// refuser adds a problem of the setting called name if something is wrong.
type refuser = func(isWrong bool, name, format string, args ...any)

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
	refuse := func(isWrong bool, name, format string, args ...any) {
		if isWrong {
			found = append(found, problem{name, fmt.Errorf(format, args...)})
		}
	}
	c = c.Complete()
	for _, check := range []func(Config, refuser){Config.checkLength, Config.checkBatch, Config.checkWeights,
		Config.checkChoice, Config.checkTask, Config.checkData, Config.checkUpdate, Config.checkStrategy,
		Config.checkServers, Config.checkAsync, Config.checkAverages, Config.checkShared,
		Config.checkDevice} {
		check(c, refuse)
	}
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

// checkLength refuses what the run's length does not allow.
func (c Config) checkLength(refuse refuser) {
	refuse(c.Epochs > 0 && c.Steps > 0, "steps", "the length is given twice, as %s and as %s; leave one out",
		spelling.Count(c.Steps, "step"), spelling.Count(c.Epochs, "epoch"))
	isTime := c.For != ""
	refuse(isTime && c.Epochs+c.Steps > 0, "for", "the length is given twice, as %s and by --epochs or "+
		"--steps; leave one out", c.For)
	refuse(isTime && c.Schedule.WantsLength(), "for", "the schedule %s wants to know the number of steps; "+
		"give --epochs or --steps, or --schedule constant", c.Schedule.Name)
	refuse(isTime && c.Lookahead.Power > 0, "lookahead", "%s wants to know the number "+
		"of steps", c.Lookahead)
	refuse(c.Until > 0 && c.LimitTest == 0, "until", "has nothing to evaluate with --limit-test 0")
	const equal = "wants replicas that are equal; those of --strategy none are not"
	refuse(c.Until > 0 && c.IsIsolated(), "until", equal)
	refuse(c.KeepsCheckpoints() && c.IsIsolated(), "checkpoint-every", equal)
}

// checkBatch refuses what the numbers of samples, shards and workers do not allow.
func (c Config) checkBatch(refuse refuser) {
	isFew := c.Shards < c.Workers
	refuse(isFew && c.Resume != "", "workers", "the run that is resumed has %s, so that at most as many "+
		"workers can go on with it; --shards at its start leaves room for more",
		spelling.Count(c.Shards, "shard"))
	refuse(isFew && c.Resume == "", "shards", "%s cannot be spread over %s; want at least as many",
		spelling.Count(c.Shards, "shard"), spelling.Count(c.Workers, "worker"))
	refuse(c.Batch < c.Shards, "batch", "%d is smaller than the number of shards, %d; "+
		"want at least one sample in each", c.Batch, c.Shards)
	refuse(c.StepShards() > maxShards, "accumulate", "%d batches in %s make %d shards of a step, want at "+
		"most %d", c.Accumulate, spelling.Count(c.Shards, "shard"), c.StepShards(), maxShards)
	for _, s := range c.SlowWorkers {
		refuse(s.Rank >= c.Workers, "slow-worker", "there is no worker of rank %d among %s", s.Rank,
			spelling.Count(c.Workers, "worker"))
	}
}

// checkWeights refuses what weights that are read and evaluated do not allow.
func (c Config) checkWeights(refuse refuser) {
	hasNone := c.Weights == "" && !model.IsFile(c.Model)
	refuse(hasNone && c.FreshHead, "fresh-head", "only says how --weights may differ, and there is none")
	refuse(hasNone && c.EvalOnly, "eval-only", "needs --weights, a safetensors file or folder to "+
		"evaluate")
	refuse(c.EvalOnly && c.FreshHead, "eval-only", "evaluates weights as they are, without --fresh-head")
	refuse(c.EvalOnly && c.LimitTest == 0, "eval-only", "has nothing to do with --limit-test 0")
	refuse(c.EvalOnly && c.KeepsCheckpoints(), "checkpoint-every", "has nothing to do with --eval-only")
}

// checkChoice refuses to choose by nothing, and where workers would choose differently.
func (c Config) checkChoice(refuse refuser) {
	name := c.Choosing()
	refuse(name != "" && c.LimitTest == 0, name, "has nothing to choose by with --limit-test 0")
	refuse(name != "" && c.EvalOnly, name, "has nothing to do with --eval-only")
	refuse(name != "" && (c.IsIsolated() || c.IsAsync()), name, "workers of --strategy %s do not share "+
		"their steps, and would choose differently", c.Strategy)
	refuse(c.Validation != Held{} && c.EvalOnly, "validation", "gives samples to choose by, which "+
		"--eval-only has no use for")
	for _, s := range [][2]string{{"class-weights", c.ClassWeights}, {"class-shares", c.ClassShares},
		{"weight-column", c.WeightColumn}} {
		refuse(s[1] != "" && c.EvalOnly, s[0], "is of training, and --eval-only trains nothing")
	}
}

// checkTask refuses what is for classes where there are none.
func (c Config) checkTask(refuse refuser) {
	is := c.IsRegression()
	known := train.ByNames(!is, is)
	refuse(!slices.Contains(known, c.BestBy), "best-by", "%s is no figure of --task %s, want one of %s",
		c.BestBy, c.Task, strings.Join(known, ", "))
	const none = "--task regression has no classes"
	refuse(is && c.Until > 0, "until", "is an accuracy: "+none)
	refuse(is && c.Smoothing > 0, "label-smoothing", none)
	refuse(is && c.ClassWeights != "", "class-weights", none+"; --weight-column weighs samples")
	refuse(is && c.ClassShares != "", "class-shares", none)
	refuse(c.ClassShares != "" && c.ShufflesBlocks(), "class-shares", "draws samples from all over the "+
		"data, not by --shuffle %s", c.Shuffle)
}

// checkData refuses data and views of it that the model does not take.
func (c Config) checkData(refuse refuser) {
	readsTexts, kind := c.Models().ReadsTexts(c.Model), c.Datasets().KindOf(c.Data, c.DataOptions(nil))
	refuse(c.Validation.Path != "" && !c.Datasets().IsPath(c.Data), "validation", "%s is a path, but the "+
		"samples of %s have a name; give the share of them that is set apart, such as 0.1",
		c.Validation.Path, c.Data)
	refuse(readsTexts && kind == data.ImageKind, "data", "%s is no data of texts, which %s reads; try sst2, "+
		"a CSV, TSV or JSONL file, or a folder with one called train", c.Data, c.Model)
	refuse(!readsTexts && kind == data.TextKind, "data", "%s holds texts, but %s reads images; try a model "+
		"of texts, such as bert-mini", c.Data, c.Model)
	refuse(readsTexts && c.TTA != none, "tta", "%s is a way to show images, but %s reads texts", c.TTA,
		c.Model)
	refuse(readsTexts && c.Augment != auto && c.Augment != none, "augment", "%s changes images, but %s "+
		"reads texts", c.Augment, c.Model)
	refuse(c.SkipBad > 0 && kind != data.ImageKind, "skip-bad", "leaves out images of a folder or of tar "+
		"files, and %s is neither", c.Data)
	c.checkMixing(refuse, readsTexts)
}

// checkMixing refuses samples that cannot be mixed.
func (c Config) checkMixing(refuse refuser, readsTexts bool) {
	name, alpha := "mixup", c.Mixup
	if alpha == 0 {
		name, alpha = "cutmix", c.Cutmix
	}
	isMixed := alpha > 0
	isSmall := isMixed && alpha < random.MinBeta || c.Cutmix > 0 && c.Cutmix < random.MinBeta
	refuse(isSmall, name, "want 0, or %v to %v", random.MinBeta, random.MaxBeta)
	refuse(isMixed && readsTexts, name, "mixes images, but %s reads texts", c.Model)
	refuse(isMixed && c.Device != DeviceCPU, name, "is for --device %s alone", DeviceCPU)
	refuse(isMixed && c.Batch < 2*c.Shards, name, "mixes samples of a shard, and batches of %d in %s leave "+
		"one in some; want --batch %d or more, or fewer --shards", c.Batch, spelling.Count(c.Shards, "shard"),
		2*c.Shards)
}

// checkUpdate refuses what the optimizer and its schedule do not allow.
func (c Config) checkUpdate(refuse refuser) {
	update := c.UpdateRule()
	isTooFast := !(update.LR <= optim.MaxRate)
	refuse(isTooFast, "scale-lr", "%v makes %v of the learning rate %v, want at most %.4g", c.ScaleLR,
		update.LR, c.Optimizer.LR, float64(optim.MaxRate))
	if err := update.Validate(); !isTooFast {
		refuse(err != nil, "optimizer", "%w", err)
	}
	err := c.Schedule.Validate()
	refuse(err != nil, "schedule", "%w", err)
	err = c.Lookahead.Validate()
	refuse(err != nil, "lookahead", "%w", err)
	if network, err := c.network(); err == nil { // else it needs the shape of the data
		err = c.CheckGroups(network)
		refuse(err != nil, "groups", "%w", err)
	}
}

// checkDevice refuses what the device, this processor or this build cannot compute.
func (c Config) checkDevice(refuse refuser) {
	isOfGPU := c.Math == mathFloat32 || c.Math == mathTF32
	refuse(c.Device == DeviceCPU && isOfGPU, "math", "%s is for --device %s; on the CPU want %s or %s, "+
		"which are float32, or %s", c.Math, DeviceCUDA, compute.Fast, compute.Exact, compute.BF16)
	refuse(c.IsOnGPU() && c.WantsCPU() != "", "device", "%s, and --device %s computes on a GPU", c.WantsCPU(),
		c.Device)
	isa, err := c.KernelPath()
	refuse(err != nil, "isa", "%w", err)
	if m, bad := compute.ParseMath(c.Math); err == nil && bad == nil && !c.IsOnGPU() {
		refuse(m.On(isa) != nil, "math", "%w", m.On(isa))
	}
}
