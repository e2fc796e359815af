package claim

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"lockstep/app/analysis"
)

// slack is what ratios may be off beyond the rounding of the figures that they are made of.
const slack = 0.01

// quotient returns a / b and the range that the rounding of both leaves open, with slack.
func quotient(a, b cell) (v, lo, hi float64) {
	v = a.value / b.value
	lo = (a.value - a.half) / (b.value + b.half) * (1 - slack)
	hi = (a.value + a.half) / (b.value - b.half) * (1 + slack)
	return v, lo, hi
}

// rounded is quotient with the slack where rounding leaves less open, not beyond it: figures that are whole
// seconds explain much by themselves, and nothing else.
func rounded(a, b cell) (v, lo, hi float64) {
	v = a.value / b.value
	lo = min((a.value-a.half)/(b.value+b.half), v*(1-slack))
	hi = max((a.value+a.half)/(b.value-b.half), v*(1+slack))
	return v, lo, hi
}

// fits reports whether a figure, rounded as it is written, is within a range.
func (c cell) fits(lo, hi float64) bool { return c.value+c.half >= lo && c.value-c.half <= hi }

// denominators objects to ratios that the table's own figures do not give.
func denominators(t *table, say sayer) {
	for _, g := range t.groups() {
		base := baseline(g)
		for _, e := range g {
			if base != nil && e != base {
				ratioOf(e, base, say)
				shareOf(e, base, say)
			}
			rateOf(e, say)
			rateOfAll(e, say)
			stepsInEpoch(e, say)
			meanOf(e, say)
			costOf(e, say)
			if a := e.value(accuracy); a > 1.0001 {
				say(Refused, e.name, "an accuracy of %s", percent(a))
			}
		}
		t.uncounted(g, base, say)
		if base == nil && t.has(speedup) && len(g) > 0 && given(g[0].cell(speedup).value) {
			say(Noted, "", "no row has a speed-up of 1 or fewest workers, so nobody can tell what the "+
				"speed-ups relate to")
		}
	}
}

// ratioOf objects to a speed-up that no kind of time gives.
func ratioOf(e, base *entry, say sayer) {
	off, on, fits := speedups(e, base)
	switch s := e.cell(speedup); {
	case fits && on != unknown && !(off != unknown && isCoarse(e, base, on, off)):
		v, _ := divided(e, base, on)
		coarse(e, speedup, "speed-up", v.value, say)
	case off != unknown:
		v, shown := divided(e, base, off)
		say(Refused, e.name, "speed-up %s, but %s = %s by the %s, relative to %s", num(s.value), shown,
			num(v.value), off.word(), base.name)
	}
}

// speedups finds a kind of time that does not give the entry's speed-up, and one that does, if there are any;
// fits is whether there is one that does.
func speedups(e, base *entry) (off, on kind, fits bool) {
	s := e.cell(speedup).derived(speedup)
	if !given(s.value) || len(e.values(speedup)) > 1 {
		return unknown, unknown, false
	}
	by := e.table.columns[e.table.column(speedup)].name
	for _, k := range paces() {
		v, _ := divided(e, base, k)
		room := speedupRoom(e, base, k)
		if all := v.scaled(grown(e, base)); (k == epoch || k == total) && work(e, base, k) == 1 &&
			s.fits(all.lo*(1-room), all.hi*(1+room)) {
			v = all // of as many steps, of larger batches
		}
		switch {
		case !given(v.value), saysTime.MatchString(by) && !strings.Contains(by, k.word()):
		case v.value >= s.lo && v.value <= s.hi:
			on, fits = k, true
		case s.fits(v.lo*(1-room), v.hi*(1+room)) && fits:
		case s.fits(v.lo*(1-room), v.hi*(1+room)):
			on, fits = k, true
		case off == unknown:
			off = k
		}
	}
	return off, on, fits
}

// isCoarse reports whether a speed-up fits a kind of time only for its coarse rounding, while another kind,
// which agrees with that one, does not give it: then it is a wrong quotient, and no time of another kind.
func isCoarse(e, base *entry, on, off kind) bool {
	by, _ := divided(e, base, on)
	v, _ := divided(e, base, off)
	return grown(e, base) == 1 && v.value >= by.lo && v.value <= by.hi && isFar(e, base, v.value)
}

