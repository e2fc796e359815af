package check

import (
	"math"
	"slices"

	"lockstep/app/evidence/stat"
)

// speedups tests speed-ups against the times and rates of the same table, whose last row of 1.00 above is
// the baseline.
func speedups(d *Document, say sayer) {
	for _, g := range d.tables() {
		var base *recordOf
		var wrong [][3]*Figure
		isFitting := false // some are of this baseline
		for _, r := range g.records {
			s := r.one(Speedup, "")
			switch {
			case s == nil || s.Value <= 0:
			case s.Value == 1:
				base = r
			case base != nil:
				isFit, a, b := fit(s, base, r, d.slack())
				isFitting = isFitting || isFit
				if !isFit && a != nil {
					wrong = append(wrong, [3]*Figure{a, b, s})
				}
			}
		}
		if !isFitting && len(wrong) > 1 {
			continue
		}
		for _, w := range wrong {
			_, _, mid := ratio(w[0], w[1])
			say(Refuse, "a speed-up is not what the baseline and its own row give",
				"%s against %s is %s, not %s", w[0], w[1], mid, w[2])
		}
	}
}

// fit reports whether a speed-up is the ratio of some time or rate of two records; a and b are the nearest.
func fit(s *Figure, from, to *recordOf, slack float64) (isFit bool, a, b *Figure) {
	least := math.Inf(1)
	for _, q := range []quantity{{Time, Total}, {Time, Epoch}, {Time, Step}, {Time, ""}, {Rate, ""}} {
		x, y := from.one(q.kind, q.scope), to.one(q.kind, q.scope)
		if x == nil || y == nil || x.Value <= 0 || y.Value <= 0 {
			continue
		}
		lo, hi, mid := ratio(x, y)
		if s.overlaps(lo*(1-slack), hi*(1+slack)) {
			return true, x, y
		}
		if gap := math.Abs(math.Log(mid / s.Value)); gap < least {
			least, a, b = gap, x, y
		}
	}
	return false, a, b
}

// sides tests a column that compares two others in the same row: a speed-up or a percentage.
func sides(d *Document, say sayer) {
	for _, g := range d.groups {
		if g.table == nil {
			continue
		}
		for _, row := range g.table.figures[1:] {
			var works, compared []*Figure
			for _, f := range slices.Concat(row...) {
				switch {
				case isCompared(f.Column) && (f.Kind == Speedup || f.Kind == Change):
					compared = append(compared, f)
				case !isCompared(f.Column) && (f.Kind == Time || f.Kind == Rate) && !f.isEnd:
					works = append(works, f)
				}
			}
			works = slices.CompactFunc(works, func(a, b *Figure) bool { return a.Column == b.Column })
			if len(works) == 2 && len(compared) == 1 && works[0].Kind == works[1].Kind &&
				works[0].Scope == works[1].Scope {
				side(say, works[0], works[1], compared[0], d.slack())
			}
		}
	}
}

// side tests a speed-up, or a percentage of time saved or of speed gained, in either direction.
func side(say sayer, a, b, c *Figure, slack float64) {
	lo, hi, mid := ratio(a, b)
	is := func(x, y float64) bool {
		x, y = math.Abs(x), math.Abs(y)
		return c.overlaps(min(x, y)-slack, max(x, y)+slack) || c.overlaps(-max(x, y)-slack, slack-min(x, y))
	}
	faster, less := is(lo-1, hi-1) || is(1/hi-1, 1/lo-1), is(1-1/lo, 1-1/hi) || is(1-lo, 1-hi)
	switch {
	case mid <= 0 || c.Value == 0:
	case c.Kind == Speedup && !is(lo, hi) && !is(1/hi, 1/lo):
		say(Refuse, "a speed-up is not the ratio of the two figures beside it", "%s against %s is %s, not %s",
			a, b, mid, c)
	case c.Kind == Change && !faster && !less:
		say(Refuse, "a percentage is not that of the two figures beside it",
			"%s against %s is %s more speed or %s less time, not %s", a, b, percent(mid-1), percent(1-1/mid),
			c)
	case c.Kind == Change && c.isFaster && mid > 1 && a.Kind == Time && !is(lo-1, hi-1):
		say(Warn, "less time is called faster", "%s to %s is %s less time, and %s faster, not %s", a, b,
			percent(1-1/mid), percent(mid-1), c)
	}
}

// beyond warns of speed-ups beyond the workers that another table tells.
func beyond(d *Document, say sayer) {
	for _, r := range d.joined() {
		w := r.one(Workers, "")
		for _, f := range r.compared {
			if lo, _ := f.within(); w != nil && w.Value > 1 && f.Kind == Speedup && lo >= w.Value {
				say(Warn, "a speed-up of more than its workers", "%s, more than %s", f, w)
			}
		}
	}
}

// extrapolated tests projected speed-ups against what the smallest measured one leaves by Amdahl's law.
func extrapolated(d *Document, say sayer) {
	measured := map[*recordOf]*Figure{}
	for _, j := range d.joined() {
		for _, f := range j.figures {
			for _, r := range j.rows {
				if f.Kind == Speedup && !f.isGuess && measured[r] == nil {
					measured[r] = f
				}
			}
		}
	}
	for _, g := range d.tables() {
		var base, at *Figure
		for _, r := range g.records {
			s, w := r.one(Speedup, ""), r.one(Workers, "")
			if s == nil || w == nil || w.Value < 2 || s.Value <= 1 {
				continue
			}
			if base == nil {
				if base, at = measured[r], w; base == nil {
					break
				}
				continue
			}
			_, hi := base.within()
			limit := stat.Amdahl(max(0, stat.KarpFlatt(hi, at.Value)), w.Value)
			if lo, _ := s.within(); s.isGuess && w.Value > at.Value && lo > 1.02*limit {
				say(Warn, "a projection beyond what a smaller speed-up leaves",
					"%s at %s workers leaves at most %s at %s, not %s", base, at.Value, limit, w.Value, s)
			}
		}
	}
}
