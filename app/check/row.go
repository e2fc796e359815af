package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lockstep/app/evidence/stat"
)

// unlabelled refuses tables whose rows all have one label and differ in what they measure.
func unlabelled(d *Document, say sayer) {
	for _, g := range d.tables() {
		first := g.records[0]
		isOther := func(r *recordOf) bool { return r.label != first.label }
		if g.table.isAside || len(g.records) < 3 || first.label == "" || slices.ContainsFunc(g.records,
			isOther) {
			continue
		}
		for _, r := range g.records[1:] {
			a, b := first.one(Time, Total), r.one(Time, Total)
			if a != nil && b != nil && math.Abs(math.Log(a.Value/b.Value)) > 0.2 {
				say(Refuse, fmt.Sprintf("rows told apart by nothing: all %d are %q", len(g.records),
					first.label), "%s and %s have one label", a, b)
				break
			}
		}
	}
}

// unequal tests that the totals of one table hold as many epochs.
func unequal(d *Document, say sayer) {
	for _, g := range d.tables() {
		var works [][2]*Figure
		epochs := func(w [2]*Figure) float64 { return w[0].Value / w[1].Value }
		for _, r := range g.records {
			w := [2]*Figure{r.one(Time, Total), r.one(Time, Epoch)}
			if w[0] != nil && w[1] != nil && w[1].Value > 0 && epochs(w) >= 0.98 {
				works = append(works, w)
			}
		}
		if len(works) == 0 {
			continue
		}
		slices.SortStableFunc(works, func(a, b [2]*Figure) int { return cmp.Compare(epochs(a), epochs(b)) })
		few, many := works[0], works[len(works)-1]
		_, high, _ := ratio(few[0], few[1])
		if low, _, _ := ratio(many[0], many[1]); low < 1.05*high {
			continue
		}
		severity := Warn // startup and evaluation are of totals alone
		if epochs(many) > 1.4*epochs(few) {
			severity = Refuse
		}
		say(severity, "rows of unequal work: totals hold different numbers of epochs",
			"%s / %s = %s epochs, %s / %s = %s", few[0], few[1], epochs(few), many[0], many[1], epochs(many))
	}
}

// batches tests that configurations with nearly the same batch of all workers have the same, and that equal
// batches have one learning rate.
func batches(d *Document, say sayer) {
	for _, g := range append(d.tables(), &group{records: d.lines}) {
		var products, rates span
		for _, r := range g.records {
			b, w := r.one(Batch, ""), r.one(Workers, "")
			if g.table != nil && r.isGlobal() {
				rates.add(r.one(LearningRate, ""))
			}
			if b != nil && w != nil && w.Value >= 1 && r.has(Time) {
				product := *b
				product.Value *= w.Value
				products.add(&product)
			}
		}
		if products.isOver(1) && !products.isOver(1.05) {
			say(Warn, "workers × batch differs by a little",
				"%s and %s samples in a step, of batches of %s and %s", products.least.Value,
				products.most.Value, products.least, products.most)
		}
		if rates.isOver(1) {
			say(Warn, "one batch of all workers, and two learning rates", "%s and %s", rates.least,
				rates.most)
		}
	}
}

// isGlobal reports whether a record tells its batch of all workers: of one worker, or as the product too.
func (r *recordOf) isGlobal() bool {
	var batches span
	for _, f := range r.figures {
		if f.Kind == Batch {
			batches.add(f)
		}
	}
	w := r.one(Workers, "")
	return w != nil && batches.least != nil && batches.most.Value == batches.least.Value*w.Value
}

// mixed warns of tables that call some of their figures projected, and others not.
func mixed(d *Document, say sayer) {
	for _, g := range d.tables() {
		var guess, measured *Figure
		for _, f := range g.figures() {
			switch {
			case isSetting(f.Kind) || f.Kind == Unknown || f.digits() < 2:
			case f.isGuess && guess == nil:
				guess = f
			case !f.isGuess && measured == nil:
				measured = f
			}
		}
		if guess != nil && measured != nil && !isGuessed(g.section) {
			say(Warn, "a projection among measurements", "%s is projected, %s is not", guess, measured)
		}
	}
}

// ranks tests what the ranks of one synchronous job say.
func ranks(d *Document, say sayer) {
	if d.says("async", "local sgd") {
		return
	}
	for _, g := range d.groups {
		var steps, answers span
		for _, r := range g.records {
			if r.rank == "" {
				continue
			}
			steps.add(r.one(Time, Step))
			for _, f := range r.figures {
				if f.over != nil && f.Kind == Count {
					answers.add(f)
				}
			}
		}
		if steps.isOver(1.1) {
			say(Refuse, "ranks of one synchronous job have step times of their own", "%s / %s = %s",
				steps.most, steps.least, steps.most.Value/steps.least.Value)
		}
		if answers.isOver(1) && answers.least.over.Value == answers.most.over.Value {
			say(Refuse, "replicas of one model answer differently", "%s and %s of %s", answers.least,
				answers.most, answers.most.over.Text)
		}
	}
}

// untold warns of figures per worker in a document that counts no workers.
func untold(d *Document, say sayer) {
	if slices.ContainsFunc(d.Figures, func(f *Figure) bool { return f.Kind == Workers || f.Kind == Name }) {
		return
	}
	for _, l := range d.lines {
		for _, f := range l.figures {
			if mentions(around(l.label, f), "worker", "node", "gpu", "rank") && f.digits() >= 2 {
				say(Warn, "figures of a worker, and no number of workers", "%s", f)
				return
			}
		}
	}
}

// runsOnce warns of comparisons in which nothing is repeated.
func runsOnce(d *Document, say sayer) {
	var first *Figure
	for _, f := range d.Figures {
		isWork := f.Kind == Time && f.Scope != Part || f.Kind == Rate
		switch {
		case d.repeated || !isWork || f.digits() < 2 || f.Value <= 0 || f.isGuess:
		case first == nil:
			first = f
		default:
			say(Warn, "one run each: nothing tells how much runs of one configuration differ",
				"%s and %s, each once", first, f)
			return
		}
	}
}

// nearLines is how far below a stated fraction the speed-ups of its law are listed.
const nearLines = 25

// laws tests speed-ups that follow from a stated fraction by Amdahl's or Gustafson's law.
func laws(d *Document, say sayer) {
	for _, p := range d.Figures {
		about := p.Section + " " + p.Row
		isAmdahl, isGustafson := mentions(about, "amdahl"), mentions(about, "gustafson")
		isFraction := (p.Kind == Parallel || p.Kind == Serial) && p.Value > 0 && p.Value < 1
		if !isFraction || isAmdahl == isGustafson {
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
			w, isFirst := r.one(Workers, ""), true
			for _, f := range r.figures {
				below := f.Place.Line - p.Place.Line
				if f.Kind != Speedup || w == nil || w.Value < 2 || below < 0 || below > nearLines {
					continue
				}
				a, b := law(p.Value-p.Half, w.Value), law(p.Value+p.Half, w.Value)
				severity, text := Refuse, "a speed-up is not what the law gives of the fraction"
				isWrong := !f.overlaps(min(a, b), max(a, b))
				if !isFirst { // others beside it may be measured
					lo, _ := f.within()
					severity, text = Warn, "a speed-up above what the law allows"
					isWrong = f.upTo == nil && !f.isEnd && lo > max(a, b)
				}
				if isWrong {
					say(severity, text, "%s at %s workers gives %s, not %s", p, w.Value,
						law(p.Value, w.Value), f)
				}
				isFirst = false
			}
		}
	}
}
