package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/app/evidence/stat"
)

// speedups tests speed-ups against the times and rates of the same table, whose last row of 1.00 above is
// the baseline.
func speedups(d *Document, say sayer) {
	for _, g := range d.tables() {
		var base *recordOf
		var wrong [][]*Figure
		fitting := 0
		for _, r := range g.records {
			s := r.one(Speedup, "")
			switch {
			case s == nil || s.Value <= 0:
				continue
			case s.Value == 1:
				base = r
				continue
			case base == nil:
				continue
			}
			if isFit, a, b := fit(s, base, r, d.slack()); isFit {
				fitting++
			} else if a != nil {
				wrong = append(wrong, []*Figure{s, a, b})
			}
		}
		if fitting == 0 && len(wrong) > 1 {
			continue // of another baseline
		}
		for _, w := range wrong {
			_, _, mid := ratio(w[1], w[2])
			say(Refuse, "a speed-up is not what the baseline and its own row give",
				fmt.Sprintf("%s against %s is %s, not %s", w[1].Text, w[2].Text, num(mid), w[0].Text), w...)
		}
	}
}

// slack is how far a ratio may be off beside its rounding; ratios of medians are not medians of ratios.
func (d *Document) slack() float64 {
	if d.repeated {
		return 0.1
	}
	return 0.01
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
		say(Refuse, "a speed-up is not the ratio of the two figures beside it",
			fmt.Sprintf("%s against %s is %s, not %s", a.Text, b.Text, num(mid), c.Text), c, a, b)
	case c.Kind == Change && !faster && !less:
		say(Refuse, "a percentage is not that of the two figures beside it", fmt.Sprintf(
			"%s against %s is %s more speed or %s less time, not %s", a.Text, b.Text, percent(mid-1),
			percent(1-1/mid), c.Text), c, a, b)
	case c.Kind == Change && c.isFaster && mid > 1 && a.Kind == Time && !is(lo-1, hi-1):
		say(Warn, "less time is called faster", fmt.Sprintf("%s to %s is %s less time, and %s faster",
			a.Text, b.Text, percent(1-1/mid), percent(mid-1)), c, a, b)
	}
}

// nearLines is how far below a stated fraction the speed-ups of its law are listed.
const nearLines = 25

// laws tests speed-ups that follow from a stated fraction by Amdahl's or Gustafson's law.
func laws(d *Document, say sayer) {
	for _, p := range d.Figures {
		about := strings.ToLower(p.Section + p.Row)
		isAmdahl := strings.Contains(about, "amdahl")
		isFraction := (p.Kind == Parallel || p.Kind == Serial) && p.Value > 0 && p.Value < 1
		if !isFraction || isAmdahl == strings.Contains(about, "gustafson") {
			continue
		}
		law := func(v, workers float64) float64 {
			if p.Kind == Parallel {
				v = 1 - v
			}
			if isAmdahl {
				return stat.Amdahl(v, workers)
			}
			return workers - v*(workers-1)
		}
		for _, r := range d.rows() {
			w, i := r.workers(), slices.IndexFunc(r.figures,
				func(f *Figure) bool { return f.Kind == Speedup })
			if i < 0 || w == nil || w.Value < 2 || r.figures[i].Place.Line-p.Place.Line != min(nearLines,
				max(0, r.figures[i].Place.Line-p.Place.Line)) {
				continue
			}
			a, b := law(p.Value-p.Half, w.Value), law(p.Value+p.Half, w.Value)
			for _, f := range r.figures[i+1:] {
				if lo, _ := f.within(); f.Kind == Speedup && f.upTo == nil && !f.isEnd && lo > max(a, b) {
					say(Warn, "a speed-up above what the law allows",
						fmt.Sprintf("%s at %g workers gives %s, "+
							"and %s is more", p.Text, w.Value, num(law(p.Value, w.Value)), f.Text), f, p)
				}
			}
			if s := r.figures[i]; !s.overlaps(min(a, b), max(a, b)) {
				say(Refuse, "a speed-up is not what the law gives of the fraction", fmt.Sprintf(
					"%s at %g workers gives %s, not %s", p.Text, w.Value, num(law(p.Value, w.Value)),
					s.Text), s, p)
			}
		}
	}
}