// isFar reports whether a speed-up is farther from a ratio than evaluations and the spread of runs explain.
func isFar(e, base *entry, ratio float64) bool {
	return math.Abs(ratio/e.cell(speedup).value-1) > max(mixed, noise(e, base))
}

// speedupRoom is how far a speed-up may be from the ratio of times for being taken round by round: as far as
// the intervals of the times leave open, or the spread of the runs, or what runs may differ by.
func speedupRoom(e, base *entry, k kind) float64 {
	lo, hi, ok := e.interval(k)
	from, to, isBase := base.interval(k)
	switch v := base.slowness(k) / e.slowness(k); { // the work of both cancels
	case noise(e, base) > 0:
		return max(analysis.NoiseLimit, noise(e, base))
	case ok && isBase:
		return max(to/lo/v, v*hi/from) - 1
	case given(e.cell(speedup).lo) || e.numRuns(speedup) > 1:
		return analysis.NoiseLimit
	}
	return 0
}

// saysTime are words of a heading that says by which time its speed-ups are.
var saysTime = regexp.MustCompile(`\b(step|epoch|total)\b`)

// noise returns the larger spread of the runs of entries, of which a table may tell; 0: it does not.
func noise(entries ...*entry) float64 {
	most := 0.0
	for _, e := range entries {
		if v := e.cell(variation).value; given(v) {
			most = max(most, v)
		}
	}
	return most
}

// divided returns the speed-up of an entry by a kind of time, with the range that rounding leaves open,
// and how it is made up.
func divided(e, base *entry, k kind) (v cell, shown string) {
	a, b := base.cellOf(k), e.cellOf(k)
	if k == throughput {
		a, b = b, a
	}
	v.value, v.lo, v.hi = rounded(a, b)
	shown = num(a.value) + " / " + num(b.value)
	if k.isTime() {
		shown = base.duration(k, a.value) + " / " + e.duration(k, b.value)
	}
	if w := work(e, base, k); w != 1 {
		v, shown = v.scaled(w), num(w)+" × "+shown
	}
	return v, shown
}

// cellOf is cell with the median of repeated runs and the slowest of the ranks as value.
func (e *entry) cellOf(k kind) cell {
	c := e.cell(k)
	if k == rankStep {
		c.value = e.slowness(k)
		return c
	}
	c.value = e.value(k)
	return c
}

// speedupOver returns the entry's speed-up: as written, or by the first kind of time that both have.
func (e *entry) speedupOver(base *entry) cell {
	if s := e.cell(speedup); given(s.value) {
		return s
	}
	k, ok := timeOf(e, base)
	if !ok {
		return parseCell("")
	}
	v := base.slowness(k) / e.slowness(k) * work(e, base, k)
	return cell{value: v, half: v * slack, lo: math.NaN(), hi: math.NaN()}
}

// soundSpeedup is speedupOver, but by the times where they refute the figure that is written: no sentence
// holds by a figure that is refused.
func (e *entry) soundSpeedup(base *entry) cell {
	if off, _, fits := speedups(e, base); off != unknown && !fits {
		v, _ := divided(e, base, off)
		return cell{value: v.value, half: v.value * slack, lo: math.NaN(), hi: math.NaN()}
	}
	return e.speedupOver(base)
}

// rateOf objects to samples per second that are not the batch by the step.
func rateOf(e *entry, say sayer) {
	c, b, s := e.cell(throughput).derived(throughput), e.batch(), e.cell(step)
	if !given(c.value) || !given(b) || !given(s.value) || len(e.values(step)) > 1 {
		return
	}
	v, lo, hi := quotient(cell{value: b}, s)
	if i := e.table.column(span); i >= 0 && e.table.columns[i].of == e.table.column(step) {
		if of := e.table.rows[e.rows[0]][i]; of.lo > 0 && of.hi >= of.lo {
			lo, hi = min(lo, b/of.hi), max(hi, b/of.lo) // a rate is that of the mean step, not of the median
		}
	}
	isMilli := s.unit == "" && e.table.columns[e.table.column(step)].unit == 0 && c.fits(lo*950, hi*1050)
	if room := 1 + max(0.05, noise(e)); !isMilli && !c.fits(lo/room, hi*room) {
		say(Refused, e.name, "%s samples per second, but a batch of %s in steps of %s is %s", num(c.value),
			num(b), seconds(s.value), num(v))
	}
}

