package analysis

import (
	"fmt"
	"strings"
)

// Findings states in plain sentences what the rows of the group show, and no more than they
// show: a difference is claimed only where every round of at least two agrees on its sign.
func (g *Group) Findings() []string {
	var out []string
	if text := g.fastest(); text != "" {
		out = append(out, text)
	}
	if text := g.processes(); text != "" {
		out = append(out, text)
	}
	if text := g.exchange(); text != "" {
		out = append(out, text)
	}
	return out
}

// processes relates the fastest line of several workers to single on the same cores.
func (g *Group) processes() string {
	best := g.best(func(l *Line) bool { return l.Setting.Workers > 1 })
	if best == nil {
		return ""
	}
	for _, l := range g.Lines {
		if l.Setting.Strategy != "single" || l.Cores() != best.Cores() || !l.Speedup.Known() {
			continue
		}
		r := PairedRatio(l.stepByRound, best.stepByRound)
		if !r.decided() {
			return fmt.Sprintf("On the same %d cores, %s and one process (%s) are not shown to "+
				"differ: %s.", best.Cores(), best.Label, l.Label, times(r))
		}
		return fmt.Sprintf("On the same %d cores, %s is %s as fast as one process (%s).",
			best.Cores(), best.Label, times(r), l.Label)
	}
	return ""
}

// best returns the line with the largest speed-up among those that train one model without a loss on
// the wire, are not the baseline and satisfy is; nil if there is none.
func (g *Group) best(is func(*Line) bool) *Line {
	var best *Line
	for _, l := range g.Lines {
		trains := l != g.Baseline && l.Setting.Strategy != "none" && !l.Setting.IsLossy &&
			l.Speedup.Known() && is(l)
		if trains && (best == nil || l.Speedup.Median > best.Speedup.Median) {
			best = l
		}
	}
	return best
}

// fastest relates the line with the shortest step among those that train one model and got a
// ratio to the baseline.
func (g *Group) fastest() string {
	best := g.best(func(*Line) bool { return true })
	if best == nil {
		return ""
	}
	r, base, tail := best.Speedup, g.Baseline.Label, ""
	if best.Contended {
		tail = " It has more workers × threads than there are cores: contention, not scaling."
	}
	if len(r.Values) == 1 {
		return fmt.Sprintf("One run of each row decides nothing; in it, the largest speed-up over "+
			"%s is %s, of %s.%s", base, times(r), best.Label, tail)
	}
	if !r.decided() {
		return fmt.Sprintf("No way of training is shown to be faster than %s: the largest "+
			"speed-up, %s of %s, does not hold in every round.", base, times(r), best.Label)
	}
	if r.Median < 1 {
		return fmt.Sprintf("No way of training is faster than %s; the nearest, %s, reaches %s of "+
			"its speed.",
			base, best.Label, times(r))
	}
	text := fmt.Sprintf("%s has the shortest step: %.3g ms, %s as fast as %s", best.Label,
		1e3*best.Step.Median, times(r), base)
	if best.Efficiency.Known() {
		text += fmt.Sprintf(", %s per core", percent(best.Efficiency.Median))
	}
	return text + "." + tail
}

// exchange relates the lines to the floor, the same workers without exchange.
func (g *Group) exchange() string {
	var parts []string
	for _, l := range g.Lines {
		if l.OverFloor.Known() {
			parts = append(parts, fmt.Sprintf("%s %s", l.Label, times(l.OverFloor)))
		}
	}
	if parts == nil {
		return ""
	}
	return "Step time relative to the same workers without exchange: " +
		strings.Join(parts, ", ") + "."
}

// decided reports whether every one of at least two pairs lies on the same side of 1.
func (r Ratio) decided() bool {
	lo, hi := r.Interval.Lo, r.Interval.Hi
	return len(r.Values) > 1 && (lo > 1 || hi < 1)
}

// times writes a ratio with its interval: "1.72× (1.69–1.75)".
func times(r Ratio) string {
	if r.Interval.Coverage == 0 {
		return fmt.Sprintf("%.2f×", r.Median)
	}
	return fmt.Sprintf("%.2f× (%.2f–%.2f)", r.Median, r.Interval.Lo, r.Interval.Hi)
}
