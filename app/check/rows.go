package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// unlabelled refuses tables whose rows all have one label and differ in what they measure.
func unlabelled(d *Document, say sayer) {
	for _, g := range d.tables() {
		if g.table.isAside || len(g.records) < 3 {
			continue
		}
		first := g.records[0]
		isOne := first.label != "" && !slices.ContainsFunc(g.records,
			func(r *recordOf) bool { return r.label != first.label })
		if !isOne {
			continue
		}
		for key, a := range first.works() {
			for _, r := range g.records[1:] {
				if b := r.works()[key]; b != nil && math.Abs(math.Log(a.Value/b.Value)) > 0.2 {
					say(Refuse, fmt.Sprintf("rows told apart by nothing: all %d are %s", len(g.records),
						name(first)),
						fmt.Sprintf("%s and %s have one label", a.Text, b.Text), a, b)
					return
				}
			}
		}
	}
}

// twice tests what the document states more than once about one configuration.
func twice(d *Document, say sayer) {
	kinds := []struct {
		k Kind
		s Scope
	}{{Time, Total}, {Time, Epoch}, {Time, Step}, {Rate, ""}, {Speedup, ""}, {Efficiency, ""}}
	if d.isRepeated() {
		return
	}
	told := map[string]bool{}
	for _, g := range d.tables() {
		for _, r := range g.records {
			all := slices.Concat(r.figures)
			for _, o := range r.same {
				all = append(all, o.figures...)
			}
			for _, k := range kinds {
				var first *Figure
				for _, f := range all {
					isWhole := f.Kind == k.k && f.Scope == k.s && !f.isEnd && f.upTo == nil &&
						allScopeOf(f.Row) != Part
					switch {
					case !isWhole || k.k == Speedup && mentions(f.Row, "rate", "batch"):
					case first == nil:
						first = f
					case !first.equals(f) && math.Abs(first.Value/f.Value-1) > 0.02 &&
						f.Place.Line != first.Place.Line &&
						!told[string(k.k)+first.Text] && !told[string(k.k)+f.Text]:
						told[string(k.k)+first.Text], told[string(k.k)+f.Text] = true, true
						say(Warn, fmt.Sprintf("two values of one %s: %s",
							strings.TrimSpace(string(k.k)+" "+string(k.s)), name(r)),
							fmt.Sprintf("%s in line %d, %s in line %d", first.Text, first.Place.Line,
								f.Text, f.Place.Line), first, f)
					}
				}
			}
		}
	}
	overheads(d, say)
}

// overheads compares the shares that a document calls overhead.
func overheads(d *Document, say sayer) {
	var first *Figure
	for _, l := range d.lines {
		for _, f := range l.of(Share) {
			if !mentions(f.Row, "overhead") || l.record == nil || len(l.of(Share)) > 1 {
				continue
			}
			if first != nil && !first.equals(f) && l.section != first.Section {
				say(Warn, "two values of one overhead", fmt.Sprintf("%s in line %d, %s in line %d",
					first.Text,
					first.Place.Line, f.Text, f.Place.Line), first, f)
			}
			if first == nil {
				first = f
			}
		}
	}
}

// guessed refuses figures that are marked as projected in one place and stand as measured in another.
func guessed(d *Document, say sayer) {
	marked := map[string]*Figure{}
	key := func(f *Figure) string { return f.Text + "\x00" + string(f.Kind) }
	for _, f := range d.Figures {
		if f.isGuess && f.digits() >= 3 && (f.Kind != Speedup || f.Value != math.Trunc(f.Value)) &&
			f.over == nil && !isSetting(f.Kind) && f.Kind != Unknown {
			if _, ok := marked[key(f)]; !ok {
				marked[key(f)] = f
			}
		}
	}
	for _, f := range d.Figures {
		if m := marked[key(f)]; m != nil && !f.isGuess && !isGuessed(f.Section) {
			say(Refuse, "a projection stands as a measurement",
				fmt.Sprintf("%s is projected in line %d and measured in line %d",
					f.Text, m.Place.Line, f.Place.Line), m, f)
			delete(marked, key(f))
		}
	}
}

