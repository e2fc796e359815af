package analysis

import (
	"fmt"
	"math"
	"slices"
)

// Thresholds of the refusals.
const (
	skewLimit  = 0.10 // relative difference of step times between ranks that wait for each other
	phaseLimit = 0.02 // relative gap between the sum of the phases and the step
)

func incomplete(r *Results, _ *Comparison) []string {
	if r.Complete {
		return nil
	}
	return one("The benchmark was stopped before its end. Rows have fewer runs than asked for.")
}

func failed(r *Results, c *Comparison) []string {
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

func unequalWork(_ *Results, c *Comparison) []string {
	var out []string
	c.lines(func(g *Group, l *Line) {
		if l.Refused != "" {
			out = append(out, fmt.Sprintf("%s did not do the work of %s: %s. "+
				"It gets no speed-up.", c.name(g, l), g.Baseline.Label, l.Refused))
		}
	})
	return out
}

func unequalRuns(_ *Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool { return l.Uneven })
	if !any {
		return nil
	}
	return one("The runs of these rows did different numbers of steps or samples, so their "+
		"medians mix unequal work: %s.", names)
}

func rankSkew(_ *Results, c *Comparison) []string {
	var out []string
	c.lines(func(g *Group, l *Line) {
		if l.Setting.Strategy == "none" || len(l.Ranks) < 2 {
			return
		}
		lo, hi := l.Ranks[0], l.Ranks[0]
		for _, rank := range l.Ranks {
			if rank.Step < lo.Step {
				lo = rank
			}
			if rank.Step > hi.Step {
				hi = rank
			}
		}
		if hi.Step > lo.Step*(1+skewLimit) {
			out = append(out, fmt.Sprintf("%s is synchronous, yet a step takes rank %d %.3g ms "+
				"and rank %d %.3g ms: the clocks do not measure the same thing.",
				c.name(g, l), lo.Rank, 1e3*lo.Step, hi.Rank, 1e3*hi.Step))
		}
	})
	return out
}

// lossSkew refuses ranks that exchange gradients and yet report different global losses.
func lossSkew(_ *Results, c *Comparison) []string {
	isSame := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	names, any := c.where(func(l *Line) bool {
		return l.Setting.Strategy != "none" && slices.ContainsFunc(l.Ranks, func(r RankLine) bool {
			return !slices.EqualFunc(r.Loss, l.Ranks[0].Loss, isSame)
		})
	})
	if !any {
		return nil
	}
	return one("These rows are synchronous, yet their ranks report different losses of one "+
		"global batch, so they do not train one model: %s.", names)
}

func phaseGap(_ *Results, c *Comparison) []string {
	var out []string
	c.lines(func(g *Group, l *Line) {
		gap := l.phaseGap
		if finite(gap) && math.Abs(gap) > phaseLimit {
			out = append(out, fmt.Sprintf("%s: the phases miss %s of the step time.",
				c.name(g, l), percent(gap)))
		}
	})
	return out
}

func diverged(_ *Results, c *Comparison) []string {
	names, any := c.where(func(l *Line) bool {
		for _, v := range l.Loss {
			if !finite(v) {
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
