package usage

import (
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
	"lockstep/app/strategy"
)

// Part is what a phase of a step takes of a row and of another, in seconds.
type Part struct {
	Phase     string
	One, More float64
	Saved     float64 // its part of all that is saved; below 0: it takes more
}

// Parts divides what the fastest row of several workers saves of the step of the group's baseline by phase.
// Phases that take less than half a thousandth of a step are left out. The row is nil if there is none.
func Parts(g *compare.Group) (row *compare.Line, parts []Part) {
	ranked := slices.DeleteFunc(slices.Clone(g.Verdict().Ranked),
		func(l *compare.Line) bool { return l.Setting.Workers == 1 })
	if g.Baseline == nil || len(ranked) == 0 || g.Baseline.Phases == nil || ranked[0].Phases == nil {
		return nil, nil
	}
	all, one, more := 0.0, g.Baseline.Phases, ranked[0].Phases
	for i := range one {
		all += one[i] - more[i]
	}
	for i, name := range compare.Phases() {
		if max(one[i], more[i]) >= 5e-4*g.Baseline.Step.Median {
			parts = append(parts, Part{name, one[i], more[i], (one[i] - more[i]) / all})
		}
	}
	return ranked[0], parts
}

// Batches returns the rows of a comparison that differ in their global batch alone, by batch: of several such
// lists the longest; nil if no two rows do. Floors and rows of other programs are left out.
func Batches(c *compare.Comparison) (longest []*compare.Line) {
	like := map[record.Setting][]*compare.Line{}
	for i := range c.Groups {
		for _, l := range c.Groups[i].Lines {
			s := l.Setting
			if l.OK == 0 || s.Peer != "" || s.PerWorker > 0 || strategy.Named(s.Strategy).IsFloor {
				continue
			}
			s.Batch, s.Shards, s.Steps, s.Algorithm = 0, 0, 0, ""
			isThere := slices.ContainsFunc(like[s], func(o *compare.Line) bool {
				return o.Setting.Batch == l.Setting.Batch
			})
			if isThere {
				continue
			}
			if like[s] = append(like[s], l); len(like[s]) > max(1, len(longest)) {
				longest = like[s]
			}
		}
	}
	longest = slices.Clone(longest)
	slices.SortFunc(longest, func(a, b *compare.Line) int { return a.Setting.Batch - b.Setting.Batch })
	return longest
}
