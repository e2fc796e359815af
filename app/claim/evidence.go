package claim

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"lockstep/app/analysis"
	"lockstep/internal/spelling"
)

// bootstrapSeed makes every interval of a document the same in every check.
const bootstrapSeed = 1

// manyRuns is a number of runs from which on Student's distribution hardly changes.
const manyRuns = 1000

// evidence is how well two entries are told apart by their figures of a kind.
type evidence struct {
	ratio float64 // of the figures, a's by b's
	text  string  // the figures with intervals
	isOne bool    // without any interval on one side
	basis string  // how many runs it is from, if isOne
	p     float64 // of such a difference between equals; NaN: not from runs

	within   analysis.Interval // of the ratio; from two intervals, the widest that they leave open
	rounding float64           // by which the digits written may move the ratio

	isCoarse bool // the runs of one side agree to the last digit, so that rounding hides how they differ
}

// compare sets two entries in relation by a kind of figure.
func compare(a, b *entry, k kind) evidence {
	w := work(a, b, k)
	va, vb := a.slowness(k)/w, b.slowness(k)
	e := evidence{ratio: va / vb, p: math.NaN(), rounding: a.rounding(k) + b.rounding(k)}
	e.text = fmt.Sprintf("%s %s, %s %s", a.name, a.shown(k), b.name, b.shown(k))
	if w != 1 {
		e.text += fmt.Sprintf(" for batches of %s and %s", num(a.batch()), num(b.batch()))
	}
	idsA, runsA := a.runs(k)
	idsB, runsB := b.runs(k)
	if k == throughput {
		runsA, runsB = inverse(runsA), inverse(runsB)
	}
	if w != 1 {
		runsA = scaled(runsA, 1/w)
	}
	if len(runsA) > 1 && len(runsB) > 1 {
		e.compareRuns(idsA, idsB, runsA, runsB)
		return e
	}
	loA, hiA, okA := a.interval(k)
	loB, hiB, okB := b.interval(k)
	e.isOne, e.basis = !okA || !okB, "from one run each"
	if a.numRuns(k) > 1 && b.numRuns(k) > 1 {
		e.basis = "from runs whose spread is not said"
	}
	e.within = analysis.Interval{Lo: loA / w / hiB, Hi: hiA / w / loB}
	return e
}

// compareRuns tells two entries apart by their runs: in pairs where they are of the same repeats.
func (e *evidence) compareRuns(idsA, idsB []string, runsA, runsB []float64) {
	ma, mb := analysis.MomentsOf(runsA), analysis.MomentsOf(runsB)
	e.isCoarse = ma.SD == 0 || mb.SD == 0
	if a, b := sameRepeats(idsA, idsB, runsA, runsB); a != nil {
		r := analysis.PairedRatio(a, b)
		e.ratio, e.p = r.Median, r.PairedP()
		e.within = r.Interval
		e.text += ratioText(r.Median, r.Interval)
		return
	}
	i := analysis.BootstrapRatio(runsA, runsB, analysis.Confidence, bootstrapSeed)
	e.p = ma.DifferenceP(mb)
	e.within = i
	e.text += ratioText(e.ratio, i)
}

// sameRepeats returns the figures of the repeats that both sides have, if those of one are among those of the
// other, and there are two or more.
func sameRepeats(idsA, idsB []string, a, b []float64) (bothA, bothB []float64) {
	for i, id := range idsA {
		if at := slices.Index(idsB, id); at >= 0 {
			bothA, bothB = append(bothA, a[i]), append(bothB, b[at])
		}
	}
	if len(bothA) < 2 || len(bothA) < min(len(a), len(b)) {
		return nil, nil
	}
	return bothA, bothB
}

// mayBeApart reports whether the evidence tells the two apart, p being corrected for the number of pairs, if
// rounding is given the benefit of the doubt.
func (e evidence) mayBeApart(p float64) bool { return e.isApart(p, -e.rounding) }

// mustBeApart reports whether the evidence tells the two apart however the figures were rounded.
func (e evidence) mustBeApart(p float64) bool { return e.isApart(p, e.rounding) }

func (e evidence) isApart(p, slack float64) bool {
	isBeyond := !e.isOne && analysis.IsBeyond(e.within, max(slack, -analysis.LeastDifference))
	return isBeyond && (math.IsNaN(p) || p < analysis.Significance)
}

