package compare

import (
	"cmp"
	"math"
	"slices"
)

// Verdict is what the rounds of a group decide about its rivals.
type Verdict struct {
	Ranked []*Line // rivals, in the order of their speed-ups; nil: there are none
	Tied   []*Line // those that cannot be told from the first, which is one of them
	IsOnce bool    // no two have two rounds in common, so nothing is decided

	IsFaster bool // the rounds tell each of the tied rows from a slower baseline
	IsClose  bool // they tell all tied rows from the first, but perhaps by less than LeastDifference
	Rounds   int  // that a tied row has in common with the first, at most
	Repeats  int  // runs of each row that may decide; 0: it is decided, or more of them hardly will
}

// IsCertain reports whether the rounds tell the first rival from all others.
func (v Verdict) IsCertain() bool { return len(v.Ranked) > 1 && len(v.Tied) == 1 && !v.IsOnce }

// IsOneRun reports whether one run counts of each rival.
func (v Verdict) IsOneRun() bool {
	return !slices.ContainsFunc(v.Ranked, func(l *Line) bool { return l.Measured > 1 })
}

// Verdict decides about the rivals of the group.
func (g *Group) Verdict() Verdict {
	v := Verdict{Ranked: g.ranked(func(*Line) bool { return true })}
	if len(v.Ranked) == 0 {
		return v
	}
	first := v.Ranked[0]
	v.IsOnce = len(v.Ranked) > 1 && !slices.ContainsFunc(g.Pairs, func(p Pair) bool {
		return len(p.Ratio.Values) > 1
	})
	v.Tied = slices.DeleteFunc(slices.Clone(v.Ranked), func(l *Line) bool {
		p := g.Pair(first, l)
		return p.IsDecided() && p.Ratio.Median < 1 && !p.isCopy()
	})
	v.IsFaster, v.IsClose = true, len(v.Tied) > 1
	for _, l := range v.Tied {
		p := g.Pair(first, l)
		v.IsFaster = v.IsFaster && g.isFaster(l)
		if l != first {
			v.IsClose = v.IsClose && p.IsClose() && !p.isCopy()
			v.Rounds = max(v.Rounds, len(p.Ratio.Values))
		}
	}
	if len(v.Tied) > 1 && !v.IsClose && v.Rounds < EnoughRounds || v.IsOnce {
		v.Repeats = EnoughRounds
		if first.OK >= EnoughRounds { // as many were run, and others took cores from some
			v.Repeats = 2 * first.OK
		}
	}
	return v
}

// isFaster reports whether the rounds tell a row from a slower baseline, which is a rival too.
func (g *Group) isFaster(l *Line) bool {
	if l == g.Baseline || !l.Speedup.Known() {
		return false
	}
	p := g.Pair(l, g.Baseline)
	return p.IsDecided() && p.Ratio.Median < 1 && !p.isCopy()
}

// ranked returns the rivals that satisfy is, in the order of the speed-ups that the table shows, in
// hundredths, relative to the baseline if it is a rival and else to another one; then in that of the steps.
func (g *Group) ranked(is func(*Line) bool) []*Line {
	all := g.rivals()
	if len(all) == 0 {
		return nil
	}
	reference := all[0]
	if slices.Contains(all, g.Baseline) {
		reference = g.Baseline
	}
	speedup := func(l *Line) float64 {
		if r := g.Pair(reference, l).Ratio; r.Known() {
			return math.Round(100 * r.Median)
		}
		return math.Round(100 * reference.Step.Median / l.Step.Median) // they have no round in common
	}
	rivals := slices.DeleteFunc(all, func(l *Line) bool { return !is(l) })
	slices.SortStableFunc(rivals, func(a, b *Line) int {
		return cmp.Or(cmp.Compare(speedup(b), speedup(a)), cmp.Compare(a.Step.Median, b.Step.Median))
	})
	return rivals
}

// OnSameCores relates one process to the fastest row of several workers on as many cores: that process is A
// of the pair. It returns false where one of the two is missing.
func (g *Group) OnSameCores() (Pair, bool) {
	several := g.ranked(func(l *Line) bool { return l.Setting.Workers > 1 })
	if len(several) == 0 {
		return Pair{}, false
	}
	best := several[0]
	alone := g.ranked(func(l *Line) bool { return l.Setting.Workers == 1 && l.Cores == best.Cores })
	if len(alone) == 0 {
		return Pair{}, false
	}
	p := g.Pair(likest(alone, best), best)
	return p, p.Ratio.Known()
}

// likest returns the first of some rows that has the options of another one, such as its checkpoints; else
// the first without options, else the first.
func likest(lines []*Line, other *Line) *Line {
	for _, options := range []string{other.Setting.Options, ""} {
		i := slices.IndexFunc(lines, func(l *Line) bool { return l.Setting.Options == options })
		if i >= 0 {
			return lines[i]
		}
	}
	return lines[0]
}