// unequal tests that the totals of one table hold as many epochs.
func unequal(d *Document, say sayer) {
	for _, g := range d.tables() {
		var few, many []*Figure
		n := func(f []*Figure) float64 { return f[0].Value / f[1].Value }
		for _, r := range g.records {
			f := []*Figure{r.one(Time, Total), r.one(Time, Epoch)}
			if f[0] == nil || f[1] == nil || f[1].Value <= 0 || n(f) < 0.98 {
				continue
			}
			if few == nil || n(f) < n(few) {
				few = f
			}
			if many == nil || n(f) > n(many) {
				many = f
			}
		}
		if few == nil {
			continue
		}
		_, high, _ := ratio(few[0], few[1])
		if low, _, _ := ratio(many[0], many[1]); low < 1.05*high {
			continue
		}
		severity := Warn // startup and evaluation are of totals alone
		if n(many) > 1.4*n(few) {
			severity = Refuse
		}
		say(severity, "rows of unequal work: totals hold different numbers of epochs", fmt.Sprintf(
			"%s / %s = %s epochs, %s / %s = %s", few[0].Text, few[1].Text, num(n(few)), many[0].Text,
			many[1].Text, num(n(many))), append(few, many...)...)
	}
}

// sums tests parts of a step against the total behind them, in the columns of tables and in lists of lines,
// and the share that stands on the line of a part.
func sums(d *Document, say sayer) {
	for _, g := range d.groups {
		lists, share := map[string][]*Figure{}, map[int]*Figure{}
		var order []string
		for _, f := range g.figures() {
			key := f.Column + "\x00" + string(f.Kind)
			if l := lists[key]; len(l) > 0 && l[len(l)-1].Place.Line == f.Place.Line || f.Row == "" ||
				f.isEnd {
				continue
			}
			if lists[key] == nil {
				order = append(order, key)
			}
			lists[key] = append(lists[key], f)
			if f.Kind == Share && f.Column == "" {
				share[f.Place.Line] = f
			}
		}
		for _, key := range order {
			var labels []string
			for i, f := range lists[key] {
				words := wordsOf(withoutBrackets(f.Row))
				if len(words) > 0 && len(words) <= 2 && words[0] == "total" && i >= 3 && isParts(labels) {
					sum(say, lists[key][:i], f, share)
				}
				labels = append(labels, f.Row)
			}
		}
	}
}

// figures returns the figures of all records of a group.
func (g *group) figures() []*Figure {
	var out []*Figure
	for _, r := range g.records {
		out = append(out, r.figures...)
	}
	return out
}

// isParts reports whether most labels are phases of a step.
func isParts(labels []string) bool {
	n := 0
	for _, label := range labels {
		if k, s := meaning(wordsOf(withoutBrackets(label))); s == Part && (k == Unknown || k == Steps ||
			k == Share) {
			n++
		}
	}
	return n > 1 && 2*n >= len(labels)
}

// sum tests parts against a whole of the same kind, and their shares of it.
func sum(say sayer, parts []*Figure, whole *Figure, share map[int]*Figure) {
	total, slack := 0.0, 2*whole.Half+0.01*whole.Value
	var texts []string
	for _, p := range parts {
		total, slack, texts = total+p.Value, slack+2*p.Half, append(texts, p.Text)
		lo, hi := p.within()
		if s := share[p.Place.Line]; s != nil && p.Kind == Time && !s.overlaps(lo/whole.Value*0.98,
			hi/whole.Value*1.02) {
			say(Refuse, "a share is not its part of the whole", fmt.Sprintf("%s / %s = %s, not %s",
				p.Text, whole.Text, percent(p.Value/whole.Value), s.Text), s, p, whole)
		}
	}
	isSummed := slices.Contains([]Kind{Time, Share, Cost, Size}, whole.Kind)
	if !isSummed || math.Abs(total-whole.Value) <= slack {
		return
	}
	severity, text := Refuse, "parts do not add up to their whole"
	if total < whole.Value && whole.Kind != Share {
		severity, text = Warn, "part of the whole is in none of its parts"
	}
	say(severity, text, fmt.Sprintf("%s = %s, not %s", strings.Join(texts, " + "), whole.print(total),
		whole.Text), parts[0], whole)
}

// fractions tests count / total against the percentage beside it.
func fractions(d *Document, say sayer) {
	for i, f := range d.Figures {
		if f.over == nil || f.Half != 0.5 || f.over.Half != 0.5 {
			continue
		}
		for _, p := range d.Figures[max(0, i-1):min(len(d.Figures), i+3)] {
			gap := p.Place.Column - f.over.Place.Column - len(f.over.Text)
			if p.Place.Column < f.Place.Column {
				gap = f.Place.Column - p.Place.Column - len(p.Text)
			}
			isBeside := p.Place.Line == f.Place.Line && p.Unit == "%" && !p.isSigned && p.Kind != Change &&
				gap <= 4
			if v := f.Value / f.over.Value; isBeside && !p.overlaps(v, v) {
				say(Refuse, "a percentage is not that of the count beside it",
					fmt.Sprintf("%s / %s = %s, not %s", f.Text, f.over.Text, percent(v), p.Text), p, f)
			}
		}
	}
}
