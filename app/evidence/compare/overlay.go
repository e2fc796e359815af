package compare

import (
	"slices"
	"strings"
)

// WorkDifferences returns all that the work of a run differs in from that of another; nil: in nothing. Runs
// of equal work train the same network on the same samples, in as many steps of as large batches, from the
// same seed, by the same settings of [ComputedNames]. A setting that differs has no effect where both runs
// end with the same parameters.
func WorkDifferences(t, other *Training) []Difference {
	if t.IsInterrupted || other.IsInterrupted {
		return []Difference{{Name: "end"}}
	}
	var all []Difference
	add := func(name string, a, b any) {
		if a != b {
			all = append(all, Difference{name, []any{a, b}})
		}
	}
	add("model", t.Model, other.Model)
	if add("data", t.Data, other.Data); t.Data == other.Data {
		add("training samples", shortHash(t.DataSHA256.Train), shortHash(other.DataSHA256.Train))
		add("test samples", shortHash(t.DataSHA256.Test), shortHash(other.DataSHA256.Test))
	}
	add("batch", t.Batch*max(1, t.Accumulate), other.Batch*max(1, other.Accumulate))
	add("shards", t.Shards, other.Shards)
	add("steps", t.Steps, other.Steps)
	add("samples", t.Samples, other.Samples)
	add("seed", t.Seed, other.Seed)
	add("learning rate", t.LearningRate, other.LearningRate)
	isAlike := t.ParameterSHA256 != "" && t.ParameterSHA256 == other.ParameterSHA256
	for _, d := range SettingDifferences([]*Training{t, other}) {
		isKnown := !slices.Contains(d.Values, any(""))
		if isKnown && !isAlike && slices.Contains(ComputedNames(), d.Name) {
			all = append(all, d)
		}
	}
	add("computer", t.Computer(), other.Computer())
	add("math", t.Math, other.Math)
	return all
}

// shortHash is the begin of a hash, by which a reader tells it from another.
func shortHash(hash string) string { return hash[:min(len(hash), 12)] }

// SettingDifferences returns the settings in which the configurations of runs differ, in the order of the
// first one that has them; "" is the value of a run that has none. The folder of a run is no such setting.
func SettingDifferences(runs []*Training) []Difference {
	var all []Difference
	for i, t := range runs {
		for line := range strings.Lines(t.Configuration) {
			name, value, isPair := strings.Cut(strings.TrimSpace(line), ":")
			if !isPair || strings.HasPrefix(name, "#") || name == "out" {
				continue
			}
			if at := strings.LastIndex(value, " #"); at >= 0 {
				value = value[:at]
			}
			j := slices.IndexFunc(all, func(d Difference) bool { return d.Name == name })
			if j < 0 {
				j = len(all)
				all = append(all, Difference{name, slices.Repeat([]any{""}, len(runs))})
			}
			all[j].Values[i] = strings.TrimSpace(value)
		}
	}
	return slices.DeleteFunc(all, func(d Difference) bool {
		return !slices.ContainsFunc(d.Values, func(v any) bool { return v != d.Values[0] })
	})
}
