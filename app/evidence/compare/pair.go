package compare

import (
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
	return Pair{a, b, stat.PairedRatio(a.stepByRound, b.stepByRound, g.noise)}
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
		c.Groups[i].noise = ratios[i]
		c.Groups[i].noise.Tests = tests
		for _, l := range c.Groups[i].Lines {
			l.noise = own[i]
		}
	}
}

// rivals returns the lines that findings may rank. They train one model without a lossy wire, had the machine
// to themselves, and do the same work as the baseline or, without a baseline, as the first of them.
func (g *Group) rivals() (out []*Line) {
	reference := g.Baseline
	for _, l := range g.Lines {
		if l.isOther() || !l.isTimed() {
			continue
		}
		if reference == nil {
			reference = l
		}
		if differences(l, reference) == nil {
			out = append(out, l)
		}
	}
	return out
}

// isTimed reports whether the steps of the line say how fast it is.
func (l *Line) isTimed() bool {
	return stat.IsFinite(l.Step.Median) && !l.Uneven && !l.Disturbed
}
