package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// uneven refuses "even" beside a range that is not.
func uneven(d *Document, say sayer) {
	for _, l := range d.lines {
		if !l.has("even", "evenly", "balanced", "uniform", "equal") {
			continue
		}
		for _, f := range l.figures {
			if f.upTo != nil && f.Kind == Count && f.Value > 0 && f.upTo.Value > 1.1*f.Value {
				say(Refuse, "a range that is called even", fmt.Sprintf("%s / %s = %s", f.upTo.Text, f.Text,
					num(f.upTo.Value/f.Value)), f, f.upTo)
			}
		}
	}
}

// bottleneck refuses that the network is none where a record spends a quarter of its time on it.
func bottleneck(d *Document, say sayer) {
	for _, l := range d.lines {
		isDenied := l.has("not", "no", "isn", "never", "minimal", "negligible") && l.has("bottleneck") &&
			l.has("network", "communication")
		if !isDenied {
			continue
		}
		for _, g := range d.groups {
			for _, r := range g.records {
				t := r.one(Time, Total)
				for _, f := range r.figures {
					if t != nil && f.Kind == Time && f.Scope == Part && mentions(f.Row, "network",
						"communication", "comm") &&
						f.Value > 0.25*t.Value && f.Value < t.Value {
						say(Refuse, "the network is called no bottleneck",
							fmt.Sprintf("line %d: %s of %s is %s", l.number, f.Text,
								t.Text, percent(f.Value/t.Value)), f, t)
						return
					}
				}
			}
		}
	}
}

// fastest tests "batch 32 trains fastest" against the times of the settings.
func fastest(d *Document, say sayer) {
	type timed struct{ setting, time *Figure }
	var all []timed
	for _, l := range d.lines {
		for i, f := range l.figures[:max(0, len(l.figures)-1)] {
			if t := l.figures[i+1]; (f.Kind == Batch || f.Kind == Workers) && t.Kind == Time &&
				t.Scope != Part {
				all = append(all, timed{f, t})
			}
		}
	}
	for _, g := range d.tables() {
		for _, r := range g.records {
			for _, k := range []Kind{Batch, Workers} {
				if s, t := r.one(k, ""), r.one(Time, Total); s != nil && t != nil {
					all = append(all, timed{s, t})
				}
			}
		}
	}
	for _, l := range d.lines {
		for _, f := range l.figures {
			if !l.has("fastest", "quickest") || f.Kind != Batch && f.Kind != Workers {
				continue
			}
			for _, a := range all {
				for _, b := range all {
					isOther := a.setting.Kind == f.Kind && b.setting.Kind == f.Kind &&
						a.setting.Value == f.Value &&
						a.time.Scope == b.time.Scope && a.time.Section == b.time.Section
					if isOther && b.setting.Value != f.Value && b.time.Value < 0.98*a.time.Value {
						say(Refuse, fmt.Sprintf("%s %s is not the fastest", f.Kind, f.Text),
							fmt.Sprintf("%s with %s, %s with %s",
								a.time.Text, a.setting.Text, b.time.Text, b.setting.Text), f, a.time, b.time)
					}
				}
			}
		}
	}
}

// linear tests "near-linear" beside a number of workers against the efficiency there.
func linear(d *Document, say sayer) {
	for _, l := range d.lines {
		w := l.of(Workers)
		if !strings.Contains(strings.ToLower(l.text), "linear") || l.has("rule", "lr", "rate", "layer",
			"warmup", "model", "regression", "not") || len(w) != 1 {
			continue
		}
		for _, g := range d.tables() {
			for _, r := range g.records {
				v, e := r.workers(), r.one(Efficiency, "")
				if v != nil && e != nil && v.Value == w[0].Value && v.Value > 1 && e.Value+2*e.Half < 0.9 {
					say(Warn, fmt.Sprintf("called linear at %s", w[0].Text),
						fmt.Sprintf("an efficiency of %s", e.Text), w[0], e)
				}
			}
		}
	}
}

// supported warns of speed-ups beyond every other one, and beyond a stated maximum.
func supported(d *Document, say sayer) {
	var speeds []*Figure
	var best *Figure
	for _, f := range d.Figures {
		if f.Kind == Speedup && !f.isBound {
			speeds = append(speeds, f)
			if f.line == nil || f.upTo == nil && !f.isEnd {
				_, best = extremes(f, orSelf(best, f), f)
			}
		}
	}
	for _, f := range speeds {
		if f.upTo != nil && best != nil && f.upTo.Value > best.Value && (f.isGuess ||
			isGuessed(f.Section)) && len(speeds) > 4 {
			say(Warn, "an expected speed-up that no figure of the document supports", fmt.Sprintf(
				"%s, and the largest one given is %s", f.upTo.Text, best.Text), f.upTo, best)
		}
		if f.line == nil || !mentions(f.Row, "maximum", "max") || f.upTo != nil {
			continue
		}
		for _, s := range speeds {
			_, hi := f.within()
			lo, _ := s.within()
			if s.line == nil && lo > f.Value && s.Value > hi-f.Half && s.Value < 1.5*f.Value &&
				isCompared(s.Column) {
				say(Refuse, "a speed-up above the maximum that the document states",
					fmt.Sprintf("%s > %s", s.Text, f.Text), s, f)
			}
		}
	}
}

func orSelf(a, b *Figure) *Figure {
	if a == nil {
		return b
	}
	return a
}

