package claim

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"lockstep/app/analysis"
)

// equalWork is the relative difference up to which two amounts of work are one: the rest of a batch.
const equalWork = 0.005

// numbered is a name that says no more than its place.
var numbered = regexp.MustCompile(`(?i)^(row|run|exp|experiment|test|case|config|trial|no\.?|#)?[ _-]*#?\d+$`)

// unlabelled objects to rows that nobody can tell apart.
func unlabelled(t *table, say sayer) {
	if len(t.rows) < 2 || !t.measures() {
		return
	}
	isNamed, isNumbered := t.naming()
	switch {
	case !isNamed && !t.tells():
		say(Refused, "", "no column says what the %d rows are", len(t.rows))
		return
	case isNumbered:
		say(Refused, "", "the %d rows have numbers for names, so none can be tied to its settings",
			len(t.rows))
		return
	}
	var keys []string
	rows := map[string][]string{}
	for r, k := range t.rowKeys() {
		if rows[k] == nil {
			keys = append(keys, k)
		}
		rows[k] = append(rows[k], fmt.Sprint(r+1))
	}
	for _, k := range keys {
		if len(rows[k]) > 1 {
			say(Refused, "rows "+list(rows[k]), "%d rows carry one name, %q, and no repeat or seed tells "+
				"them apart", len(rows[k]), strings.TrimSpace(strings.ReplaceAll(k, "\x00", " ")))
		}
	}
}

// naming reports whether some cell says what its row is, and whether all that do are labels that say no more
// than the place of the row.
func (t *table) naming() (isNamed, isNumbered bool) {
	isNumbered = true
	for i, c := range t.columns {
		for _, row := range t.rows {
			if text := row[i].text; c.identifies() && text != "" {
				isNamed = true
				isNumbered = isNumbered && c.kind == label && numbered.MatchString(text)
			}
		}
	}
	return isNamed, isNamed && isNumbered
}

// measures reports whether the table has a figure that rows are compared by.
func (t *table) measures() bool {
	return slices.ContainsFunc(t.columns, func(c column) bool {
		switch c.kind {
		case total, epoch, step, rankStep, throughput, speedup, accuracy, loss:
			return true
		}
		return false
	})
}

// isCompared reports whether times of rows are set in relation: by a column, or by the text.
func (t *table) isCompared() bool {
	return t.has(speedup) || t.has(efficiency) || t.facts.compares
}

// unequalWork objects to rows that did not do the same, and yet are compared.
func unequalWork(t *table, say sayer) {
	for _, g := range t.groups() {
		if (t.has(total) || t.isCompared()) && !t.isToTarget() {
			unequalSamples(g, say)
		}
		if t.has(total) && !t.isToTarget() && (t.has(epochs) || t.isCompared()) {
			differs(g, numEpochs, "epochs", say)
		}
		wholeEpochs(g, say)
		unequalBatch(g, say)
		unlikeAccuracy(t, g, say)
	}
}

// samplesOf returns what a run trained on: a column, or steps × batch.
func samplesOf(e *entry) float64 {
	if v := e.value(samples); given(v) {
		return v
	}
	return e.value(steps) * e.batch()
}

// saysEpochs is how the end of a name, or a whole remark, says how many epochs the time of a row is of: "(10
// epochs)", "total of 10 epochs", "per epoch".
var saysEpochs = regexp.MustCompile(`(?i)(?:^|[(\[,;:–—] ?|\b(?:for|over|with|after|of|only) )` +
	`(?:total |time )*(?:(?:of|for|over|only) )?(?:(\d+)|one|a single) epochs?(?: only| in total| total)?` +
	`[)\]]?$|(?:^|[(\[,;:–—/] ?|\btime )(?:per )?epoch(?: only)?[)\]]?$`)

// numEpochs returns the epochs that a row's total is of: those of a column, or as a name or the remark says;
// NaN: not said.
func numEpochs(e *entry) float64 {
	n := e.value(epochs)
	if given(n) || !e.table.has(total) || e.table.isToTarget() {
		return n
	}
	for i, c := range e.table.columns {
		text := e.table.rows[e.rows[0]][i].text
		at := saysEpochs.FindStringSubmatchIndex(text)
		isSaid := at != nil && (c.kind.isName() || c.kind == remark && at[0] == 0)
		switch {
		case !isSaid:
		case at[2] < 0:
			return 1
		default:
			return wordNumber(text[at[2]:at[3]])
		}
	}
	return n
}

