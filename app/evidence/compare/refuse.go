package compare

import (
	"fmt"
	"lockstep/app/evidence/stat"
	"math"
	"slices"

	"lockstep/app/record"
)

// changed says what was changed after the results were sealed.
func changed(r *record.Results, _ *Comparison) []string { return r.Broken() }

func incomplete(r *record.Results, _ *Comparison) []string {
	if r.Complete || r.CutShort {
		return nil
	}
	return one("The benchmark was interrupted before its end. Rows have fewer runs than asked for.")
}

func failed(r *record.Results, c *Comparison) []string {
	var out []string
	for i := range c.Groups {
		g := &c.Groups[i]
		for _, l := range g.Lines {
			if n := len(l.Failures); n > 0 {
				out = append(out, fmt.Sprintf("%s: %d of %d runs failed: %s",
					c.name(g, l), n, n+l.OK, l.Failures[0]))
			}
		}
	}
	return out
}

func unequalWork(_ *record.Results, c *Comparison) []string {
	var out []string
	c.lines(func(g *Group, l *Line) {
		if l.Refused != "" && l.Refused != otherLosses { // see otherWork
			out = append(out, fmt.Sprintf("%s did not do the work of %s: %s. "+
				"It gets no speed-up.", c.name(g, l), g.Baseline.Label, l.Refused))
		}
	})
	return out
}

func unequalRuns(_ *record.Results, c *Comparison) []string {
	var out []string
	c.lines(func(g *Group, l *Line) {
		if text := otherRun(l.runs); text != "" {
			out = append(out, fmt.Sprintf("%s mixes unequal work: %s.", c.name(g, l), text))
		}
	})
	names, any := c.where(func(l *Line) bool { return l.Uneven && otherRun(l.runs) == "" })
	if !any {
		return out
	}
	return append(out, fmt.Sprintf("The runs of these rows did different numbers of steps or samples, so "+
		"their medians mix unequal work: %s.", names))
}

// rankSkew refuses ranks that wait for each other and yet differ in time, see [skewOf].
func rankSkew(_ *record.Results, c *Comparison) []string {
	var out []string
	c.lines(func(g *Group, l *Line) {
		if s := l.skew; s != nil && !l.isLoose() {
			out = append(out, fmt.Sprintf("%s is synchronous, yet a step takes rank %d %s and rank %d %s: "+
				"the clocks do not measure the same thing.", c.name(g, l), s.fast, ms(s.fastStep), s.slow,
				ms(s.slowStep)))
		}
	})
	return out
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
	if !RanksDiffer(least, most, 2*longest) {
		return nil
	}
	return &skew{fast, slow, least / float64(n), most / float64(n)}
}

// lossSkew refuses ranks that exchange gradients and yet report different global losses.
func lossSkew(_ *record.Results, c *Comparison) []string {
	isSame := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	names, any := c.where(func(l *Line) bool {
		return !l.isLoose() && slices.ContainsFunc(l.Ranks, func(r RankLine) bool {
			return !slices.EqualFunc(r.Loss, l.Ranks[0].Loss, isSame)
		})
	})
	if !any {
		return nil
	}
	return one("These rows are synchronous, yet their ranks report different losses of one "+
		"global batch, so they do not train one model: %s.", names)
}

func phaseGap(_ *record.Results, c *Comparison) []string {
	var out []string
	c.lines(func(g *Group, l *Line) {
		if gap, isGap := PhaseGap(l.phaseShare, 1); isGap {
			out = append(out, fmt.Sprintf("%s: the phases %s.", c.name(g, l), GapText(gap, "the step time")))
		}
	})
	return out
}

func diverged(_ *record.Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool {
		for _, v := range l.Loss {
			if !stat.IsFinite(v) {
				return true
			}
		}
		return false
	})
	if !any {
		return nil
	}
	return one("The loss is not a number in %s: the training diverged, and its accuracy "+
		"means nothing.", names)
}
