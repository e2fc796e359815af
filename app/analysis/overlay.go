package analysis

import (
	"fmt"
	"slices"
	"strings"
)

// WorkDifference says in words how the work of a run differs from that of another, or returns "". Runs of
// equal work train the same network on the same samples, in as many steps of as large batches, from the
// same seed.
func WorkDifference(t, other *Training) string {
	switch {
	case t.IsInterrupted || other.IsInterrupted:
		return "interrupted"
	case t.Model != other.Model:
		return fmt.Sprintf("model %s against %s", t.Model, other.Model)
	case t.DataSHA256 != other.DataSHA256:
		return fmt.Sprintf("samples of %s against other ones of %s", t.Data, other.Data)
	case t.Batch*max(1, t.Accumulate) != other.Batch*max(1, other.Accumulate):
		return fmt.Sprintf("batch %d against %d", t.Batch*max(1, t.Accumulate),
			other.Batch*max(1, other.Accumulate))
	case t.Shards != other.Shards:
		return fmt.Sprintf("%d shards against %d", t.Shards, other.Shards)
	case t.Steps != other.Steps:
		return fmt.Sprintf("%d steps against %d", t.Steps, other.Steps)
	case t.Samples != other.Samples:
		return fmt.Sprintf("%d samples against %d", t.Samples, other.Samples)
	case t.Seed != other.Seed:
		return fmt.Sprintf("seed %d against %d", t.Seed, other.Seed)
	case t.LearningRate != other.LearningRate:
		return fmt.Sprintf("learning rate %g against %g", t.LearningRate, other.LearningRate)
	case t.ISA != other.ISA || t.Math != other.Math:
		return fmt.Sprintf("kernels %s %s against %s %s", t.ISA, t.Math, other.ISA, other.Math)
	}
	return ""
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