// why says why two are not told apart.
func (e evidence) why(p float64) string {
	if !e.within.Contains(1) && !(p >= analysis.Significance) {
		return analysis.TooClose()
	}
	return "the runs do not tell them apart" + probability(p)
}

// rounding returns half a unit of the last digit of an entry's figure, as a share of it.
func (e *entry) rounding(k kind) float64 {
	if c := e.cell(k); given(c.half / c.value) {
		return c.half / c.value
	}
	return 0
}

// gap is how much more the larger figure is.
func (e evidence) gap() string { return percent(math.Exp(math.Abs(math.Log(e.ratio))) - 1) }

// isNear reports whether the two are no farther apart than runs of one row may be.
func (e evidence) isNear() bool {
	return math.Abs(math.Log(e.ratio)) <= math.Log(1+analysis.NoiseLimit)
}

func ratioText(ratio float64, i analysis.Interval) string {
	return fmt.Sprintf("; ratio %s (%s to %s)", num(ratio), num(i.Lo), num(i.Hi))
}

func inverse(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = 1 / v
	}
	return out
}

func scaled(x []float64, f float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * f
	}
	return out
}

// shown writes an entry's figure with its interval, that of the bootstrap where there are runs.
func (e *entry) shown(k kind) string {
	text := e.figure(k)
	if k == accuracy {
		text = percent(e.value(k))
	}
	if lo, hi, ok := e.interval(k); ok {
		format := num
		switch {
		case k == accuracy:
			format = percent
		case k != throughput:
			format = func(v float64) string { return e.duration(k, v) }
		}
		text += fmt.Sprintf(" (%s to %s)", format(lo), format(hi))
	}
	return text
}

// interval returns the range of an entry's figure: of its runs, in the cell, or in columns beside it.
func (e *entry) interval(k kind) (lo, hi float64, ok bool) {
	if runs := e.values(k); len(runs) > 1 {
		i := analysis.BootstrapMedian(runs, analysis.Confidence, bootstrapSeed)
		return i.Lo, i.Hi, true
	}
	c := e.cell(k)
	if given(c.lo) && given(c.hi) {
		return ordered(c.lo, c.hi, k)
	}
	at := e.table.column(k)
	lo, hi = math.NaN(), math.NaN()
	for i, column := range e.table.columns {
		v := e.at(i).value
		if column.of != at || at < 0 || !given(v) {
			continue
		}
		switch column.kind {
		case low:
			lo = v
		case high:
			hi = v
		case ends:
			if lo, hi = e.at(i).lo, e.at(i).hi; !given(lo) || !given(hi) {
				lo, hi = c.value-v, c.value+v
			}
		case deviation:
			lo, hi = c.value-2*v, c.value+2*v // about 95 % of the runs
			if n := e.cell(repeats).value; n >= 2 && !ofMean.MatchString(column.name) {
				mean := analysis.Moments{N: int(min(n, manyRuns)), Mean: c.value, SD: v}
				i := mean.MeanInterval(analysis.Confidence)
				lo, hi = i.Lo, i.Hi
			}
		}
	}
	if !given(lo) || !given(hi) {
		return lo, hi, false
	}
	return ordered(lo, hi, k)
}

// ofMean are headings of deviations that are those of a mean, not of single runs.
var ofMean = regexp.MustCompile(`err|^sem`)

// unreadSpread returns the heading of the column behind figures of a kind, if no rule reads it and it may say
// how far their runs spread: it holds ranges, or numbers below half of the figures. "" if there is none.
func (t *table) unreadSpread(k kind) string {
	i, j := t.column(k)+1, t.column(k)
	if j < 0 || i == len(t.columns) || t.columns[i].kind != unknown ||
		foreignUnit.MatchString(t.columns[i].header) {
		return ""
	}
	read, isSome := t.readAs(i, j), false
	for r, row := range t.rows {
		one, of := read(r), row[j]
		switch {
		case isBlank(one.text), !given(of.value):
			continue
		case given(one.lo) && given(one.hi), math.Abs(one.value) < of.value/2:
			isSome = true
		default:
			return ""
		}
	}
	if !isSome {
		return ""
	}
	return t.columns[i].header
}