// ofEach are words of a heading that says that its rates are those of one worker.
var ofEach = regexp.MustCompile(`(?:\bper|/|\beach) ?(?:worker|gpu|device|process|rank|node|host|machine|` +
	`replica|core|thread)`)

// rateOfAll refuses a rate so low, even times the workers, that the samples of the row would take longer than
// its total. A higher rate is fine: a total includes evaluation and start-up.
func rateOfAll(e *entry, say sayer) {
	c, n, s := e.cell(throughput).derived(throughput), e.value(samples), e.cell(total)
	if !given(c.value) || !given(n) || !given(s.value) || len(e.values(total)) > 1 || e.table.isToTarget() {
		return
	}
	w := e.workers()
	switch {
	case w >= 1:
	case ofEach.MatchString(e.table.columns[e.table.column(throughput)].name):
		return
	default:
		w = 1
	}
	column := e.table.columns[e.table.column(total)]
	isSeconds := s.unit != "" || column.unit > 0 || strings.Contains(column.name, "second")
	most := (c.value + c.half) * w * (1 + max(0.1, noise(e)))
	if isSeconds && c.value > 0 && most*s.value < n {
		say(Refused, e.name, "%s samples per second, but %s samples in %s are %s", num(c.value), num(n),
			seconds(s.value), num(n/s.value))
	}
}

// meanOf objects to a mean of losses that lies below all of them, or above.
func meanOf(e *entry, say sayer) {
	mean := e.cell(meanLoss)
	least, most := math.Inf(1), math.Inf(-1)
	for i, c := range e.table.columns {
		if v := e.at(i).value; (c.kind == lossAt || c.kind == firstLoss || c.kind == loss) && given(v) {
			least, most = math.Min(least, v), math.Max(most, v)
		}
	}
	if !given(mean.value) || least > most {
		return
	}
	const far = 0.6 // the rest of a mean may lie beyond a few iterations, not by this much
	if mean.value < far*least || mean.value > most/far && mean.value > 3*most {
		say(Refused, e.name, "a mean loss of %s beside losses of %s to %s: a mean lies among what it is "+
			"the mean of, so its sum was divided by too many, or it is not theirs", num(mean.value),
			num(least), num(most))
	}
}

// costOf objects to a cost that is not time × devices × price.
func costOf(e *entry, say sayer) {
	c, p, s := e.cell(cost).derived(cost), e.cell(price), e.cell(total)
	if !given(c.value) || !given(p.value) || !given(s.value) {
		return
	}
	devices := e.workers()
	if !given(devices) {
		devices = 1
	}
	v := analysis.Cost(s.value, devices, p.value)
	if off := v * slack; !c.fits(v-off, v+off) {
		say(Refused, e.name, "a cost of %s, but %s / 3600 × %s × %s = %s", num(c.value), seconds(s.value),
			num(devices), num(p.value), num(v))
	}
}

// amdahlFigures objects to figures of Amdahl's or Gustafson's law that the law does not give, and to
// projected speed-ups above the limit that the measured serial fraction sets.
func amdahlFigures(t *table, say sayer) {
	for i, c := range t.columns {
		for _, e := range t.entries {
			law(e, c, e.at(i), say)
		}
	}
	beyondAmdahl(t, say)
}

// beyondAmdahl objects to speed-ups that nobody measured and that are above what Amdahl's law gives with the
// serial fraction of the fewest workers beside the baseline.
func beyondAmdahl(t *table, say sayer) {
	base := baseline(t.entries)
	if base == nil || t.isWeak() {
		return
	}
	first := firstScaled(t, base)
	if first == nil {
		return
	}
	p0, s0 := first.processors()/base.processors(), first.speedupOver(base).value
	f := analysis.KarpFlatt(analysis.Scaled{Processors: p0, Speedup: s0})
	least := analysis.KarpFlatt(analysis.Scaled{Processors: p0, Speedup: first.bestSpeedup(base)})
	if least <= 0 {
		return
	}
	for _, e := range t.entries {
		p := e.processors() / base.processors()
		k := slices.IndexFunc(t.columns, func(c column) bool { return c.kind == predicted })
		s := e.speedupOver(base)
		if k >= 0 {
			if measured := e.cell(speedup); measured.value >= e.at(k).value {
				continue // it came true
			}
			s = e.at(k)
		}
		if p <= p0 || !given(s.value) || k < 0 && !e.isProjected {
			continue
		}
		if s.value-s.half > analysis.Amdahl(least, p)*(1+slack) {
			say(Refused, e.name, "%s at %s times the processors: %s at %s means a serial fraction of %s, "+
				"hence %s by Amdahl's law", num(s.value), num(p), num(s0), num(p0), percent(f),
				num(analysis.Amdahl(f, p)))
		}
	}
}

