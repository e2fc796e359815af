package compare

import (
	"fmt"
	"slices"
	"strings"
)

// WorkDifference says in words in all that the work of a run differs in from that of another, or returns "".
// Runs of equal work train the same network on the same samples, in as many steps of as large batches, from
// the same seed, by the same settings of [ComputedNames]. A setting that differs has no effect where both
// runs end with the same parameters.
func WorkDifference(t, other *Training) string {
	if t.IsInterrupted || other.IsInterrupted {
		return "ended early"
	}
	var all []string
	add := func(differs bool, format string, args ...any) {
		if differs {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	batch, otherBatch := t.Batch*max(1, t.Accumulate), other.Batch*max(1, other.Accumulate)
	add(t.Model != other.Model, "model %s against %s", t.Model, other.Model)
	differences := SettingDifferences([]*Training{t, other})
	samples, named := otherSamples(t, other, differences)
	add(samples != "", "%s", samples)
	add(batch != otherBatch, "batch %d against %d", batch, otherBatch)
	add(t.Shards != other.Shards, "%d shards against %d", t.Shards, other.Shards)
	add(t.Steps != other.Steps, "%d steps against %d", t.Steps, other.Steps)
	add(t.Samples != other.Samples, "%d samples against %d", t.Samples, other.Samples)
	add(t.Seed != other.Seed, "seed %d against %d", t.Seed, other.Seed)
	add(t.LearningRate != other.LearningRate, "learning rate %g against %g", t.LearningRate,
		other.LearningRate)
	isAlike := t.ParameterSHA256 != "" && t.ParameterSHA256 == other.ParameterSHA256
	for _, d := range differences {
		isTelling := slices.Contains(ComputedNames(), d.Name) && !slices.Contains(named, d.Name)
		add(d.isKnown() && !isAlike && isTelling, "%s", d)
	}
	add(t.Kernels() != other.Kernels() || t.Math != other.Math, "kernels %s %s against %s %s", t.Kernels(),
		t.Math, other.Kernels(), other.Math)
	return strings.Join(all, ", ")
}

// otherSamples says which samples of a run are not those of another, and the settings that differ and decide
// which samples there are, whose names it returns too.
func otherSamples(t, other *Training, differences []SettingDifference) (text string, named []string) {
	here, there := t.DataSHA256, other.DataSHA256
	if here == there {
		return "", nil
	}
	if t.Data != other.Data {
		return fmt.Sprintf("samples of %s against other ones of %s", t.Data, other.Data), nil
	}
	what, names := "", []string{"size", "sequence", "vocab", "text-column", "pair-column", "label-column"}
	if here.Train != there.Train {
		what, names = "training ", append(names, "limit-train")
	}
	if here.Test != there.Test {
		what, names = what+"test ", append(names, "limit-test")
	}
	if here.Train != there.Train && here.Test != there.Test {
		what = ""
	}
	var settings []string
	for _, d := range differences {
		if slices.Contains(names, d.Name) && d.isKnown() {
			settings, named = append(settings, d.String()), append(named, d.Name)
		}
	}
	text = fmt.Sprintf("other %ssamples of %s", what, t.Data)
	if settings != nil {
		text += ", " + strings.Join(settings, ", ")
	}
	return text, named
}

// SettingDifference is a setting with the values that runs gave it, in their order; "" where one has none.
type SettingDifference struct {
	Name   string
	Values []string
}

// isKnown reports whether both of two runs gave the setting a value.
func (d SettingDifference) isKnown() bool { return d.Values[0] != "" && d.Values[1] != "" }

// String words the difference of two runs.
func (d SettingDifference) String() string {
	return fmt.Sprintf("%s %s against %s", d.Name, d.Values[0], d.Values[1])
}

// SettingDifferences returns the settings in which the configurations of runs differ, in the order of the
// first one that has them. The folder of a run is no such setting.
func SettingDifferences(runs []*Training) []SettingDifference {
	var all []SettingDifference
	for i, t := range runs {
		for line := range strings.Lines(t.Configuration) {
			name, value, isPair := strings.Cut(strings.TrimSpace(line), ":")
			if !isPair || strings.HasPrefix(name, "#") || name == "out" {
				continue
			}
			if at := strings.LastIndex(value, " #"); at >= 0 {
				value = value[:at]
			}
			j := slices.IndexFunc(all, func(d SettingDifference) bool { return d.Name == name })
			if j < 0 {
				j = len(all)
				all = append(all, SettingDifference{name, make([]string, len(runs))})
			}
			all[j].Values[i] = strings.TrimSpace(value)
		}
	}
	return slices.DeleteFunc(all, func(d SettingDifference) bool {
		return !slices.ContainsFunc(d.Values, func(v string) bool { return v != d.Values[0] })
	})
}
