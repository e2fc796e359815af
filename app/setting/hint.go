package setting

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

// aliases returns s with its names in other programs: torchrun, Lightning, Hugging Face's Trainer, Horovod,
// DeepSpeed, and common scripts around torch.
func (s Setting) aliases(names ...string) Setting {
	s.elsewhere = names
	return s
}

// Elsewhere returns the names of the setting in other programs.
func (s Setting) Elsewhere() []string { return slices.Clone(s.elsewhere) }

// remarkOn returns a sentence about a squeezed name that has no setting here, or one of another unit; ""
// if there is nothing to say.
func remarkOn(name string) string {
	switch name {
	case "numworkers", "nworkers", "dataloadernumworkers":
		return "PyTorch's loader processes have no counterpart: a worker prepares its batches by " +
			"itself, beside the step"
	case "gpu", "gpus", "cuda", "nocuda", "usecpu":
		return "--device says what computes: cpu, or in a binary built for them cuda, an NVIDIA GPU"
	case "accelerator":
		return "an NVIDIA GPU is called cuda"
	case "precision", "amp", "fp16", "bf16", "mixedprecision", "dtype":
		return "weights are float32, activations too but on a GPU; --math says how products are computed, " +
			"and bf16 is nearest to autocast; --wire says how gradients travel"
	case "batchsize", "trainbatchsize", "perdevicetrainbatchsize", "microbatchsize", "bs":
		return "it counts the samples of all workers, where scripts for torchrun count those of one: 32 " +
			"on each of 2 workers are --batch 64"
	case "warmupsteps", "numwarmupsteps", "evalsteps":
		return "it counts epochs, not steps"
	case "warmupratio":
		return "it takes epochs, not a share of the run"
	case "bucketcapmb", "ddpbucketcapmb", "fusionthresholdmb":
		return "it takes bytes, or a size with its unit, such as 25MiB"
	case "backend", "distbackend", "processgroupbackend", "ddpbackend":
		return "it is auto, local, shm or tcp, in place of gloo, nccl or mpi"
	case "loginterval", "printfreq", "logevery", "logeverynsteps", "loggingsteps":
		return "every step is in steps.jsonl of the run directory, whatever progress shows"
	case "savemodel":
		return "the weights are saved unless --save=false says otherwise"
	case "dryrun":
		return "--steps 1 trains one step"
	case "zerostage":
		return "it takes no number and is stage 1: the optimizer's state is sharded; gradients and " +
			"weights, which stages 2 and 3 shard too, are whole on every worker"
	case "fp16allreduce":
		return "--wire bf16 halves what travels too, and has the range of fp32"
	case "overlapcomm":
		return "--strategy ddp exchanges gradients during the backward pass, and with --overlap-forward " +
			"also during the next forward pass"
	case "nnodes", "numnodes", "noderank", "rdzvendpoint", "rdzvbackend", "rdzvid", "standalone",
		"disturl", "initmethod":
		return "hosts are named by flags in front of the command: see lockstep run and lockstep launch"
	}
	return ""
}

// fromElsewhere returns the setting that other programs call name, and a remark on the name. Both are empty
// where the name is not known.
func fromElsewhere(name string) (setting, remark string) {
	name = squeeze(name)
	for _, s := range Settings(nil) {
		for _, other := range s.elsewhere {
			if squeeze(other) == name {
				return s.Name, remarkOn(name)
			}
		}
	}
	return "", remarkOn(name)
}

// squeeze returns name without hyphens and underscores: batch_size and batch-size are one name.
func squeeze(name string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
}

// FromElsewhere returns the name of the setting that other programs call by this name; "" if there is none.
func FromElsewhere(name string) string {
	setting, _ := fromElsewhere(strings.TrimLeft(name, "-"))
	return setting
}

// Elsewhere returns the setting that is called by this name here or in other programs, and a remark on the
// name. Both are empty where the name is not known.
func Elsewhere(name string) (setting, remark string) {
	name = strings.TrimLeft(name, "-")
	for _, s := range Settings(nil) {
		if s.Name == name {
			return name, ""
		}
	}
	return fromElsewhere(name)
}

