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

func unequalRuns(_ *record.Results, c *Comparison) []finding.Finding {
	return c.ofEach(func(_ *Group, l *Line) finding.Values {
		if !l.Uneven {
			return nil
		}
		return finding.Values{"differences": differencesOfRuns(l.runs)}
	})
}

// rankSkew finds ranks that wait for each other and yet differ in time, see [skewOf].
func rankSkew(_ *record.Results, c *Comparison) []finding.Finding {
	return c.ofEach(func(_ *Group, l *Line) finding.Values {
		if l.skew == nil || l.isLoose() {
			return nil
		}
		return finding.Values{"rank": l.skew.fast, "other rank": l.skew.slow,
			"step": finding.Seconds(l.skew.fastStep), "other step": finding.Seconds(l.skew.slowStep)}
	})
}

// skew is a difference between two ranks of a run: their mean seconds of a step after the first.
type skew struct {
	fast, slow         int
	fastStep, slowStep float64
}

// skewOf returns two ranks whose times differ by more than is possible for ranks that wait for each other;
// nil if there are none. Every exchange synchronizes all ranks, so their total times after the first step
// may differ by at most one step at either end. This tolerance is large in a short run and negligible in a
// long one.
func skewOf(r *record.Run) *skew {
	var fast, slow, n int
	var least, most, longest float64
	for i, rank := range r.Ranks {
		if len(rank.Steps.Seconds) < 2 {
			return nil
		}
		sum := 0.0
		for _, s := range rank.Steps.Seconds[1:] {
			sum += s
			longest = max(longest, s)
		}
		if i == 0 || sum < least {
			fast, least = i, sum
		}
		if i == 0 || sum > most {
			slow, most = i, sum
		}
		n = len(rank.Steps.Seconds) - 1
	}
	if most-least <= skewLimit*least+2*longest {
		return nil
	}
	return &skew{fast, slow, least / float64(n), most / float64(n)}
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

func phaseGaps(_ *record.Results, c *Comparison) []finding.Finding {
	return c.ofEach(func(_ *Group, l *Line) finding.Values {
		gap := 1 - l.phaseShare // negative: the phases are more than the step
		if !stat.IsFinite(gap) || math.Abs(gap) <= phaseLimit {
			return nil
		}
		return finding.Values{"gap": finding.Share(gap)}
	})
}