// differs objects to an amount that is not the same in all entries.
func differs(g []*entry, of func(*entry) float64, what string, say sayer) {
	least, most := extremes(g, of)
	if least == nil || of(most) <= of(least)*(1+equalWork) {
		return
	}
	say(Refused, "", "%s did %s %s and %s %s: %.3g times as much", most.name, num(of(most)), what, least.name,
		num(of(least)), of(most)/of(least))
}

// extremes returns the entries with the least and the most; nil if fewer than two have any.
func extremes(g []*entry, of func(*entry) float64) (least, most *entry) {
	n := 0
	for _, e := range g {
		v := of(e)
		if !given(v) {
			continue
		}
		n++
		if least == nil || v < of(least) {
			least = e
		}
		if most == nil || v > of(most) {
			most = e
		}
	}
	if n < 2 {
		return nil, nil
	}
	return least, most
}

// epochsOf returns how many epochs fit into the total.
func epochsOf(e *entry) float64 { return e.value(total) / e.value(epoch) }

// wholeEpochs objects to totals of different whole numbers of epochs, where no column tells those.
func wholeEpochs(g []*entry, say sayer) {
	least, most := extremes(g, epochsOf)
	if least == nil || g[0].table.has(epochs) || g[0].table.isToTarget() ||
		math.Round(epochsOf(least)) == math.Round(epochsOf(most)) ||
		least.value(steps)*least.batch() == most.value(steps)*most.batch() {
		return
	}
	for _, e := range g {
		if k := epochsOf(e); given(k) && math.Abs(k-math.Round(k)) > min(0.01*k, 0.25) {
			return // not of whole epochs: see totalAndEpoch
		}
	}
	say(Refused, "", "total / epoch is %s in %s (%s / %s) and %s in %s (%s / %s): these rows ran different "+
		"numbers of epochs", num(epochsOf(most)), most.name, num(most.value(total)), num(most.value(epoch)),
		num(epochsOf(least)), least.name, num(least.value(total)), num(least.value(epoch)))
}

// unequalBatch objects to rows of several workers without a row of fewer with the same global batch,
// unless the batch grows with the workers.
func unequalBatch(g []*entry, say sayer) {
	var bases, several []*entry
	fewest, _ := extremes(g, (*entry).workers)
	if fewest == nil {
		return
	}
	for _, e := range g {
		switch {
		case !given(e.batch()):
		case e.workers() == fewest.workers():
			bases = append(bases, e)
		case given(e.workers()):
			several = append(several, e)
		}
	}
	if len(bases) == 0 {
		return
	}
	for _, e := range several {
		near := slices.MinFunc(bases, func(a, b *entry) int {
			return sign(math.Abs(a.batch()-e.batch()) - math.Abs(b.batch()-e.batch()))
		})
		share := slices.MinFunc(bases, func(a, b *entry) int {
			return sign(math.Abs(weak(a, e)-1) - math.Abs(weak(b, e)-1))
		})
		off := math.Abs(e.batch()/near.batch() - 1)
		switch {
		case off == 0:
		case math.Abs(weak(share, e)-1) < equalWork:
			say(Noted, e.name, "the batch grows with the workers, %s to %s: weak scaling, in which equal "+
				"step times are perfect; compare samples per second", num(share.batch()), num(e.batch()))
		default:
			say(Refused, e.name, "%s = %s samples a step against %s in %s: %s more or fewer", factors(e),
				num(e.batch()), num(near.batch()), near.name, percent(off))
		}
	}
}

// weak is 1 where the batch of e is to that of base as their workers are.
func weak(base, e *entry) float64 {
	return e.batch() / base.batch() * base.workers() / e.workers()
}

// grown returns by how much the batch of e is larger than that of base, as its workers are more: weak
// scaling, in which a step of e does so much more. 1: the batch does not grow with the workers.
func grown(e, base *entry) float64 {
	if g := e.batch() / base.batch(); g != 1 && math.Abs(weak(base, e)-1) < equalWork {
		return g
	}
	return 1
}

// moreSamples returns by how much the samples of e are more than those of base, as its workers are more: weak
// scaling, in which an epoch or a run of e does so much more. 1: the samples do not grow with the workers.
func moreSamples(e, base *entry) float64 {
	p := e.workers() / base.workers()
	if g := e.value(samples) / base.value(samples); g != 1 && math.Abs(g/p-1) < equalWork {
		return g
	}
	return 1
}

// isWeak reports whether e does more than base, as its workers are more.
func isWeak(e, base *entry) bool { return grown(e, base) != 1 || moreSamples(e, base) != 1 }

// work returns by how much the work is larger that e does in a time of a kind than what base does in its.
func work(e, base *entry, k kind) float64 {
	switch k {
	case step, rankStep:
		return grown(e, base)
	case epoch, total:
		return moreSamples(e, base)
	}
	return 1
}

