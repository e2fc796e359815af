package compare

import (
	"fmt"
	"lockstep/app/evidence/stat"
	"slices"
	"strings"

	"lockstep/app/record"
)

// Pair relates two rivals of a group.
type Pair struct {
	A, B  *Line
	Ratio stat.Ratio // step of A / step of B, round by round
	P     float64    // of such a difference between equal rows, corrected for the number of pairs; see [Holm]
}

// IsDecided reports whether the rounds tell the two rows apart: by their probability, and by an interval
// for the median beyond the least difference, which one round that strays cannot decide.
func (p Pair) IsDecided() bool { return p.P < stat.Significance && IsBeyond(p.Ratio.Interval, 0) }

// isClose reports whether the rounds find a difference, but perhaps one below the least.
func (p Pair) isClose() bool {
	return p.P < stat.Significance && p.Ratio.Known() && !p.Ratio.Interval.Contains(1) && !p.IsDecided()
}

// isCopy reports whether the rows differ in name only. What the runs themselves choose may differ then.
func (p Pair) isCopy() bool { return p.A.original == p.B.original || p.A.Setting == p.B.Setting }

// won returns the number of rounds in which A's step was the shorter.
func (p Pair) won() int {
	won := 0
	for _, v := range p.Ratio.Values {
		if v < 1 {
			won++
		}
	}
	return won
}

// EnoughRounds is the number of rounds from which on those with one winner can decide between two rows.
const EnoughRounds = 6

// doubt says of two rows whose rounds agree on a winner why they are not told apart: too few rounds, or too
// small a difference.
func (p Pair) doubt() string {
	if p.isClose() && !p.isCopy() {
		return "; " + TooClose()
	}
	won, rounds := p.won(), len(p.Ratio.Values)
	isOneWinner := rounds > 1 && (won == 0 || won == rounds)
	if !isOneWinner || rounds >= EnoughRounds || p.isCopy() || p.IsDecided() {
		return ""
	}
	word := []string{2: "two", 3: "three", 4: "four", 5: "five"}[rounds]
	if left := p.left(); left > 0 {
		return fmt.Sprintf("; %s rounds, as others took cores in %d more, are too few for that; --repeats %d",
			word, left, p.A.moreRepeats())
	}
	return fmt.Sprintf("; %s rounds are too few for that; --repeats %d", word, p.A.moreRepeats())
}

// moreRepeats returns how many repeats may decide where those of the line did not: enough or, if as many were
// run and others took cores from some, twice those.
func (l *Line) moreRepeats() int {
	if l.OK >= EnoughRounds {
		return 2 * l.OK
	}
	return EnoughRounds
}

// left returns in how many rounds both rows have a run and others took cores from one of them, so that the
// ratio leaves the round out.
func (p Pair) left() int {
	left := -len(p.Ratio.Values)
	for _, a := range p.A.runs {
		if slices.ContainsFunc(p.B.runs, func(b *record.Run) bool { return a.Round == b.Round }) {
			left++
		}
	}
	return left
}

// pair fills the groups' pairs. Pairs with fewer than two rounds in common are no tests, so the others are
// not corrected for them.
func (c *Comparison) pair() {
	var all []float64
	for i := range c.Groups {
		g := &c.Groups[i]
		rivals := g.rivals()
		g.pairAt = map[[2]*Line]int{}
		for j, a := range rivals {
			for _, b := range rivals[:j] {
				p := Pair{A: b, B: a, Ratio: pairedRatio(b, a), P: 1}
				g.pairAt[[2]*Line{b, a}] = len(g.Pairs)
				g.Pairs = append(g.Pairs, p)
				if p.isTest() {
					all = append(all, p.Ratio.PairedP())
				}
			}
		}
	}
	all = stat.Holm(all)
	for i := range c.Groups {
		for j := range c.Groups[i].Pairs {
			if p := &c.Groups[i].Pairs[j]; p.isTest() {
				p.P, all = all[0], all[1:]
			}
		}
	}
}

// isTest reports whether the rows have rounds enough in common for a test.
func (p Pair) isTest() bool { return len(p.Ratio.Values) >= stat.LeastRounds }

// rivals returns the lines that findings may rank. They train one model without a lossy wire, had the machine
// to themselves, and do the same work as the baseline or, without a baseline, as the first of them. One that
// has lost most of its rounds is left out: it cannot be told from any other, and would hide what they show.
func (g *Group) rivals() []*Line {
	all := g.contenders()
	return slices.DeleteFunc(slices.Clone(all), func(l *Line) bool { return isThin(l, all) })
}

// isThin reports whether a row has one or two rounds where at least two others have enough to tell them
// apart, and twice as many.
func isThin(l *Line, all []*Line) bool {
	more := 0
	for _, o := range all {
		if o.Measured >= max(3, 2*l.Measured) {
			more++
		}
	}
	return l.Measured <= 2 && more >= 2
}

// thin says which rows are not ranked because they have too few rounds; "" if there are none.
func (g *Group) thin() string {
	var parts []string
	all := g.contenders()
	for _, l := range all {
		if !isThin(l, all) {
			continue
		}
		rounds, kind := "one", "successful round"
		if l.Measured < l.OK {
			kind = "undisturbed round"
		}
		if l.Measured == 2 {
			rounds, kind = "two", kind+"s"
		}
		parts = append(parts, fmt.Sprintf("%s has %s %s: not ranked", l.Label, rounds, kind))
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, "; ") + "."
}

// contenders are the rivals before those are left out that have too few rounds.
func (g *Group) contenders() []*Line {
	reference := g.Baseline
	var out []*Line
	for _, l := range g.Lines {
		if l.isOther() || !stat.IsFinite(l.Step.Median) || l.Uneven || l.Disturbed {
			continue
		}
		if reference == nil {
			reference = l
		}
		if difference(l, reference) == "" {
			out = append(out, l)
		}
	}
	return out
}

// Unranked says why a line is no rival of the others; "" if it is one, or has no run.
func (g *Group) Unranked(l *Line) string {
	switch {
	case l.OK == 0 || slices.Contains(g.rivals(), l):
		return ""
	case l.Setting.Peer != "":
		return "another program"
	case l.strategy().IsFloor:
		return "no exchange"
	case l.isOther():
		return "another result"
	case l.Disturbed:
		return "others took cores"
	case l.Uneven:
		return "its runs differ"
	case slices.Contains(g.contenders(), l):
		return "too few rounds"
	}
	return "other work"
}

// pairOf returns the pair of two rivals, with a as its A.
func (g *Group) pairOf(a, b *Line) Pair {
	if i, isThere := g.pairAt[[2]*Line{a, b}]; isThere {
		return g.Pairs[i]
	}
	if i, isThere := g.pairAt[[2]*Line{b, a}]; isThere {
		return Pair{A: a, B: b, P: g.Pairs[i].P, Ratio: pairedRatio(a, b)}
	}
	return Pair{A: a, B: b, P: 1, Ratio: stat.PairedRatio(nil, nil, 0)}
}

// pairedRatio returns step of a / step of b.
func pairedRatio(a, b *Line) stat.Ratio {
	return stat.PairedRatio(a.stepByRound, b.stepByRound, max(a.correlation, b.correlation))
}
