package setting

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/internal/spelling"
)

// called returns s with its names in other programs: torchrun, Lightning, Hugging Face's Trainer, and common
// scripts around torch.
func (s Setting) called(names ...string) Setting {
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
	case "batchsize", "trainbatchsize", "perdevicetrainbatchsize", "bs":
		return "it counts the samples of all workers, where scripts for torchrun count those of one: 32 " +
			"on each of 2 workers are --batch 64"
	case "warmupsteps":
		return "it counts epochs, not steps"
	}
	return ""
}

// translate returns the setting that other programs call name, and a remark on the name. Both are empty
// where the name is not known.
func translate(name string) (setting, remark string) {
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

// Hint suggests a setting for an unknown flag or key: the setting that other programs call by this name, or
// the nearest of known. The text has the form of spelling.Hint; it is "" if there is nothing to suggest.
func Hint(name string, known []string) string {
	bare := strings.TrimLeft(name, "-")
	setting, remark := translate(bare)
	switch {
	case remark != "" && setting != "":
		return fmt.Sprintf("; did you mean %q? %s", strings.TrimSuffix(name, bare)+setting, remark)
	case remark != "":
		return "; " + remark
	case setting != "":
		return fmt.Sprintf("; did you mean %q?", strings.TrimSuffix(name, bare)+setting)
	}
	return spelling.Hint(name, known)
}
