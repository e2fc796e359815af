package compare

import (
	"math"
	"slices"

	"lockstep/app/evidence/finding"
	"lockstep/app/evidence/stat"
	"lockstep/app/record"
)

func changed(r *record.Results, _ *Comparison) []finding.Finding { return found(r.IsChanged, nil) }

func incomplete(r *record.Results, _ *Comparison) []finding.Finding {
	return found(!r.Complete && !r.CutShort, nil)
}

func failed(_ *record.Results, c *Comparison) (out []finding.Finding) {
	for i := range c.Groups {
		for _, l := range c.Groups[i].Lines {
			if n := len(l.Failures); n > 0 {
				out = append(out, finding.Finding{Rows: []string{c.name(&c.Groups[i], l)},
					Values: finding.Values{"failed": n, "runs": n + l.OK, "cause": l.Failures[0]}})
			}
		}
	}
	return out
}

func unequalWork(_ *record.Results, c *Comparison) []finding.Finding {
	return c.ofEach(func(g *Group, l *Line) finding.Values {
		if l.Refused == nil || l.Refused[0].Name == otherLosses { // see otherWork
			return nil
		}
		return finding.Values{"baseline": g.Baseline.Label, "differences": l.Refused}
	})
}

// hasParted reports whether ranks that exchange gradients report different losses of one global batch.
func (l *Line) hasParted() bool {
	isSame := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	return !l.isLoose() && slices.ContainsFunc(l.Ranks, func(r RankLine) bool {
		return !slices.EqualFunc(r.Loss, l.Ranks[0].Loss, isSame)
	})
}

// hasDiverged reports whether a loss is no number.
func (l *Line) hasDiverged() bool {
	return slices.ContainsFunc(l.Loss, func(v float64) bool { return !stat.IsFinite(v) })
}