// unequalSamples objects to rows of unlike samples, unless these grow with the workers.
func unequalSamples(g []*entry, say sayer) {
	least, most := extremes(g, (*entry).workers)
	isGrowing := least != nil && moreSamples(most, least) != 1
	for _, e := range g {
		isAlike := isGrowing && e.workers() == least.workers() && e.value(samples) == least.value(samples)
		isGrowing = isGrowing && (isAlike || moreSamples(e, least) != 1)
	}
	if !isGrowing {
		differs(g, samplesOf, "samples", say)
		return
	}
	say(Noted, "", "the samples grow with the workers, %s to %s: weak scaling, in which equal times are "+
		"perfect; compare samples per second", num(least.value(samples)), num(most.value(samples)))
}

// factors writes how a batch is made up.
func factors(e *entry) string {
	for _, k := range []kind{batch, batchPer} {
		if c := e.cell(k); c.parts[0] > 0 {
			return num(c.parts[0]) + " × " + num(c.parts[1])
		}
	}
	if e.table.has(batchPer) && !e.table.has(batch) {
		return num(e.workers()) + " × " + num(e.cell(batchPer).value)
	}
	return "batch"
}

func sign(v float64) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// unlikeAccuracies is how far apart rows of equal work may end, in fractions of the samples.
const unlikeAccuracies = 0.10

// unlikeAccuracy objects to rows of a comparison of workers or strategies that end far apart, with no setting
// that says why.
func unlikeAccuracy(t *table, g []*entry, say sayer) {
	isScaling := t.has(workers) || t.has(nodes) || t.has(strategy) || t.has(speedup) || !t.isLabelled()
	for _, k := range []kind{epochs, samples, steps, rate, setting, batch, batchPer, position} {
		isScaling = isScaling && !t.varies(k)
	}
	if !isScaling || t.hasOtherSetting() {
		return
	}
	g = slices.DeleteFunc(slices.Clone(g), func(e *entry) bool { return !e.isSynchronous() })
	of := func(e *entry) float64 { return e.value(accuracy) }
	least, most := extremes(g, of)
	if least == nil || of(most)-of(least) <= unlikeAccuracies {
		return
	}
	say(Refused, "", "accuracies from %s (%s) to %s (%s), %s points apart: rows that trained one model on "+
		"equal work end alike", percent(of(least)), least.name, percent(of(most)), most.name,
		num(math.Round(1e4*(of(most)-of(least)))/100))
}

// isLabelled reports whether every row has a name of its own.
func (t *table) isLabelled() bool {
	is := true
	unlabelled(t, func(Severity, string, string, ...any) { is = false })
	return is
}

// varies reports whether a column of a kind differs between rows.
func (t *table) varies(k kind) bool {
	for i, c := range t.columns {
		if c.kind != k {
			continue
		}
		for _, row := range t.rows {
			if row[i].text != t.rows[0][i].text {
				return true
			}
		}
	}
	return false
}

// toReach are words of a heading of the time until something is reached, which takes some rows more epochs.
var toReach = regexp.MustCompile(`\b(to|until)\b`)

// isToTarget reports whether the totals of a table are times in which something was reached.
func (t *table) isToTarget() bool {
	i := t.column(total)
	return i >= 0 && toReach.MatchString(t.columns[i].name)
}

// mixed is how far ratios by total and by epoch may differ: evaluations and starting take time too.
const mixed = 0.05

// totalAndEpoch objects to totals that hold unlike numbers of epochs, which give two ratios for one pair
// of rows.
func totalAndEpoch(t *table, say sayer) {
	if t.isToTarget() {
		return
	}
	for _, g := range t.groups() {
		base := baseline(g)
		for _, e := range g {
			mixedRatio(e, base, say)
			if k, n := epochsOf(e), e.value(epochs); given(k) && given(n) && (k < n*0.98 || k > n*1.5) {
				say(Refused, e.name, "total / epoch = %s / %s = %s, but the row says %s epochs",
					num(e.value(total)), num(e.value(epoch)), num(k), num(n))
			}
		}
		least, most := extremes(g, epochsOf)
		if least == nil || t.varies(epochs) || noise(least, most) > analysis.NoiseLimit ||
			epochsOf(most) < (1+mixed)*epochsOf(least) || t.saysEqualSteps() || t.facts.hasMore {
			continue
		}
		isWhole := func(e *entry) bool { k := epochsOf(e); return math.Abs(k-math.Round(k)) <= 0.01*k }
		if isWhole(least) && isWhole(most) && !t.has(epochs) {
			continue // see wholeEpochs
		}
		say(Refused, "", "total / epoch is %s in %s (%s / %s) and %s in %s (%s / %s), so the pair is %s "+
			"by total and %s by epoch", num(epochsOf(most)), most.name, num(most.value(total)),
			num(most.value(epoch)), num(epochsOf(least)), least.name, num(least.value(total)),
			num(least.value(epoch)), num(most.value(total)/least.value(total))+"×",
			num(most.value(epoch)/least.value(epoch))+"×")
	}
}