// firstScaled returns the entry with the fewest processors above the baseline's that has a speed-up; nil:
// none.
func firstScaled(t *table, base *entry) (first *entry) {
	for _, e := range t.entries {
		isMore := e.processors() > base.processors() && given(e.speedupOver(base).value)
		if isMore && (first == nil || e.processors() < first.processors()) {
			first = e
		}
	}
	return first
}

// bestSpeedup returns the largest speed-up that the figures leave open.
func (e *entry) bestSpeedup(base *entry) float64 {
	s := e.speedupOver(base).derived(speedup)
	most := s.value + s.half
	if given(s.hi) {
		most = math.Max(most, s.hi)
	}
	if k, ok := timeOf(e, base); ok {
		lo, _, isRange := e.interval(k)
		if _, hi, ok := base.interval(k); ok && isRange {
			most = math.Max(most, hi/lo*work(e, base, k))
		}
	}
	return most
}

// law checks one figure of a column that a law is said to give.
func law(e *entry, c column, figure cell, say sayer) {
	p := e.processors()
	if c.serial == 0 || !given(p) || !given(figure.value) {
		return
	}
	var v float64
	var name string
	switch c.kind {
	case amdahl:
		v, name = analysis.Amdahl(c.serial, p), "Amdahl's law"
	case gustafson:
		v, name = analysis.Gustafson(c.serial, p), "Gustafson's law"
	default:
		return
	}
	if !figure.derived(c.kind).fits(v*(1-slack/2), v*(1+slack/2)) {
		say(Refused, e.name, "%s at %s, but %s with a serial fraction of %s gives %s", num(figure.value),
			num(p), name, percent(c.serial), num(v))
	}
}

// reasons are words that say why cores may do more than alone.
var reasons = regexp.MustCompile(`(?i)\bcaches?\b|\bL[123]\b|\bNUMA\b|memory bandwidth|working set|` +
	`turbo|swap`)

// superlinear objects to cores that do more than those of the baseline, unless a remark says why.
func superlinear(t *table, say sayer) {
	for _, g := range t.groups() {
		base := baseline(g)
		for _, e := range g {
			if base != nil && e != base {
				aboveLinear(e, base, say)
			}
		}
	}
}

// aboveLinear objects to an efficiency above 100 %, as written or as the speed-up gives it.
func aboveLinear(e, base *entry, say sayer) {
	v := e.cell(efficiency).value
	s, p := e.speedupOver(base), e.processors()/base.processors()
	isStated := given(v) || given(e.cell(speedup).value)
	if !isStated && (e.table.hasNoRatios || unequal(e, base) != "") {
		return
	}
	what := percent(v)
	if !given(v) && p > 1 {
		v = (s.value - s.half) / p // the least that rounding allows decides
		what = percent(s.value/p) + " (" + num(s.value) + " / " + num(p) + ")"
	}
	c := e.cell(efficiency)
	switch {
	case !isStated && e.table.isToTarget(): // more workers may reach it in fewer epochs
	case !given(v) || !analysis.IsSuperlinear(v):
	case c.lo <= 1 || s.lo <= p:
		say(Noted, e.name, "an efficiency of %s, which its interval does not show to be above 100 %%", what)
	case reasons.MatchString(e.text(remark)):
		say(Noted, e.name, "an efficiency of %s, explained by %q; that is a reason, not yet its "+
			"measurement", what, e.text(remark))
	default:
		say(Refused, e.name, "an efficiency of %s: dividing work makes no core faster", what)
	}
}