// rates2 warns of learning rates that differ at one global batch.
func learning(d *Document, say sayer) {
	for _, g := range d.tables() {
		for i, a := range g.records {
			for _, b := range g.records[i+1 : min(len(g.records), i+20)] {
				x, y := a.one(LearningRate, ""), b.one(LearningRate, "")
				p, q := globalBatch(a), globalBatch(b)
				if x != nil && y != nil && p != nil && q != nil && p.Value == q.Value && !x.equals(y) &&
					g.table.isAside {
					say(Warn, "learning rates differ at one global batch",
						fmt.Sprintf("%s and %s at batch %s", x.Text, y.Text,
							p.Text), x, y)
				}
			}
		}
	}
}

// products warns of workers x batch that are meant to be equal and are not.
func products(d *Document, say sayer) {
	type product struct{ w, b *Figure }
	var all []product
	for _, l := range d.lines {
		if w, b := l.of(Workers), l.of(Batch); len(w) == 1 && len(b) == 1 && len(l.of(Time)) == 1 {
			all = append(all, product{w[0], b[0]})
		}
	}
	for _, g := range d.tables() {
		for _, r := range g.records {
			if w, b := r.workers(), r.one(Batch, ""); w != nil && b != nil && b.isWithin("per") {
				all = append(all, product{w, b})
			}
		}
	}
	for i, p := range all {
		for _, q := range all[i+1 : min(len(all), i+10)] {
			x, y := p.w.Value*p.b.Value, q.w.Value*q.b.Value
			if p.w.Value != q.w.Value && x != y && math.Abs(x/y-1) < 0.05 {
				say(Warn, "rows of unequal work: their global batches differ",
					fmt.Sprintf("%g × %g = %g, %g × %g = %g",
						p.w.Value, p.b.Value, x, q.w.Value, q.b.Value, y), p.b, q.b)
			}
		}
	}
}

func (f *Figure) isWithin(word string) bool { return mentions(f.Column, word) || mentions(f.Row, word) }

// ranks tests what ranks of one synchronous job say.
func ranks(d *Document, say sayer) {
	if d.says("async", "local sgd", "stale", "heterogeneous", "imbalance") {
		return
	}
	for _, g := range d.groups {
		var least, most, few, many *Figure
		for _, r := range g.records {
			if r.rank == nil {
				continue
			}
			if t := r.one(Time, Step); t != nil {
				least, most = extremes(least, most, t)
			}
			for _, f := range r.figures {
				if f.over != nil && f.Kind == Count {
					few, many = extremes(few, many, f)
				}
			}
		}
		if least != nil && most.Value > 1.1*least.Value {
			say(Refuse, "ranks of one synchronous job have step times of their own",
				fmt.Sprintf("%s / %s = %s", most.Text,
					least.Text, num(most.Value/least.Value)), least, most)
		}
		if few != nil && few.Value != many.Value && few.over.Value == many.over.Value {
			say(Refuse, "replicas of one model answer differently", fmt.Sprintf("%s and %s of %s",
				few.Text, many.Text,
				few.over.Text), few, many)
		}
	}
}

func extremes(least, most, f *Figure) (lo, hi *Figure) {
	if least == nil {
		return f, f
	}
	if f.Value < least.Value {
		least = f
	}
	if f.Value > most.Value {
		most = f
	}
	return least, most
}

