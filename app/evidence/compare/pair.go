package compare

import (
	"cmp"
	"slices"

	"lockstep/app/evidence/stat"
)

// Pair relates two lines of equal work by step of A / step of B, round by round. They are told apart if the
// interval of that ratio leaves out 1.
type Pair struct {
	A, B *Line
	stat.Ratio
}

// isCopy reports whether the rows differ in name only. What the runs themselves choose may differ then.
func (p Pair) isCopy() bool { return p.A.original == p.B.original || p.A.Setting == p.B.Setting }

// Pair returns the pair of two lines. The intervals of all pairs of rivals and peers of the benchmark hold
// together.
func (g *Group) Pair(a, b *Line) Pair {
	return Pair{a, b, stat.PairedRatio(a.stepByRound, b.stepByRound, g.Noise)}
}

// Pairs returns each two rivals once.
func (g *Group) Pairs() (pairs []Pair) {
	for i, b := range g.Rivals {
		for _, a := range g.Rivals[:i] {
			pairs = append(pairs, g.Pair(a, b))
		}
	}
	return pairs
}

// measureNoise estimates from all lines that have rounds enough how the rounds of the groups vary, and counts
// what is compared.
func (c *Comparison) measureNoise() {
	groups, tests := make([][][]float64, len(c.Groups)), 0
	for i := range c.Groups {
		g := &c.Groups[i]
		for _, l := range g.Lines {
			if l.RunMedian.N >= stat.LeastRounds && !l.Disturbed {
				groups[i] = append(groups[i], l.stepByRound)
			}
		}
		compared := slices.Concat(g.Rivals, g.peers())
		for j, a := range g.Rivals {
			for _, b := range compared[j+1:] {
				if len(g.Pair(a, b).Values) >= stat.LeastRounds {
					tests++
				}
			}
		}
	}
	own, ratios := stat.NoiseOf(groups)
	for i := range c.Groups {
		c.Groups[i].Noise = ratios[i]
		c.Groups[i].Noise.Tests = tests
		for _, l := range c.Groups[i].Lines {
			l.Noise = own[i]
		}
	}
}

// rivals returns the lines that findings may rank. They train one model without a lossy wire, had the machine
// to themselves, and do the same work as the baseline or, without a baseline, as the first of them. A median
// step has no checkpoint in it, so those with checkpoints are no rivals of those without.
func (g *Group) rivals() (out []*Line) {
	reference := g.Baseline
	for _, l := range g.Lines {
		if l.isOther() || !l.isTimed() {
			continue
		}
		if reference == nil {
			reference = l
		}
		if differences(l, reference) == nil && l.hasCheckpoints() == reference.hasCheckpoints() {
			out = append(out, l)
		}
	}
	return out
}

// hasCheckpoints reports whether the line's runs wrote checkpoints.
func (l *Line) hasCheckpoints() bool { return len(l.runs) > 0 && l.runs[0].Checkpoints != nil }

// isTimed reports whether the steps of the line say how fast it is.
func (l *Line) isTimed() bool {
	return stat.IsFinite(l.Step.Median) && !l.Uneven && !l.Disturbed
}

// EnoughRounds is the number of rounds from which on they often decide between two rows.
const EnoughRounds = 6

// Verdict is what the rounds of a group decide about its rivals.
type Verdict struct {
	Ranked []*Line // rivals, in the order of their speed-ups; nil: there are none
	Tied   []*Line // those that cannot be told from the first, which is one of them
	Faster []*Line // of the tied those that are told from a slower baseline
	Rounds int     // that a rival has in common with the first, at most

	IsUnanimous bool // every round has the first before each of the tied
}

// IsCertain reports whether the rounds tell the first rival from all others.
func (v Verdict) IsCertain() bool { return len(v.Ranked) > 1 && len(v.Tied) == 1 }

// Verdict decides about the rivals of the group.
func (g *Group) Verdict() Verdict {
	v := Verdict{Ranked: g.ranked(g.Rivals), IsUnanimous: true}
	for i, l := range v.Ranked {
		p := g.Pair(v.Ranked[0], l)
		if i > 0 {
			v.Rounds = max(v.Rounds, len(p.Values))
		}
		if p.IsDecided() && p.Median < 1 {
			continue
		}
		v.Tied = append(v.Tied, l)
		v.IsUnanimous = v.IsUnanimous && (i == 0 || p.IsUnanimous() && p.Median < 1)
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
