package compare

import (
	"cmp"
	"slices"
)

// EnoughRounds is the number of rounds from which on they often decide between two rows.
const EnoughRounds = 6

// Verdict is what the rounds of a group decide about its rivals.
type Verdict struct {
	Ranked []*Line // rivals, in the order of their speed-ups; nil: there are none
	Tied   []*Line // those that cannot be told from the first, which is one of them
	Faster []*Line // of the tied those that are told from a slower baseline
	Rounds int     // that a rival has in common with the first, at most
}

// IsCertain reports whether the rounds tell the first rival from all others.
func (v Verdict) IsCertain() bool { return len(v.Ranked) > 1 && len(v.Tied) == 1 }

// Verdict decides about the rivals of the group.
func (g *Group) Verdict() Verdict {
	v := Verdict{Ranked: g.ranked(g.Rivals)}
	for i, l := range v.Ranked {
		p := g.Pair(v.Ranked[0], l)
		if i > 0 {
			v.Rounds = max(v.Rounds, len(p.Values))
		}
		if p.IsDecided() && p.Median < 1 {
			continue
		}
		v.Tied = append(v.Tied, l)
		if l != g.Baseline && l.Speedup.IsDecided() && l.Speedup.Median > 1 {
			v.Faster = append(v.Faster, l)
		}
	}
	return v
}

// ranked returns rivals in the order of their speed-ups, relative to the baseline or, without one, to the
// first of them; then in that of their steps.
func (g *Group) ranked(rivals []*Line) []*Line {
	speedup := func(l *Line) float64 {
		reference := cmp.Or(g.Baseline, g.Rivals[0])
		if r := g.Pair(reference, l); r.Known() {
			return r.Median
		}
		return reference.Step.Median / l.Step.Median // they have no round in common
	}
	rivals = slices.Clone(rivals)
	slices.SortStableFunc(rivals, func(a, b *Line) int {
		return cmp.Or(cmp.Compare(speedup(b), speedup(a)), cmp.Compare(a.Step.Median, b.Step.Median))
	})
	return rivals
}

// OnSameCores relates one process to the fastest row of several workers on as many cores: that process is A
// of the pair. It returns false where one of the two is missing.
func (g *Group) OnSameCores() (Pair, bool) {
	ranked := g.ranked(g.Rivals)
	several := slices.IndexFunc(ranked, func(l *Line) bool { return l.Setting.Workers > 1 })
	if several < 0 {
		return Pair{}, false
	}
	best := ranked[several]
	alone := slices.IndexFunc(ranked, func(l *Line) bool {
		return l.Setting.Workers == 1 && l.Cores == best.Cores && l.Setting.Options == best.Setting.Options
	})
	if alone < 0 {
		return Pair{}, false
	}
	p := g.Pair(ranked[alone], best)
	return p, p.Known()
}
