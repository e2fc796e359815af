package setting

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/internal/spelling"
)

// called returns s with the names that other programs have for it: torchrun, Lightning, Hugging Face's
// Trainer, and the usual scripts around torch.
func (s Setting) called(names ...string) Setting {
	s.elsewhere = names
	return s
}

// Elsewhere returns the names that other programs have for the setting.
func (s Setting) Elsewhere() []string { return slices.Clone(s.elsewhere) }

// translate returns the setting that other programs call name, or a sentence about a name that has no
// setting here. Both are empty where the name is not known.
func translate(name string) (setting, remark string) {
	name = squeeze(name)
	if slices.Contains([]string{"numworkers", "nworkers", "dataloadernumworkers"}, name) {
		return "", "PyTorch's loader processes have no counterpart: a worker prepares its batches by " +
			"itself, beside the step"
	}
	for _, s := range Settings(nil) {
		for _, other := range s.elsewhere {
			if squeeze(other) == name {
				return s.Name, ""
			}
		}
	}
	return "", ""
}

// squeeze returns name without what joins its words: batch_size and batch-size are one name.
func squeeze(name string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
}

// Hint returns what to try in place of an unknown flag, or key, of a setting: the one for which other
// programs have that name, or the nearest of known. It is worded as by spelling.Hint, and "" if there is
// nothing to try.
func Hint(name string, known []string) string {
	bare := strings.TrimLeft(name, "-")
	setting, remark := translate(bare)
	switch {
	case remark != "":
		return "; " + remark
	case setting != "":
		return fmt.Sprintf("; did you mean %q?", strings.TrimSuffix(name, bare)+setting)
	}
	return spelling.Hint(name, known)
}