// saysEqualSteps reports whether columns give all rows the same steps and batch, and so as many epochs. Then
// totals differ from their epochs by what is no step: evaluations, and starting.
func (t *table) saysEqualSteps() bool {
	return t.has(steps) && t.has(batch) && !t.varies(steps) && !t.varies(batch)
}

// mixedRatio objects to a speed-up that one kind of time gives and another does not.
func mixedRatio(e, base *entry, say sayer) {
	if base == nil || e == base || grown(e, base) != 1 {
		return
	}
	if off, on, fits := speedups(e, base); fits && off != unknown {
		v, shown := divided(e, base, off)
		if !isFar(e, base, v.value) || isCoarse(e, base, on, off) {
			return
		}
		say(Refused, e.name, "speed-up %s is that by the %s; by the %s it is %s = %s",
			num(e.cell(speedup).value),
			on.word(), off.word(), shown, num(v.value))
	}
}

// ranks objects to ranks that wait for one another and yet take different times. In a table of times of a run
// those of one row are compared.
func ranks(t *table, say sayer) {
	for _, e := range t.entries {
		if !e.isSynchronous() {
			continue
		}
		moments := [][]int{e.rows}
		if t.has(position) {
			moments = nil
			for _, r := range e.rows {
				moments = append(moments, []int{r})
			}
		}
		for _, rows := range moments {
			if ranksDiffer(e, rows, say) {
				break
			}
		}
	}
}

// ranksDiffer objects to different times of ranks in some rows of an entry.
func ranksDiffer(e *entry, rows []int, say sayer) bool {
	t := e.table
	byRow := t.has(rank) && !t.has(repeat) && !t.has(seed) && !t.has(position)
	least, most, low, high := math.Inf(1), math.Inf(-1), "", ""
	for _, r := range rows {
		for i, c := range t.columns {
			v, name := t.rows[r][i].value, c.header
			if c.kind == step && byRow {
				name = "rank " + t.rows[r][t.column(rank)].text
			} else if c.kind != rankStep {
				continue
			}
			if given(v) && v < least {
				least, low = v, name
			}
			if given(v) && v > most {
				most, high = v, name
			}
		}
	}
	if least >= most || !analysis.RanksDiffer(least, most, 0) {
		return false
	}
	say(Refused, e.name, "%s takes %s and %s %s, %s more: ranks that exchange gradients wait for one "+
		"another, so a step takes all of them equally long", low, seconds(least), high, seconds(most),
		percent(most/least-1))
	return true
}

// phases objects to phases that do not add up to their whole.
func phases(t *table, say sayer) {
	for _, e := range t.measured {
		sum, half, n, isShare := 0.0, 0.0, 0, false
		var parts []string
		for i, c := range t.columns {
			one := e.at(i)
			if c.kind != phase || c.isHidden() || !given(one.value) {
				continue
			}
			sum, half, n = sum+one.value, half+one.half, n+1
			isShare = isShare || one.unit == "%" || c.unit == 0.01
			parts = append(parts, num(one.value))
		}
		if n < 3 {
			continue
		}
		whole, what := 100.0, "100 %"
		if !isShare {
			whole, what = nearest(e, sum)
		}
		if !given(whole) {
			continue
		}
		gap, isGap := analysis.PhaseGap(sum, whole)
		if isGap && math.Abs(sum-whole) > half {
			say(Refused, e.name, "%s = %s against %s: the phases %s", strings.Join(parts, " + "),
				num(sum), what, analysis.GapText(gap, "it"))
		}
	}
}

// nearest returns the entry's time that is nearest to a sum.
func nearest(e *entry, sum float64) (whole float64, what string) {
	whole, k := nearestTime(e, sum)
	return whole, "a " + k.word() + " of " + seconds(whole)
}

// nearestTime returns the entry's time that is nearest to a sum, and its kind; NaN: it has none.
func nearestTime(e *entry, sum float64) (whole float64, of kind) {
	whole = math.NaN()
	for _, k := range times() {
		if v := e.value(k); given(v) && !(math.Abs(math.Log(v/sum)) >= math.Abs(math.Log(whole/sum))) {
			whole, of = v, k
		}
	}
	return whole, of
}
