package check

import (
	"math"
	"slices"
	"strings"
)

// one returns the figure of a kind that a record has: the most precise of those that agree; nil where
// there is none, or two that differ.
func (r *recordOf) one(k Kind, s Scope) *Figure {
	var best *Figure
	for _, f := range r.figures {
		if f.Kind != k || f.Scope != s || f.isEnd || f.upTo != nil || f.isSigned || f.isBound {
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

// has reports whether a record has a figure of a kind.
func (r *recordOf) has(k Kind) bool {
	return slices.ContainsFunc(r.figures, func(f *Figure) bool { return f.Kind == k })
}

// tables returns the groups that are tables of configurations.
func (d *Document) tables() (out []*group) {
	for _, g := range d.groups {
		if g.table != nil && !g.table.isLog && !g.table.isParts && len(g.records) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// rows returns the rows of all tables of configurations, and the lines outside of tables.
func (d *Document) rows() (out []*recordOf) {
	for _, g := range d.tables() {
		out = append(out, g.records...)
	}
	return append(out, d.lines...)
}

// figures returns the figures of all records of a group.
func (g *group) figures() (out []*Figure) {
	for _, r := range g.records {
		out = append(out, r.figures...)
	}
	return out
}

// fewest returns the least number of workers in a table, against which its speed-ups may be.
func (g *group) fewest() float64 {
	var s span
	for _, r := range g.records {
		s.add(r.one(Workers, ""))
	}
	if g.table == nil || s.least == s.most {
		return 1
	}
	return s.least.Value
}

// ratio returns the range of a speed-up from a to b, which are times or rates.
func ratio(a, b *Figure) (lo, hi, mid float64) {
	if a.Kind == Rate {
		a, b = b, a
	}
	aLo, aHi := a.within()
	bLo, bHi := b.within()
	if bLo <= 0 {
		return 0, 0, 0
	}
	return aLo / bHi, aHi / bLo, a.Value / b.Value
}

// slack is how far a ratio may be off beside its rounding; ratios of medians are not medians of ratios.
func (d *Document) slack() float64 {
	if d.repeated {
		return 0.1
	}
	return 0.01
}

// says reports whether the document has one of the texts.
func (d *Document) says(texts ...string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(d.text, t) })
}

// isRepeated reports whether the document says that it measured more than once: its figures are medians or
// means, whose ratios are not those of the runs.
func (d *Document) isRepeated() bool {
	return d.says("±", "+/-", "std", "median", "confidence", "repeat", "averaged over", "average of",
		"trials", "p95") ||
		slices.ContainsFunc(d.Figures, func(f *Figure) bool {
			return f.Kind == Repeats && f.Value > 1 && f.Value < 1000
		})
}

// dataSets lists data sets by their names without blanks and hyphens.
var dataSets = []struct {
	name             string
	classes, samples float64
}{{"cifar100", 100, 50000}, {"cifar", 10, 50000}, {"mnist", 10, 60000}, {"svhn", 10, 73257},
	{"imagenet", 1000, 1281167}}

// named returns the data sets that the document names.
func (d *Document) named() (classes float64, samples []float64) {
	text := strings.NewReplacer("-", "", " ", "").Replace(d.text)
	for _, set := range dataSets {
		if strings.Contains(text, set.name) {
			if classes == 0 {
				classes = set.classes
			}
			samples = append(samples, set.samples)
		}
	}
	return classes, samples
}

// guessed returns the loss of guessing among the classes of the data set, and from which loss on up to
// which it is that. Where no data set is named and no accuracy says more, it is that of ten.
func (d *Document) guessed() (classes, from, to float64) {
	classes, _ = d.named()
	for _, f := range slices.Backward(d.Figures) {
		if f.Kind == Classes && f.Value >= 2 {
			classes = f.Value
		}
	}
	if classes > 0 {
		return classes, 0.98 * math.Log(classes), 1.5 * math.Log(classes)
	}
	isAccurate := func(f *Figure) bool { return f.Kind == Accuracy && f.Value > 0.2 }
	if slices.ContainsFunc(d.Figures, isAccurate) || d.says("token", "perplexity", "language", "text", "bert",
		"gpt") {
		return 0, 0, 0
	}
	return 10, 0.98 * math.Log(10), 1.05 * math.Log(10)
}

// span holds the figures with the least and the greatest value of those that were added; nil: none was.
type span struct{ least, most *Figure }

// add adds a figure, which may be nil.
func (s *span) add(f *Figure) {
	if f != nil && (s.least == nil || f.Value < s.least.Value) {
		s.least = f
	}
	if f != nil && (s.most == nil || f.Value > s.most.Value) {
		s.most = f
	}
}

// isOver reports whether the greatest value is more than so many times the least.
func (s *span) isOver(times float64) bool {
	return s.least != nil && s.most.Value > times*s.least.Value
}