// listing tests "the slower runs (a, b)" against the column that holds a and b.
func listing(d *Document, say sayer) {
	for _, l := range d.lines {
		isSlow, isFast := l.has("slower", "slowest"), l.has("faster", "fastest")
		if isSlow == isFast {
			continue
		}
		listed := l.of(Time)
		if len(listed) < 2 {
			continue
		}
		for _, g := range d.tables() {
			for j := range g.table.cells[0] {
				if left := leftOut(g.table, j, listed, isSlow); left != nil {
					say(Warn, "a run is left out of a list", fmt.Sprintf("%s belongs between %s and %s",
						left.Text,
						listed[0].Text, listed[len(listed)-1].Text), left, listed[0], listed[len(listed)-1])
				}
			}
		}
	}
}

// leftOut returns a figure of a column that is slower than one listed and is not listed, if the column holds
// all that are.
func leftOut(t *table, j int, listed []*Figure, isSlow bool) *Figure {
	var column []*Figure
	for _, row := range t.figures[1:] {
		if j < len(row) && len(row[j]) == 1 && row[j][0].Kind == Time {
			column = append(column, row[j][0])
		}
	}
	holds := func(list []*Figure, f *Figure) bool {
		return slices.ContainsFunc(list, func(g *Figure) bool { return g.Value == f.Value })
	}
	worst := listed[0].Value
	for _, f := range listed {
		if !holds(column, f) {
			return nil
		}
		if isSlow == (f.Value < worst) {
			worst = f.Value
		}
	}
	for _, f := range column {
		if !holds(listed, f) && f.Value != worst && isSlow == (f.Value > worst) {
			return f
		}
	}
	return nil
}

// rests warns of shares of computation and communication that leave a rest untold.
func rests(d *Document, say sayer) {
	for _, l := range d.lines {
		s := l.of(Share)
		if len(s) < 2 || !l.has("computation", "compute") || !l.has("communication") || l.has("rest",
			"other", "idle") ||
			strings.Contains(l.text, "->") || strings.Contains(l.text, "→") {
			continue
		}
		total := 0.0
		for _, f := range s {
			total += f.Value
		}
		if total < 0.9 {
			say(Warn, "shares that leave a rest untold", fmt.Sprintf("%s + %s = %s", s[0].Text, s[1].Text,
				percent(total)), s[0], s[1])
		}
	}
}

// whole warns of "one epoch" that was broken off.
func whole(d *Document, say sayer) {
	for _, g := range d.groups {
		if g.table != nil {
			continue
		}
		for _, r := range g.records {
			var last *Figure
			for _, f := range r.figures {
				if f.over != nil && f.Kind == Steps && (last == nil || f.Value >= last.Value) {
					last = f
				}
			}
			title := strings.ToLower(g.section + " " + r.label)
			if last != nil && last.Value < 0.9*last.over.Value && (strings.Contains(title, "one epoch") ||
				strings.Contains(title, "1 epoch")) {
				say(Warn, "one epoch that was broken off", fmt.Sprintf("%s of %s steps", last.Text,
					last.over.Text), last)
			}
		}
	}
}

// packed tests bytes per item x compression ratio, which is the size of an item however it is packed, and
// counts per worker against a total.
func packed(d *Document, say sayer) {
	isCounted := slices.ContainsFunc(d.Figures, func(f *Figure) bool { return f.Kind == Workers })
	for _, g := range d.groups {
		var first, ratioOfFirst *Figure
		size := 0.0
		for _, r := range g.records {
			b, n, c := r.one(Bandwidth, ""), r.one(Rate, ""), r.one(Ratio, "")
			if b != nil && n != nil && c != nil && n.Value > 0 && mentions(c.Row+c.Column, "compression") {
				one := b.Value / n.Value * c.Value
				if first != nil && math.Abs(one/size-1) > 0.1 {
					say(Warn, "bytes per item and compression ratio do not agree", fmt.Sprintf(
						"an item has %s bytes before compression at %s and %s at %s", num(size),
						ratioOfFirst.Text, num(one), c.Text),
						first, ratioOfFirst, b, c)
				}
				if first == nil {
					first, ratioOfFirst, size = b, c, one
				}
			}
			each(r, isCounted, say)
		}
	}
}

// each warns of a total and a share per worker where the number of workers is not said.
func each(r *recordOf, isCounted bool, say sayer) {
	total := r.one(Count, "")
	for _, f := range r.figures {
		if f.upTo == nil || !f.isEach && !f.upTo.isEach || isCounted || total == nil ||
			total.Value <= f.upTo.Value {
			continue
		}
		say(Warn, "the number of workers is not said", fmt.Sprintf("%s / (%s to %s) = %s to %s workers",
			total.Text, f.Text,
			f.upTo.Text, num(total.Value/f.upTo.Value), num(total.Value/f.Value)), total, f)
	}
}

// slowRank refuses that the fastest rank is the bottleneck.
func slowRank(d *Document, say sayer) {
	for _, l := range d.lines {
		if !l.has("bottleneck", "overhead", "inefficient") {
			continue
		}
		for _, f := range l.figures {
			if f.Kind != Name || f.Unit != "rank" {
				continue
			}
			for _, g := range d.groups {
				var mine, least, most *Figure
				for _, r := range g.records {
					if t := r.one(Time, Step); t != nil && r.rank != nil {
						least, most = extremes(least, most, t)
						if r.rank.Value == f.Value {
							mine = t
						}
					}
				}
				if mine != nil && mine == least && most.Value > 1.1*mine.Value {
					say(Warn, fmt.Sprintf("rank %s is called the bottleneck and is the fastest", f.Text),
						fmt.Sprintf(
							"line %d: %s against %s", l.number, mine.Text, most.Text), f, mine, most)
					return
				}
			}
		}
	}
}
