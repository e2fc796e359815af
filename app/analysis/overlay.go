package analysis

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
		return "interrupted"
	}
	var all []string
	add := func(differs bool, format string, args ...any) {
		if differs {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	batch, otherBatch := t.Batch*max(1, t.Accumulate), other.Batch*max(1, other.Accumulate)
	add(t.Model != other.Model, "model %s against %s", t.Model, other.Model)
	add(t.DataSHA256 != other.DataSHA256, "samples of %s against other ones of %s", t.Data, other.Data)
	add(batch != otherBatch, "batch %d against %d", batch, otherBatch)
	add(t.Shards != other.Shards, "%d shards against %d", t.Shards, other.Shards)
	add(t.Steps != other.Steps, "%d steps against %d", t.Steps, other.Steps)
	add(t.Samples != other.Samples, "%d samples against %d", t.Samples, other.Samples)
	add(t.Seed != other.Seed, "seed %d against %d", t.Seed, other.Seed)
	add(t.LearningRate != other.LearningRate, "learning rate %g against %g", t.LearningRate,
		other.LearningRate)
	isAlike := t.ParameterSHA256 != "" && t.ParameterSHA256 == other.ParameterSHA256
	for _, d := range SettingDifferences([]*Training{t, other}) {
		isKnown := d.Values[0] != "" && d.Values[1] != ""
		add(isKnown && !isAlike && slices.Contains(ComputedNames(), d.Name), "%s %s against %s", d.Name,
			d.Values[0], d.Values[1])
	}
	add(t.Kernels() != other.Kernels() || t.Math != other.Math, "kernels %s %s against %s %s", t.Kernels(),
		t.Math, other.Kernels(), other.Math)
	return strings.Join(all, ", ")
}

// SettingDifference is a setting with the values that runs gave it, in their order; "" where one has none.
type SettingDifference struct {
	Name   string
	Values []string
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
