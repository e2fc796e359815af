package check

import (
	"slices"
	"strings"
)

// one returns the figure of a kind that a record has: the most precise of those that agree; nil where
// there is
// none, or two that differ.
func (r *recordOf) one(k Kind, s Scope) *Figure {
	var best *Figure
	for _, f := range r.figures {
		if f.Kind != k || f.Scope != s || f.isEnd || f.upTo != nil || f.isSigned || f.isBound || f.isEach ||
			isCompared(f.Column) && r.group.table != nil && r.group.table.isAside {
			continue
		}
		if best != nil && !best.equals(f) {
			return nil
		}
		if best == nil || f.digits() > best.digits() {
			best = f
		}
	}
	return best
}

// any returns the figure of a kind and scope of a record, or else of the others of its configuration.
func (r *recordOf) any(k Kind, s Scope) *Figure {
	if f := r.one(k, s); f != nil {
		return f
	}
	for _, o := range r.same {
		if f := o.one(k, s); f != nil {
			return f
		}
	}
	return nil
}

// workers returns how many workers a record is of, from a figure or the label; nil: it does not say.
func (r *recordOf) workers() *Figure {
	if f := r.one(Workers, ""); f != nil && f.Value >= 1 {
		return f
	}
	var found *Figure
	for _, f := range scan(r.label) {
		if f.Kind == Workers && f.Value >= 1 {
			f.Place = r.place()
			if found != nil && !found.equals(f) {
				return nil
			}
			found = f
		}
	}
	return found
}

// workersOf is workers, or what the other records of the configuration say.
func (r *recordOf) workersOf() *Figure {
	if f := r.workers(); f != nil {
		return f
	}
	for _, o := range r.same {
		if f := o.workers(); f != nil {
			return f
		}
	}
	return nil
}

// place returns where a record begins.
func (r *recordOf) place() Place {
	if len(r.figures) > 0 {
		return r.figures[0].Place
	}
	return Place{}
}

// stem returns the label of a record without brackets and numbers.
func (r *recordOf) stem() string { return strings.Join(wordsOf(withoutBrackets(r.label)), " ") }

// isGuess reports whether a record is of a projection.
func (r *recordOf) isGuess() bool {
	return isGuessed(r.group.section) || isGuessed(r.label)
}

// tables returns the groups that are tables of configurations.
func (d *Document) tables() []*group {
	var out []*group
	for _, g := range d.groups {
		if g.table != nil && !g.table.isLog && !g.table.isParts && len(g.records) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// maxLinked is the number of records up to which those of different tables are compared.
const maxLinked = 400

// link finds the records of different tables that are of one configuration: they print the same figure, and
// have one name, or as the only ones of their tables so many workers.
func (d *Document) link() {
	var records []*recordOf
	for _, g := range d.tables() {
		records = append(records, g.records...)
	}
	if len(records) > maxLinked {
		return
	}
	rows := map[*group]map[float64]int{}
	for _, r := range records {
		if rows[r.group] == nil {
			rows[r.group] = map[float64]int{}
		}
		if w := r.workers(); w != nil {
			rows[r.group][w.Value]++
		}
	}
	isOnly := func(r *recordOf) bool { w := r.workers(); return w != nil && rows[r.group][w.Value] == 1 }
	for i, a := range records {
		for _, b := range records[i+1:] {
			if a.group != b.group && isSame(a, b, isOnly(a) && isOnly(b)) {
				a.same, b.same = append(a.same, b), append(b.same, a)
			}
		}
	}
}

// isSame reports whether two records are of one configuration; isOnly is whether the number of workers names
// each in its table.
func isSame(a, b *recordOf, isOnly bool) bool {
	v, w := a.workers(), b.workers()
	if v != nil && w != nil && v.Value != w.Value {
		return false
	}
	if !isOnly && (a.stem() != b.stem() || a.stem() == "") {
		return false
	}
	for _, f := range a.figures {
		for _, g := range b.figures {
			if f.Kind == g.Kind && min(f.digits(), g.digits()) >= 3 && f.Value != 1 &&
				!isSetting(f.Kind) && f.equals(g) {
				return true
			}
		}
	}
	return false
}

// works are the kinds of time and rate that a speed-up is made of.
func (r *recordOf) works() map[string]*Figure {
	out := map[string]*Figure{}
	for _, s := range []Scope{Total, Epoch, Step, ""} {
		if f := r.one(Time, s); f != nil && f.Value > 0 {
			out["time "+string(s)] = f
		}
	}
	if f := r.one(Rate, ""); f != nil && f.Value > 0 {
		out["rate"] = f
	}
	return out
}

// ratio returns the range of a speed-up from a to b, which have the same key of works.
func ratio(key string, a, b *Figure) (lo, hi, mid float64) {
	if key == "rate" {
		a, b = b, a
	}
	aLo, aHi := a.within()
	bLo, bHi := b.within()
	if bLo <= 0 {
		return 0, 0, 0
	}
	return aLo / bHi, aHi / bLo, a.Value / b.Value
}

// overlaps reports whether f may have a value between lo and hi.
func (f *Figure) overlaps(lo, hi float64) bool {
	a, b := f.within()
	return a <= hi && lo <= b
}

// says reports whether the document has one of the texts.
func (d *Document) says(texts ...string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(d.text, t) })
}

// isRepeated reports whether the document says that it measured more than once: its figures are medians or
// means, whose ratios are not those of the rounds.
func (d *Document) isRepeated() bool {
	return d.says("±", "std", "stdev", "median", "confidence", "repeat", "averaged over", "average of",
		"trials",
		"interquartile", "p90", "p95", "error bar") || slices.ContainsFunc(d.Figures, func(f *Figure) bool {
		return f.Kind == Repeats && f.Value > 1 && f.Value < 1000 && !mentions(f.Row, "total")
	})
}

// has reports whether a line has one of the words, in the singular.
func (l *line) has(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return l.words[w] })
}

// of returns the figures of a line that have a kind.
func (l *line) of(k Kind) []*Figure {
	var out []*Figure
	for _, f := range l.figures {
		if f.Kind == k && !f.isEnd {
			out = append(out, f)
		}
	}
	return out
}