// LongName returns the flag, without hyphens, that a letter stands for in PyTorch's ImageNet example and in
// scripts that follow it; "" if it is none that has a counterpart here or a remark.
func LongName(letter string) string {
	return map[string]string{"a": "arch", "b": "batch-size", "e": "evaluate", "j": "num-workers",
		"p": "print-freq"}[letter]
}

// Hint suggests a setting for an unknown flag or key: the setting that other programs call by this name, or
// the nearest of known. The text has the form of spelling.Hint; it is "" if there is nothing to suggest.
func Hint(name string, known []string) string {
	bare := strings.TrimLeft(name, "-")
	setting, remark := fromElsewhere(bare)
	switch {
	case remark != "" && setting != "":
		return fmt.Sprintf("; did you mean %q? %s", strings.TrimSuffix(name, bare)+setting, remark)
	case remark != "":
		return "; " + remark
	case setting != "":
		return fmt.Sprintf("; did you mean %q?", strings.TrimSuffix(name, bare)+setting)
	}
	if setting, remark = nearElsewhere(bare, known); setting != "" {
		text := fmt.Sprintf("; did you mean %q?", strings.TrimSuffix(name, bare)+setting)
		return strings.TrimSpace(text + " " + remark)
	}
	return spelling.Hint(name, known)
}

// nearElsewhere returns the setting that other programs call by a name near this one, and a remark on that
// name. Both are empty if it begins or is nearer to one of known, or if known lacks the setting.
func nearElsewhere(name string, known []string) (setting, remark string) {
	bare := func(flag string) string { return strings.TrimLeft(flag, "-") }
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	if slices.ContainsFunc(known, func(flag string) bool { return strings.HasPrefix(bare(flag), name) }) {
		return "", ""
	}
	// Letters of a name that is long enough to be mistaken for no other, and edits that are a slip: more of
	// them make train-batch-size of test-batch-size.
	const letters, edits = 5, 2
	of, names := map[string]string{}, slices.Clone(known)
	for _, s := range Settings(nil) {
		if !slices.ContainsFunc(known, func(flag string) bool { return bare(flag) == s.Name }) {
			continue
		}
		for _, other := range s.elsewhere {
			if len(other) >= letters {
				of[other], names = s.Name, append(names, other)
			}
		}
	}
	near := spelling.Nearest(name, names)
	if of[near] == "" || spelling.Distance(name, near) > edits {
		return "", ""
	}
	return of[near], remarkOn(squeeze(near))
}

// valueFromElsewhere returns the value that other programs, or papers, call by another name; "" if text is no
// such name.
func valueFromElsewhere(setting, text string) string {
	for value, others := range valuesElsewhere(setting) {
		if slices.Contains(others, squeeze(text)) {
			return value
		}
	}
	return ""
}

// valuesElsewhere lists the squeezed names that values of a setting have elsewhere.
func valuesElsewhere(setting string) map[string][]string {
	switch setting {
	case "strategy":
		others := map[string][]string{}
		for _, s := range strategy.All() {
			others[s.Name] = s.Also
		}
		return others
	case "optimizer":
		return map[string][]string{"adamw": {"adam"}, "sgd": {"sgdm", "momentum"}}
	case "schedule":
		return map[string][]string{
			"step":     {"multistep", "multisteplr", "steplr"},
			"cosine":   {"cosineannealing", "cosineannealinglr", "cosinewithwarmup"},
			"triangle": {"onecycle", "onecyclelr"},
			"constant": {"none", "constantwithwarmup"},
		}
	case "wire":
		return map[string][]string{
			"fp32": {"none", "no", "float32"},
			"bf16": {"fp16", "float16", "half", "bfloat16"},
		}
	case "link":
		return map[string][]string{auto: {"gloo", "nccl", "mpi"}, linkSHM: {"sharedmemory"}}
	case "math":
		return map[string][]string{"fast": {"float32"}, "bf16": {"bfloat16", "fp16", "float16"}}
	case "device":
		return map[string][]string{DeviceCUDA: {"gpu"}}
	case "model":
		return map[string][]string{"bert-base": {"bertbaseuncased"}}
	}
	return nil
}