// foreignUnit is a heading with a unit that is none of a time.
var foreignUnit = regexp.MustCompile(`(?i)[(\[,] ?(?:[kmgt]?i?(?:b|bytes?|bits?)(?:/s|ps)?|[kmg]?w|j|` +
	`k?wh|[kmgt]?hz|°?c|\$|€|[kmgtp]?flops?(?:/s)?)[)\]]?$`)

// ordered returns a range of slowness.
func ordered(lo, hi float64, k kind) (float64, float64, bool) {
	if k == throughput {
		lo, hi = 1/lo, 1/hi
	}
	return min(lo, hi), max(lo, hi), true
}

// numRuns returns how many runs are behind an entry; NaN: not said.
func (e *entry) numRuns(k kind) float64 {
	if n := len(e.values(k)); n > 1 {
		return float64(n)
	}
	if v := e.cell(repeats).value; given(v) {
		return v
	}
	return e.table.facts.repeats
}

// repeated notes rows of one run each, and refuses to compare those that lie no farther apart than runs do.
func repeated(t *table, say sayer) {
	for _, g := range t.groups() {
		k, ok := timeOf(g...)
		if !ok || len(g) < 2 || t.unreadSpread(k) != "" {
			continue
		}
		var once []*entry
		for _, e := range g {
			if _, _, hasRange := e.interval(k); !hasRange && !(e.numRuns(k) > 1) {
				once = append(once, e)
			}
		}
		if len(once) < 2 {
			continue
		}
		which := fmt.Sprintf("each of the %d rows", len(g))
		if len(once) < len(g) {
			which = list(namesOf(once))
		}
		say(Noted, "", "one run of %s, as far as the table tells: a single run has no spread", which)
		if !t.isCompared() || t.isOnce {
			continue
		}
		slices.SortStableFunc(once, func(a, b *entry) int { return sign(a.slowness(k) - b.slowness(k)) })
		for i, e := range once[1:] {
			isMore := (k == epoch || k == total) && isWeak(once[i], e) // perhaps of as many steps
			isEqual := once[i].slowness(k) == e.slowness(k)
			if c := compare(once[i], e, k); !isMore && !isEqual && !t.saysWeak() && c.isNear() {
				say(Refused, "", "%s: %s apart, from one run each; runs of one row differ by up to %s",
					c.text, c.gap(), percent(analysis.NoiseLimit))
			}
		}
	}
}

// best are words for a winner in a row's own name or remark.
var best = regexp.MustCompile(`(?i)\b(best|winner|fastest|wins)\b`)

// winners objects to a row that is called the fastest, or set in bold, and is not told apart from the next.
func winners(t *table, say sayer) {
	for _, g := range t.groups() {
		g = slices.DeleteFunc(g, func(e *entry) bool { return unranked.MatchString(e.text(remark)) })
		k, ok := timeOf(g...)
		if !ok || len(g) < 2 {
			continue
		}
		var marked []*entry
		for _, e := range g {
			isCalled := best.MatchString(e.text(label)) || best.MatchString(e.text(remark)) ||
				best.MatchString(e.text(strategy))
			if i := t.column(k); isCalled || i >= 0 && t.rows[e.rows[0]][i].marked {
				marked = append(marked, e)
			}
		}
		if len(marked) != 1 {
			continue // none, or a heading in bold
		}
		if t.base != nil && slices.ContainsFunc(g, func(e *entry) bool { return isWeak(e, t.base) }) {
			continue // the shortest time of unlike batches
		}
		if why := notFastest(marked[0], g, k); why != "" {
			say(Refused, marked[0].name, "it is marked as the fastest, and %s", why)
		}
	}
}

// notFastest says why an entry is not shown to be faster than all others of a group; "" if it is.
func notFastest(e *entry, g []*entry, k kind) string {
	var all []evidence
	var ps []float64
	for _, o := range g {
		if o == e {
			continue
		}
		c := compare(e, o, k)
		if c.ratio >= 1 {
			return c.text + itIsNot
		}
		all, ps = append(all, c), append(ps, c.p)
	}
	known := slices.DeleteFunc(slices.Clone(ps), math.IsNaN)
	corrected := analysis.Holm(known)
	for _, c := range all {
		p := math.NaN()
		if !math.IsNaN(c.p) {
			p, corrected = corrected[0], corrected[1:]
		}
		switch {
		case c.isOne && c.isNear() && e.table.unreadSpread(k) != "":
		case c.isOne && c.isNear():
			return fmt.Sprintf("%s: %s apart, %s", c.text, c.gap(), c.basis)
		case !c.isOne && !c.mayBeApart(p):
			return fmt.Sprintf("%s: %s", c.text, c.why(p))
		}
	}
	return ""
}

