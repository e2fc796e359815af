package check

import (
	"fmt"
	"math"
	"strings"

	"lockstep/app/analysis"
)

// speedups tests speed-ups against the times and rates of the same table, whose row of 1.00 is the baseline.
func speedups(d *Document, say sayer) {
	slack := 0.01
	if d.isRepeated() {
		slack = 0.1
	}
	for _, g := range d.tables() {
		base := baselineOf(g)
		if base == nil {
			continue
		}
		var wrong []func()
		fitting := 0
		for _, r := range g.records {
			s := r.one(Speedup, "")
			if r == base || s == nil || s.Value <= 0 {
				continue
			}
			from := base.works()
			isFit, key := fit(s, from, r.works(), slack)
			switch {
			case key == "":
			case isFit:
				fitting++
			default:
				a, b := from[key], r.works()[key]
				_, _, mid := ratio(key, a, b)
				wrong = append(wrong, func() {
					say(Refuse, fmt.Sprintf("the speed-up of %s is not what its %s gives", name(r), key),
						fmt.Sprintf("%s against %s is %s, not %s", a.Text, b.Text, num(mid), s.Text), s, a, b)
				})
			}
		}
		if fitting == 0 && len(wrong) > 1 {
			continue // of another baseline
		}
		for _, w := range wrong {
			w()
		}
	}
}

// fit reports whether a speed-up is the ratio of some time or rate; key names the nearest.
func fit(s *Figure, from, to map[string]*Figure, slack float64) (isFit bool, key string) {
	least := math.Inf(1)
	for _, k := range []string{"time total", "time epoch", "time step", "time ", "rate"} {
		a, b := from[k], to[k]
		if a == nil || b == nil {
			continue
		}
		lo, hi, mid := ratio(k, a, b)
		if s.overlaps(lo*(1-slack), hi*(1+slack)) {
			return true, k
		}
		if gap := math.Abs(math.Log(mid / s.Value)); gap < least {
			least, key = gap, k
		}
	}
	return false, key
}

// baselineOf returns the record with a speed-up of one.
func baselineOf(g *group) *recordOf {
	var base *recordOf
	for _, r := range g.records {
		if s := r.one(Speedup, ""); s != nil && s.Value == 1 {
			if base != nil {
				return nil
			}
			base = r
		}
	}
	return base
}

func name(r *recordOf) string {
	if w := r.workers(); w != nil && strings.Trim(r.label, "0123456789 .,x×") == "" {
		return fmt.Sprintf("%g workers", w.Value)
	}
	label := []rune(strings.TrimSpace(r.label))
	if len(label) > 40 {
		label = append(label[:40], '…')
	}
	return "“" + string(label) + "”"
}

// sides tests columns that compare two others in the same row: speed-ups and percentages.
func sides(d *Document, say sayer) {
	for _, g := range d.groups {
		if g.table == nil {
			continue
		}
		for i := range g.table.figures[1:] {
			var times, rates, speeds, changes []*Figure
			for _, cell := range g.table.figures[i+1] {
				for k, f := range cell {
					switch {
					case f.Kind == Time && k == 0:
						times = append(times, f)
					case f.Kind == Rate && k == 0:
						rates = append(rates, f)
					case f.Kind == Speedup && isCompared(f.Column):
						speeds = append(speeds, f)
					case f.Kind == Change && isCompared(f.Column):
						changes = append(changes, f)
					}
				}
			}
			a, b, ok := pairOf(times, rates)
			if !ok || (!g.table.isAside && a.Scope != b.Scope) {
				continue
			}
			if len(speeds) == 1 && len(changes) == 0 {
				side(say, a, b, speeds[0])
			}
			if len(changes) == 1 && len(speeds) == 0 && g.table.isAside {
				change(say, a, b, changes[0])
			}
		}
	}
}

// pairOf returns the two times, or the two rates in the order of times, of a row that has just two.
func pairOf(times, rates []*Figure) (a, b *Figure, ok bool) {
	switch {
	case len(times) == 2 && len(rates) == 0:
		return times[0], times[1], true
	case len(rates) == 2 && len(times) == 0:
		return rates[1], rates[0], true
	}
	return nil, nil, false
}

func side(say sayer, a, b, s *Figure) {
	lo, hi, mid := ratio("", a, b)
	if mid > 0 && !s.overlaps(lo*0.99, hi*1.01) && !s.overlaps(0.99/hi, 1.01/lo) {
		say(Refuse, "a speed-up is not the ratio of the two figures beside it",
			fmt.Sprintf("%s / %s = %s, not %s", a.Text, b.Text, num(mid), s.Text), s, a, b)
	}
}

// change tests a percentage: of time saved, or of speed gained.
func change(say sayer, a, b, c *Figure) {
	lo, hi, mid := ratio("", a, b)
	if mid <= 0 {
		return
	}
	v := *c
	v.Value = math.Abs(v.Value)
	faster, less := v.overlaps(math.Abs(lo-1), math.Abs(hi-1)) || v.overlaps(math.Abs(hi-1), math.Abs(lo-1)),
		v.overlaps(math.Abs(1-1/lo), math.Abs(1-1/hi)) || v.overlaps(math.Abs(1-1/hi), math.Abs(1-1/lo))
	isSaid := c.isFaster
	switch {
	case !faster && !less:
		say(Refuse, "a percentage is not that of the two figures beside it", fmt.Sprintf(
			"%s against %s is %s more speed or %s less time, not %s", a.Text, b.Text, percent(mid-1),
			percent(1-1/mid), c.Text), c, a, b)
	case less && !faster && isSaid && a.Kind == Time:
		say(Warn, "less time is called faster", fmt.Sprintf("%s to %s is %s less time, and %s faster",
			a.Text, b.Text,
			percent(1-1/mid), percent(mid-1)), c, a, b)
	}
}

