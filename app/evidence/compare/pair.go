package compare

import (
	"lockstep/app/evidence/stat"
	"slices"
)

// Pair relates two rivals of a group.
type Pair struct {
	A, B  *Line
	Ratio stat.Ratio // step of A / step of B, round by round
	P     float64    // of such a difference between equal rows, corrected for the number of pairs; see [Holm]
}

// IsDecided reports whether the rounds tell the two rows apart: by their probability, and by an interval
// for the median beyond the least difference, which one round that strays cannot decide.
func (p Pair) IsDecided() bool { return p.P < stat.Significance && isBeyond(p.Ratio.Interval) }

// IsClose reports whether the rounds find a difference, but perhaps one below the least.
func (p Pair) IsClose() bool {
	return p.P < stat.Significance && p.Ratio.Known() && !p.Ratio.Interval.Contains(1) && !p.IsDecided()
}

// isCopy reports whether the rows differ in name only. What the runs themselves choose may differ then.
func (p Pair) isCopy() bool { return p.A.original == p.B.original || p.A.Setting == p.B.Setting }

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
				if p.IsTest() {
					all = append(all, p.Ratio.PairedP())
				}
			}
		}
	}
	all = stat.Holm(all)
	for i := range c.Groups {
		for j := range c.Groups[i].Pairs {
			if p := &c.Groups[i].Pairs[j]; p.IsTest() {
				p.P, all = all[0], all[1:]
			}
		}
	}
}

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
		if differences(l, reference) == nil {
			out = append(out, l)
		}
	}
	return out
}

// Why a line is no rival of the others.
const (
	OtherProgram = "another program"
	NoExchange   = "no exchange"
	OtherResult  = "another result"
	TakenCores   = "others took cores"
	UnevenRuns   = "its runs differ"
	FewRounds    = "too few rounds"
	OtherWork    = "other work"
)

// Unranked says why a line is no rival of the others; "" if it is one, or has no run.
func (g *Group) Unranked(l *Line) string {
	switch {
	case l.OK == 0 || slices.Contains(g.rivals(), l):
		return ""
	case l.Setting.Peer != "":
		return OtherProgram
	case l.isFloor():
		return NoExchange
	case l.isOther():
		return OtherResult
	case l.Disturbed:
		return TakenCores
	case l.Uneven:
		return UnevenRuns
	case slices.Contains(g.contenders(), l):
		return FewRounds
	}
	return OtherWork
}

// Pair returns the pair of two rivals, with a as its A.
func (g *Group) Pair(a, b *Line) Pair {
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
