package question

import (
	"cmp"
	"math"
	"slices"

	"lockstep/app/evidence/compare"
	"lockstep/app/explain"
	"lockstep/app/strategy"
)

// Quantities that are no figure of a row but compare all rows of its group.
const (
	Why     = "why"     // what makes each slower row slower than the fastest
	Balance = "balance" // what each row saves of the baseline's computation, and what it pays
)

// IsOfRows reports whether a quantity compares all rows of a group by what their steps are made of.
func IsOfRows(quantity string) bool { return quantity == Why || quantity == Balance }

// Cause is what the difference of a row's step from that of another is made of.
type Cause struct {
	Line, Than *compare.Line
	*explain.Explanation
}

// Saved returns the milliseconds of a step that a row computes less, and Paid those that all else takes more:
// the difference is Paid less Saved.
func (c Cause) Saved() float64 {
	saved := 0.0
	for _, t := range c.Terms {
		if t.Cost() == explain.Work {
			saved -= t.MS
		}
	}
	return saved
}

// Paid is explained at [Cause.Saved].
func (c Cause) Paid() float64 { return c.DifferenceMS + c.Saved() }

// causes explains the rows of the group that a line is in by their recorded runs: those of [Why] the slowest
// first, those of [Balance] the one that gains most. Floors and rows of other programs, or without steps
// enough, are left out.
func causes(quantity string, c *compare.Comparison, l *compare.Line) (all []Cause) {
	at := slices.IndexFunc(c.Groups, func(g compare.Group) bool { return slices.Contains(g.Lines, l) })
	lines := slices.DeleteFunc(slices.Clone(c.Groups[at].Lines), func(l *compare.Line) bool {
		return l.OK == 0 || l.Setting.Peer != "" || strategy.Named(l.Setting.Strategy).IsFloor &&
			l.Setting.Workers > 1
	})
	than := c.Groups[at].Baseline
	if quantity == Why && len(lines) > 0 {
		than = slices.MinFunc(lines, func(a, b *compare.Line) int {
			return cmp.Compare(a.Step.Median, b.Step.Median)
		})
	}
	for _, line := range lines {
		if than == nil || line == than {
			continue
		}
		e, err := explain.Decompose(sideOf(than), sideOf(line))
		isSlower := quantity != Why || err == nil && e.DifferenceMS > 0
		if err == nil && isSlower && !math.IsNaN(e.DifferenceMS) {
			all = append(all, Cause{line, than, e})
		}
	}
	slices.SortStableFunc(all, func(a, b Cause) int {
		if quantity == Why {
			a, b = b, a
		}
		return cmp.Compare(a.DifferenceMS, b.DifferenceMS)
	})
	return all
}

func sideOf(l *compare.Line) explain.Side { return explain.NewSide(l.Label, l.Record()) }
