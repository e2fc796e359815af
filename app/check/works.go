package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// epochsOf tests total / epoch: rows of one table have trained for as many epochs.
func epochsOf(d *Document, say sayer) {
	told := map[string]bool{}
	for _, g := range d.tables() {
		var least, most *recordOf
		n := map[*recordOf]float64{}
		for _, r := range g.records {
			t, e := r.one(Time, Total), r.one(Time, Epoch)
			if t == nil || e == nil || e.Value <= 0 || t.Value < e.Value*0.98 || r.isGuess() {
				continue
			}
			n[r] = t.Value / e.Value
			if least == nil || n[r] < n[least] {
				least = r
			}
			if most == nil || n[r] > n[most] {
				most = r
			}
		}
		if least == nil || n[most]/n[least] < 1.08 || told[num(n[least])+num(n[most])] {
			continue
		}
		told[num(n[least])+num(n[most])] = true
		a, b := least.one(Time, Total), most.one(Time, Total)
		c, e := least.one(Time, Epoch), most.one(Time, Epoch)
		severity := Warn
		if n[most]/n[least] > 1.4 {
			severity = Refuse
		}
		say(severity, "rows of unequal work: totals hold different numbers of epochs", fmt.Sprintf(
			"%s / %s = %s epochs, %s / %s = %s", a.Text, c.Text, num(n[least]), b.Text, e.Text,
			num(n[most])), a, c, b, e)
	}
}

// sums tests parts against their whole in tables of phases and in lists that end in a total.
func sums(d *Document, say sayer) {
	for _, g := range d.groups {
		t := g.table
		if t == nil || !t.isParts {
			continue
		}
		whole := -1
		for i := 1; i < len(t.cells); i++ {
			words := wordsOf(withoutBrackets(plain(at(t.cells[i], 0))))
			if len(words) > 0 && (words[0] == "total" || words[0] == "sum") && len(words) <= 2 &&
				i == len(t.cells)-1 {
				whole = i
			}
		}
		if whole < 3 {
			continue
		}
		for j := 1; j < len(t.figures[whole]); j++ {
			var parts []*Figure
			for i := 1; i < whole; i++ {
				if j < len(t.figures[i]) && len(t.figures[i][j]) > 0 {
					parts = append(parts, t.figures[i][j][0])
				}
			}
			if len(t.figures[whole][j]) > 0 {
				sum(say, parts, t.figures[whole][j][0])
			}
		}
	}
	for _, g := range d.groups {
		if g.table == nil {
			for _, r := range g.records {
				listed(r, say)
			}
		}
	}
}

// listed tests a list of "phase: time (share)" lines that ends in "total: time".
func listed(r *recordOf, say sayer) {
	var parts, shares []*Figure
	for _, f := range r.figures {
		words := wordsOf(withoutBrackets(f.Row))
		isTotal := len(words) > 0 && words[0] == "total" && len(words) <= 2
		switch {
		case isTotal && len(parts) >= 3 && f.Kind == Time:
			sum(say, parts, f)
			shared(say, parts, shares, f)
		case isTotal && len(shares) >= 3 && f.Kind == Share:
			sum(say, shares, f)
			return
		case f.Kind == Time && f.Scope == Part && f.line != nil && f.Row != "":
			parts = append(parts, f)
		case f.Kind == Share && len(parts) > 0 && f.line == parts[len(parts)-1].line:
			shares = append(shares, f)
		}
	}
}

// shared tests the share beside each part.
func shared(say sayer, parts, shares []*Figure, whole *Figure) {
	for _, p := range parts {
		for _, s := range shares {
			lo, hi := p.within()
			if s.line == p.line && !s.overlaps(lo/whole.Value*0.98, hi/whole.Value*1.02) {
				say(Refuse, "a share is not its part of the whole", fmt.Sprintf("%s / %s = %s, not %s",
					p.Text, whole.Text,
					percent(p.Value/whole.Value), s.Text), s, p, whole)
			}
		}
	}
}

// sum tests parts against a whole of the same kind.
func sum(say sayer, parts []*Figure, whole *Figure) {
	if len(parts) < 2 || !slices.Contains([]Kind{Time, Share, Cost, Count, Size}, whole.Kind) {
		return
	}
	total, slack := 0.0, 2*whole.Half
	for _, p := range parts {
		if p.Kind != whole.Kind {
			return
		}
		total += p.Value
		slack += 2 * p.Half
	}
	gap := total - whole.Value
	if whole.Value <= 0 || math.Abs(gap) <= slack+0.01*whole.Value {
		return
	}
	severity, text := Refuse, "parts do not add up to their whole"
	if gap < 0 && whole.Kind != Share {
		severity, text = Warn, "part of the whole is in none of its parts"
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Text
	}
	value := num(total)
	if whole.Kind == Share {
		value = percent(total)
	}
	say(severity, text, fmt.Sprintf("%s = %s, not %s", strings.Join(texts, " + "), value, whole.Text),
		parts[0], whole)
}

// costs tests price x workers x time where the document states one price.
func costs(d *Document, say sayer) {
	var price *Figure
	for _, f := range d.Figures {
		if f.Kind == Price {
			if price != nil && !price.equals(f) {
				return
			}
			price = f
		}
	}
	if price == nil {
		return
	}
	for _, g := range d.tables() {
		for _, r := range g.records {
			c, w, t := r.one(Cost, ""), r.workers(), r.one(Time, Total)
			if c == nil || w == nil || t == nil {
				continue
			}
			lo, hi := t.within()
			unit := price.Value * w.Value
			if !c.overlaps(lo*unit*0.98, hi*unit*1.02) && !c.overlaps(lo*price.Value*0.98,
				hi*price.Value*1.02) {
				say(Refuse, "a cost is not price × workers × time",
					fmt.Sprintf("%s × %g × %s = %s, not %s", price.Text,
						w.Value, t.Text, num(unit*t.Value), c.Text), c, t, price)
			}
		}
	}
}

