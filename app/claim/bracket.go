package claim

import (
	"math"
	"regexp"
	"slices"
)

// bracket is an interval written beside a figure: in its cell, or in the columns low and high.
type bracket struct {
	lo, hi float64 // NaN: not written
	half   float64 // half a unit of the last digit of both
}

// intervals objects to intervals whose lower end is above the upper, and to those without their own figure.
func intervals(t *table, say sayer) {
	for i, c := range t.columns {
		if c.kind < samples || c.isAbout() {
			continue
		}
		for _, e := range t.entries {
			for _, r := range e.rows {
				one := t.rows[r][i]
				e.amongRuns(i, one, say)
				for _, b := range t.brackets(i, r) {
					t.bracketed(e, c, one, b, say)
				}
			}
		}
	}
}

// bracketed objects to one interval of a figure.
func (t *table) bracketed(e *entry, c column, one cell, b bracket, say sayer) {
	switch {
	case b.lo > b.hi:
		say(Refused, e.name, "%q: the interval from %s to %s is upside down", c.header,
			e.written(c, b.lo), e.written(c, b.hi))
	case b.distance(one) > 0:
		say(Refused, e.name, "%q is %s, which is not within its own interval from %s to %s", c.header,
			e.written(c, one.value), e.written(c, b.lo), e.written(c, b.hi))
	}
}

// amongRuns objects to an entry's figure in column i that is none of the runs that are listed beside it, nor
// between them, by more than their digits may hide.
func (e *entry) amongRuns(i int, one cell, say sayer) {
	c := e.table.columns[i]
	runs := e.values(c.kind)
	if len(e.rows) > 1 || len(runs) < 2 || i != e.table.column(c.kind) {
		return
	}
	if b := (bracket{slices.Min(runs), slices.Max(runs), one.half}); b.distance(one) > 0.01 {
		say(Refused, e.name, "%q is %s, and its runs reach from %s to %s", c.header, e.written(c, one.value),
			e.written(c, b.lo), e.written(c, b.hi))
	}
}

// noBracket returns an interval without ends.
func noBracket() bracket { return bracket{lo: math.NaN(), hi: math.NaN()} }

// end sets an end of the interval, low or high, if the cell has one.
func (b *bracket) end(k kind, one cell) {
	switch {
	case k == ends && given(one.lo) && given(one.hi):
		b.lo, b.hi, b.half = one.lo, one.hi, one.ends
	case !given(one.value):
	case k == low:
		b.lo, b.half = one.value, max(b.half, one.half)
	case k == high:
		b.hi, b.half = one.value, max(b.half, one.half)
	}
}

// distance returns how far a figure lies outside of the interval, as a share of the figure and the nearer end
// together. It is 0 between the ends and where rounding explains the rest; NaN without a figure or any end.
func (b bracket) distance(one cell) float64 {
	if b.lo > b.hi {
		b.lo, b.hi = b.hi, b.lo
	}
	off := max(b.half, one.half)
	if math.Abs(b.half-one.half) < off/100 {
		off = 0 // rounding alike keeps the order
	}
	var end float64
	switch {
	case !given(one.value) || !given(b.lo) && !given(b.hi):
		return math.NaN()
	case one.value < b.lo-off:
		end = b.lo - off
	case one.value > b.hi+off:
		end = b.hi + off
	default:
		return 0
	}
	return math.Abs(one.value-end) / (math.Abs(one.value) + math.Abs(end))
}

// brackets returns the intervals of the figure in column i of row r.
func (t *table) brackets(i, r int) []bracket {
	row, beside := t.rows[r], noBracket()
	for j, c := range t.columns {
		if c.of == i && !quantiles.MatchString(c.name) && t.isUnitOf(j, i) {
			beside.end(c.kind, row[j])
		}
	}
	out := []bracket{beside}
	if one := row[i]; given(one.lo) && given(one.hi) {
		out = append(out, bracket{one.lo, one.hi, one.ends})
	}
	return out
}

// quantiles are ends between which the mean of skewed figures need not lie.
var quantiles = regexp.MustCompile(`^(p10|p90|q1|q3|iqr|interquartile range)$`)

// isUnitOf reports whether the figures of column j can be ends of those of column i: times of times.
func (t *table) isUnitOf(j, i int) bool {
	_, unit := headingWords(t.columns[j].header)
	return t.columns[i].kind.isTime() || secondsIn(unit) == 0
}