// losses tests averages against the losses shown, losses that rise, and losses of guessing.
func losses(d *Document, say sayer) {
	for _, g := range d.groups {
		if g.table != nil {
			continue
		}
		isTold := false
		for _, r := range g.records {
			var average, least, most, first, last *Figure
			for _, f := range r.figures {
				switch {
				case f.Kind != Loss || mentions(f.Row, "test", "validation", "val", "eval") ||
					f.line != nil && f.line.has("test", "validation"):
				case mentions(f.Row, "average", "avg", "mean"):
					average = f
				default:
					least, most = extremes(least, most, f)
					if f.Column != "" {
						if first == nil {
							first = f
						}
						last = f
					}
				}
			}
			if average != nil && least != nil && least != most {
				if _, hi := average.within(); hi < least.Value*0.8 && !isTold {
					isTold = true
					say(Warn, fmt.Sprintf("an average loss below every loss shown in %s", name(r)),
						fmt.Sprintf("%s < %s",
							average.Text, least.Text), average, least)
				}
			}
			if first != nil && last.Value > first.Value && d.says("loss decreas", "loss drop",
				"loss fall", "converge") {
				say(Warn, fmt.Sprintf("a loss that rises in %s", name(r)), fmt.Sprintf("%s to %s",
					first.Text, last.Text), first, last)
			}
		}
	}
}

// chance warns of losses that are those of guessing.
func chance(d *Document, say sayer) {
	classes, isKnown := 10.0, false
	for _, s := range d.named() {
		classes, isKnown = s.classes, true
	}
	for _, f := range d.Figures {
		if f.Kind == Classes && f.Value >= 2 {
			classes, isKnown = f.Value, true
		}
	}
	if len(d.named()) > 1 {
		return
	}
	limit := math.Log(classes)
	for _, g := range d.groups {
		if g.table != nil && g.table.isLog {
			continue
		}
		for _, r := range g.records {
			var last *Figure
			isGuess := false
			for _, f := range r.figures {
				if f.Kind == Loss && f.Value > 0 && f.Column == "" || f.Kind == Loss && g.table != nil {
					last = f
				}
				isGuess = isGuess || f.Kind == Accuracy && f.Value > 0.8/classes && f.Value < 1.4/classes
			}
			isSaid := d.says("converge") || isGuess
			if last == nil || last.Value < limit*0.98 || !isSaid || !isKnown && last.Value > limit*1.5 {
				continue
			}
			text := "a loss no better than guessing"
			if !isKnown {
				text += ", if there are ten classes"
			}
			say(Warn, text, fmt.Sprintf("ln %g = %s, and %s", classes, num(limit), last.Text), last)
			break
		}
	}
}

// order warns where the best accuracy stands beside the worst loss.
func order(d *Document, say sayer) {
	for _, g := range d.tables() {
		var best, worst, least *Figure
		var at, beside *recordOf
		n := 0
		for _, r := range g.records {
			a, l := r.one(Accuracy, ""), r.one(Loss, "")
			if a == nil || l == nil {
				continue
			}
			if n++; best == nil || a.Value > best.Value {
				best, at = a, r
			}
			if least == nil || l.Value < least.Value {
				least = l
			}
			if worst == nil || l.Value > worst.Value {
				worst, beside = l, r
			}
		}
		if n >= 4 && at == beside && worst.Value > 1.5*least.Value {
			say(Warn, "the highest loss has the best accuracy", fmt.Sprintf("%s beside %s", worst.Text,
				best.Text), worst, best)
		}
	}
}

// runsOnce warns of comparisons in which nothing is repeated.
func runsOnce(d *Document, say sayer) {
	if d.isRepeated() {
		return
	}
	var times []*Figure
	for _, f := range d.Figures {
		if (f.Kind == Time && f.Scope != Part || f.Kind == Rate) && f.digits() >= 3 && (f.line == nil ||
			f.Value > 0) {
			times = append(times, f)
		}
	}
	if len(times) < 2 {
		return
	}
	say(Warn, "one run each: nothing tells how much runs of one configuration differ", fmt.Sprintf(
		"%s and %s, each once", times[0].Text, times[1].Text), times[0], times[1])
}

// crowded warns of more workers than cores in one row.
func crowded(d *Document, say sayer) {
	for _, g := range d.tables() {
		for _, r := range g.records {
			w, c := r.workers(), r.one(Cores, "")
			if w != nil && c != nil && c.Value >= 1 && w.Value > c.Value && w != c && !d.says("per node",
				"per host", "cores each") {
				say(Warn, fmt.Sprintf("more workers than cores in %s", name(r)), fmt.Sprintf("%g > %g",
					w.Value, c.Value), w, c)
			}
		}
	}
}