// fractions tests count / total against the percentage beside it.
func fractions(d *Document, say sayer) {
	fs := d.Figures
	beside := func(a, b *Figure) bool {
		return a.Place.Line == b.Place.Line && b.Place.Column-a.Place.Column-len(a.Text) <= 4
	}
	for i, f := range fs {
		if f.over == nil || f.Half != 0.5 || f.over.Half != 0.5 || i+1 >= len(fs) || fs[i+1] != f.over {
			continue
		}
		var p *Figure
		switch {
		case i+2 < len(fs) && fs[i+2].Unit == "%" && beside(f.over, fs[i+2]):
			p = fs[i+2]
		case i > 0 && fs[i-1].Unit == "%" && beside(fs[i-1], f):
			p = fs[i-1]
		}
		if p == nil || p.isSigned || p.Kind == Change {
			continue
		}
		if v := f.Value / f.over.Value; !p.overlaps(v, v) {
			say(Refuse, "a percentage is not that of the count beside it",
				fmt.Sprintf("%s / %s = %s, not %s", f.Text,
					f.over.Text, percent(f.Value/f.over.Value), p.Text), p, f)
		}
	}
}

// rates tests count / time on one line, batch / step and rate x epoch.
func rates(d *Document, say sayer) {
	for _, l := range d.lines {
		c, t, r := l.of(Count), l.of(Time), l.of(Rate)
		if len(c) == 1 && len(t) == 1 && len(r) == 1 && c[0].over == nil && t[0].Value > 0 &&
			t[0].Scope != Part {
			lo, hi, mid := ratio("rate", t[0], c[0])
			if !r[0].overlaps(lo*0.97, hi*1.03) {
				say(Refuse, "a rate is not its count per time",
					fmt.Sprintf("%s / %s = %s per second, not %s", c[0].Text,
						t[0].Text, num(mid), r[0].Text), r[0], c[0], t[0])
			}
		}
	}
	samples, data := d.samples()
	for _, g := range d.tables() {
		for _, r := range g.records {
			rate := r.one(Rate, "")
			if rate == nil || mentions(rate.Unit, "token", "step", "batches", "it", "iteration") ||
				mentions(rate.Column+rate.Row, "token", "step", "batches") {
				continue
			}
			batch, w := globalBatch(r), r.workersOf()
			step, epoch := r.any(Time, Step), r.any(Time, Epoch)
			if batch != nil && step != nil && step.Value > 0 {
				each := rate.Value * step.Value / batch.Value
				isEach := w != nil && math.Abs(each/w.Value-1) < 0.07
				if math.Abs(each-1) > 0.07 && !isEach && (each > 0.4 && each < 2.5) {
					say(Warn, fmt.Sprintf("the rate of %s is not its batch per step", name(r)), fmt.Sprintf(
						"%s / %s = %s per second, not %s", batch.Text, step.Text,
						num(batch.Value/step.Value), rate.Text), rate, batch, step)
				}
			}
			if epoch != nil && samples > 0 {
				n := rate.Value * epoch.Value
				if gap := n / samples; (gap < 0.92 || gap > 1.08) && gap > 0.4 && gap < 2.5 {
					say(Warn, fmt.Sprintf("the rate of %s is not that of an epoch of %s", name(r), data),
						fmt.Sprintf(
							"%s × %s = %s samples, not %s", rate.Text, epoch.Text, num(n), num(samples)),
						rate, epoch)
				}
			}
		}
	}
}

// globalBatch returns the batch of all workers of a record.
func globalBatch(r *recordOf) *Figure {
	if f := r.one(Batch, ""); f != nil && !mentions(f.Column, "per") && !mentions(f.Row, "per") {
		return f
	}
	return nil
}

// sets are data sets by name, with their samples for training and their classes.
var sets = []struct {
	names            []string
	samples, classes float64
}{
	{[]string{"cifar-100", "cifar100"}, 50000, 100}, {[]string{"cifar-10", "cifar10"}, 50000, 10},
	{[]string{"fashion-mnist", "fashion mnist", "fashionmnist"}, 60000, 10}, {[]string{"mnist"}, 60000, 10},
	{[]string{"svhn"}, 73257, 10}, {[]string{"imagenet"}, 1281167, 1000}, {[]string{"sst-2", "sst2"},
		67349, 2},
}

// samples returns the size of the data set that the document names, if it names one and no part of one.
func (d *Document) samples() (n float64, name string) {
	if d.says("subset", "split", "tiny-imagenet", "tiny imagenet") {
		return 0, ""
	}
	for _, s := range d.named() {
		if n > 0 {
			return 0, ""
		}
		n, name = s.samples, strings.ToUpper(s.name)
	}
	return n, name
}

type named struct {
	name             string
	samples, classes float64
}

// named returns the data sets that the document names.
func (d *Document) named() []named {
	var out []named
	rest := d.text
	for _, s := range sets {
		for i, n := range s.names {
			if strings.Contains(rest, n) {
				if !slices.ContainsFunc(out, func(o named) bool { return o.name == s.names[0] }) {
					out = append(out, named{s.names[0], s.samples, s.classes})
				}
				rest = strings.ReplaceAll(rest, s.names[i], " ")
			}
		}
	}
	return out
}