// efficiencies tests speed-up / workers.
func efficiencies(d *Document, say sayer) {
	test := func(s, w, e *Figure, first float64) {
		sLo, sHi := s.within()
		if e.overlaps(sLo/w.Value*0.99, sHi/w.Value*1.01) || e.overlaps(sLo*first/w.Value*0.99,
			sHi*first/w.Value*1.01) {
			return
		}
		say(Refuse, "an efficiency is not its speed-up per worker",
			fmt.Sprintf("%s / %g = %s, not %s", s.Text, w.Value, percent(s.Value/w.Value), e.Text), e, s, w)
	}
	for _, g := range d.tables() {
		first := math.Inf(1)
		for _, r := range g.records {
			if w := r.workers(); w != nil {
				first = min(first, w.Value)
			}
		}
		for _, r := range g.records {
			s, w, e := r.one(Speedup, ""), r.workers(), r.one(Efficiency, "")
			if s != nil && w != nil && e != nil && w.Value > 1 {
				test(s, w, e, first)
			}
		}
	}
	for _, l := range d.lines {
		s, w, e := l.of(Speedup), l.of(Workers), l.of(Efficiency)
		if len(s) == 1 && len(w) == 1 && len(e) == 1 && w[0].Value > 1 && s[0].upTo == nil {
			test(s[0], w[0], e[0], 1)
		}
	}
}

// superlinear warns of speed-ups beyond the number of workers, and beyond a maximum that the document states.
func superlinear(d *Document, say sayer) {
	for _, g := range d.tables() {
		for _, r := range g.records {
			w := r.workersOf()
			if w == nil || w.Value < 2 {
				continue
			}
			for _, f := range r.figures {
				isWhole := f.Kind == Speedup && (!isCompared(f.Column) || allScopeOf(f.Row) != Part &&
					isCompared(f.Column))
				if lo, _ := f.within(); isWhole && lo > w.Value && !mentions(f.Row, "rate", "batch") {
					say(Warn, fmt.Sprintf("a speed-up of more than its workers: %s of %s", f.Text, name(r)),
						fmt.Sprintf("%s > %g", f.Text, w.Value), f, w)
				}
				if lo, _ := f.within(); f.Kind == Efficiency && lo > 1.005 {
					say(Warn, "an efficiency above 100 %", f.Text+" > 100 %", f)
				}
			}
		}
	}
}

func allScopeOf(label string) Scope {
	_, s := meaning(wordsOf(label))
	return s
}

// amdahl tests speed-ups that a section derives from a parallel fraction.
func amdahl(d *Document, say sayer) {
	for _, p := range d.Figures {
		if p.Kind != Parallel && p.Kind != Serial || p.Value <= 0 || p.Value >= 1 || p.line == nil {
			continue
		}
		section := p.Section
		if !strings.Contains(strings.ToLower(section+p.line.text), "amdahl") {
			continue
		}
		for _, l := range d.lines {
			w, s := l.of(Workers), l.of(Speedup)
			if len(w) != 1 || len(s) == 0 || w[0].Value < 2 || !near(l, p.line) {
				continue
			}
			for i, one := range s {
				serial := func(v float64) float64 {
					if p.Kind == Parallel {
						return 1 - v
					}
					return v
				}
				lo, hi := analysis.Amdahl(serial(p.Value-p.Half), w[0].Value),
					analysis.Amdahl(serial(p.Value+p.Half), w[0].Value)
				lo, hi = min(lo, hi), max(lo, hi)
				isWrong := i == 0 && !one.overlaps(lo, hi)
				least, _ := one.within()
				if isWrong || i > 0 && least > hi {
					say(Refuse, fmt.Sprintf("not what Amdahl's law gives at %g workers", w[0].Value),
						fmt.Sprintf(
							"1 / (%s + %s / %g) = %s, not %s", num(serial(p.Value)), num(1-serial(p.Value)),
							w[0].Value,
							num(analysis.Amdahl(serial(p.Value), w[0].Value)), one.Text), one, p)
				}
			}
		}
	}
}

// nearLines is how far from a stated fraction its law is listed.
const nearLines = 25

func near(a, b *line) bool { return a.number >= b.number && a.number-b.number <= nearLines }

// projections tests guessed speed-ups against the smallest one of their table by Amdahl's law.
func projections(d *Document, say sayer) {
	for _, g := range d.tables() {
		var first *recordOf
		for _, r := range g.records {
			w, s := r.workers(), r.one(Speedup, "")
			if w != nil && s != nil && w.Value > 1 && (first == nil || w.Value < first.workers().Value) {
				first = r
			}
		}
		if first == nil {
			continue
		}
		w1, s1 := first.workers().Value, first.one(Speedup, "")
		_, high := s1.within()
		serial := max(0, (w1/high-1)/(w1-1))
		for _, r := range g.records {
			w, s := r.workers(), r.one(Speedup, "")
			if r == first || w == nil || s == nil || w.Value <= w1 || !r.isGuess() && !s.isGuess {
				continue
			}
			if lo, _ := s.within(); lo > analysis.Amdahl(serial, w.Value) {
				f := (w1/s1.Value - 1) / (w1 - 1)
				say(Warn, fmt.Sprintf("a projection beyond what %s leaves", s1.Text), fmt.Sprintf(
					"%s at %g workers is a serial fraction of %s, so at most %s at %g, not %s", s1.Text, w1,
					percent(f), num(analysis.Amdahl(f, w.Value)), w.Value, s.Text), s, s1)
			}
		}
	}
}
