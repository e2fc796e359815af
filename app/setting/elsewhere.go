package setting

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/strategy"
	"lockstep/internal/spelling"
)

// remarks are sentences about squeezed names of other programs that have no setting here, or one of another
// unit.
func remarks() map[string]string {
	return map[string]string{
		"numworkers nworkers dataloadernumworkers": "PyTorch's loader processes have no counterpart: a " +
			"worker prepares its batches by itself, beside the step",
		"gpu gpus cuda nocuda usecpu": "--device says what computes: cpu, or in a binary built for them " +
			"cuda, an NVIDIA GPU",
		"precision amp fp16 bf16 mixedprecision dtype": "weights are float32, activations too but on a " +
			"GPU; --math says how products are computed, and bf16 is nearest to autocast; --wire says how " +
			"gradients travel",
		"batchsize trainbatchsize perdevicetrainbatchsize microbatchsize bs": "it counts the samples of " +
			"all workers, where scripts for torchrun count those of one: 32 on each of 2 workers are " +
			"--batch 64",
		"warmupsteps numwarmupsteps evalsteps": "it counts epochs, not steps",
		"bucketcapmb ddpbucketcapmb fusionthresholdmb": "it takes bytes, or a size with its unit, such as " +
			"25MiB",
		"backend distbackend processgroupbackend ddpbackend": "it is auto, local, shm or tcp, in place of " +
			"gloo, nccl or mpi",
		"loginterval printfreq logevery logeverynsteps loggingsteps": "every step is in steps.jsonl of the " +
			"run directory, whatever progress shows",
		"wandb usewandb wandbproject reportto logger mlflow trackingui": "every run leaves steps.jsonl, " +
			"evaluations.jsonl and events for TensorBoard in its directory, and a report.html; nothing is " +
			"sent to a service",
		"zerostage": "it takes no number and is stage 1: the optimizer's state is sharded; gradients and " +
			"weights, which stages 2 and 3 shard too, are whole on every worker",
		"nnodes numnodes noderank rdzvendpoint rdzvbackend rdzvid standalone disturl initmethod": "hosts " +
			"are named by flags in front of the command: see lockstep run and lockstep launch",
	}
}

// squeeze returns name without hyphens and underscores: batch_size and batch-size are one name.
func squeeze(name string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
}

// fromElsewhere returns the setting that other programs call name, and a remark on the name. Both are empty
// where the name is not known.
func fromElsewhere(name string) (setting, remark string) {
	name = squeeze(name)
	for names, text := range remarks() {
		if slices.Contains(strings.Fields(names), name) {
			remark = text
		}
	}
	for _, s := range Settings(nil) {
		if slices.Contains(strings.Fields(squeeze(s.elsewhere)), name) {
			setting = s.Name
		}
	}
	return setting, remark
}

// FromElsewhere returns the name of the setting that other programs call by this name; "" if there is none.
func FromElsewhere(name string) string {
	setting, _ := fromElsewhere(strings.TrimLeft(name, "-"))
	return setting
}

// Elsewhere returns the setting that is called by this name here or in other programs; "" if there is none.
func Elsewhere(name string) string {
	if bare := strings.TrimLeft(name, "-"); newResolver(nil).find(bare) != nil {
		return bare
	}
	return FromElsewhere(name)
}

// Hint suggests a setting for an unknown flag or key: the setting that other programs call by this name, or
// the nearest of known. The text has the form of spelling.Hint; it is "" if there is nothing to suggest.
func Hint(name string, known []string) string {
	bare := strings.TrimLeft(name, "-")
	setting, remark := fromElsewhere(bare)
	switch {
	case setting != "":
		text := fmt.Sprintf("; did you mean %q?", strings.TrimSuffix(name, bare)+setting)
		return strings.TrimSpace(text + " " + remark)
	case remark != "":
		return "; " + remark
	}
	return spelling.Hint(name, known)
}

// valueFromElsewhere returns the value that other programs, or papers, call by another name; "" if text is no
// such name.
func valueFromElsewhere(setting, text string) string {
	if setting == "strategy" {
		for _, s := range strategy.All() {
			if slices.Contains(s.Also, squeeze(text)) {
				return s.Name
			}
		}
	}
	for value, others := range valuesElsewhere()[setting] {
		if slices.Contains(strings.Fields(others), squeeze(text)) {
			return value
		}
	}
	return ""
}

// valuesElsewhere lists the squeezed names that values have elsewhere, by setting and value.
func valuesElsewhere() map[string]map[string]string {
	return map[string]map[string]string{
		"optimizer": {"adamw": "adam", "sgd": "sgdm momentum"},
		"schedule": {"step": "multistep multisteplr steplr", "triangle": "onecycle onecyclelr",
			"cosine":   "cosineannealing cosineannealinglr cosinewithwarmup",
			"constant": "none constantwithwarmup"},
		"wire":   {"fp32": "none no float32", "bf16": "fp16 float16 half bfloat16"},
		"link":   {auto: "gloo nccl mpi", linkSHM: "sharedmemory"},
		"math":   {"fast": "float32", "bf16": "bfloat16 fp16 float16"},
		"device": {DeviceCUDA: "gpu"},
		"model":  {"bert-base": "bertbaseuncased"},
	}
}