// probability writes the p of a test after correction; "" if there was none.
func probability(p float64) string {
	if math.IsNaN(p) {
		return ""
	}
	return fmt.Sprintf(" (p = %.2g, corrected after Holm)", p)
}

// classesOf returns the classes of an entry's data set: a column, what the document says, or a known name.
func (e *entry) classesOf() int {
	if v := e.cell(classes).value; v >= 2 && v < 1e6 {
		return int(v)
	}
	if n := classesNamed(e.text(dataset)); n > 0 {
		return n
	}
	if n := classesNamed(e.name); n > 0 {
		return n
	}
	if n := classesNamed(e.table.caption); n > 0 {
		return n
	}
	return e.table.facts.classes
}

// classesNamed returns the classes of the data set that a text names; 0: none that is known.
func classesNamed(text string) int {
	text = strings.NewReplacer("-", "", " ", "", "_", "").Replace(strings.ToLower(text))
	for _, set := range []struct {
		name    string
		classes int
	}{{"cifar100", 100}, {"cifar10", 10}, {"svhn", 10}, {"fashionmnist", 10}, {"mnist", 10}, {"sst2", 2},
		{"tinyimagenet", 200}, {"imagenet", 1000}, {"glyphs", 10}} {
		if strings.Contains(text, set.name) {
			return set.classes
		}
	}
	return 0
}

// chance notes rows whose loss or accuracy is that of guessing.
func chance(t *table, say sayer) {
	for _, e := range t.measured {
		n := e.classesOf()
		l, a := e.value(loss), e.value(accuracy)
		if !given(l) {
			l = e.lastLoss()
		}
		switch {
		case given(l) && analysis.IsGuessing(l, n):
			say(Noted, e.name, "a loss of %s; guessing among %d classes has ln(%d) = %.3f: this run "+
				"measures speed, it has not learned", num(l), n, n, math.Log(float64(n)))
		case isGuessed(a, n):
			say(Noted, e.name, "an accuracy of %s; guessing among %d classes has %s", percent(a), n,
				percent(1/float64(n)))
		}
	}
}

// isGuessed reports whether an accuracy is at most that of guessing among so many classes, with some room.
func isGuessed(accuracy float64, classes int) bool {
	n := float64(classes)
	return classes > 1 && given(accuracy) && accuracy <= (1+0.3*(1-1/n))/n
}

// lastLoss returns the loss of the last column of losses by iteration, or the mean loss; NaN: none.
func (e *entry) lastLoss() float64 {
	v := e.cell(meanLoss).value
	for i, c := range e.table.columns {
		if c.kind == lossAt && given(e.at(i).value) {
			v = e.at(i).value
		}
	}
	return v
}

// projected objects to figures that nobody measured among those that somebody did.
func projected(t *table, say sayer) {
	projectedRows(t, say)
	predictedSpeedups(t, say)
}

// projectedRows objects to projections among measured rows, unless a column says which they are.
func projectedRows(t *table, say sayer) {
	var said, rest []*entry
	for _, e := range t.entries {
		if e.saysProjected() {
			said = append(said, e)
		} else {
			rest = append(rest, e)
		}
	}
	if len(said) > 0 && len(rest) > 0 && t.measures() {
		if t.has(source) {
			say(Noted, "", "%d of %d rows are projections (%s) and enter no comparison here", len(said),
				len(t.entries), list(namesOf(said)))
		} else {
			say(Refused, "", "%s among measured rows, told apart by no column: %s",
				spelling.Count(len(said), "projection"), list(namesOf(said)))
		}
	}
}

// predictedSpeedups objects to measured speed-ups that are all as predicted, to the last digit.
func predictedSpeedups(t *table, say sayer) {
	p := t.column(predicted)
	same, n := 0, 0
	for _, e := range t.measured {
		if p < 0 || !given(e.cell(speedup).value) || !given(e.at(p).value) || e.at(p).value == 1 {
			continue
		}
		n++
		if e.at(p).value == e.cell(speedup).value {
			same++
		}
	}
	if n > 1 && same == n {
		say(Refused, "", "prediction and measurement agree to the last digit in all %d rows", n)
	}
}
