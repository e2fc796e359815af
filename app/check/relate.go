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

// workers returns how many workers a record is of, from its figures or else its label; nil: it does not
// say, or counts nodes and devices.
func (r *recordOf) workers() *Figure {
	isWorkers := func(f *Figure) bool { return f.Kind == Workers }
	if slices.ContainsFunc(r.figures, isWorkers) || len(r.figures) == 0 {
		return r.one(Workers, "")
	}
	label := &recordOf{figures: scan(r.label)}
	f := label.one(Workers, "")
	if f != nil {
		f.Place = r.figures[0].Place
	}
	return f
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

// rows returns the rows of all tables of configurations, and the lines outside of tables.
func (d *Document) rows() []*recordOf {
	var out []*recordOf
	for _, g := range d.tables() {
		out = append(out, g.records...)
	}
	return append(out, d.lines...)
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

// classes returns how many classes the data set has that a document names, or 0.
func (d *Document) classes() float64 {
	for _, f := range d.Figures {
		if f.Kind == Classes && f.Value >= 2 {
			return f.Value
		}
	}
	text := strings.NewReplacer("-", "", " ", "").Replace(d.text)
	for _, set := range []struct {
		name    string
		classes float64
	}{{"cifar100", 100}, {"cifar10", 10}, {"mnist", 10}, {"svhn", 10}, {"imagenet", 1000}} {
		if strings.Contains(text, set.name) {
			return set.classes
		}
	}
	return 0
}

// guessed returns the loss of guessing among the classes of the data set, and from which loss on up to
// which it
// is that. Where no data set is named and no accuracy says more, it is that of ten.
func (d *Document) guessed() (classes, from, to float64) {
	if classes = d.classes(); classes > 0 {
		return classes, 0.98 * math.Log(classes), 1.5 * math.Log(classes)
	}
	isAccurate := func(f *Figure) bool { return f.Kind == Accuracy && f.Value > 0.2 }
	if slices.ContainsFunc(d.Figures, isAccurate) || d.says("token", "perplexity", "language", "text", "bert",
		"gpt") {
		return 0, 0, 0
	}
	return 10, 0.98 * math.Log(10), 1.05 * math.Log(10)
}

// extremes returns the least and the greatest of three figures, the first two of which may be nil.
func extremes(least, most, f *Figure) (lo, hi *Figure) {
	if least == nil || f.Value < least.Value {
		least = f
	}
	if most == nil || f.Value > most.Value {
		most = f
	}
	return least, most
}
