package claim

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// settle gives columns the meaning that their cells decide, and cells their units. Ends and deviations come
// last: they have the unit of the figures that they are about.
func (t *table) settle() {
	isTimed := slices.ContainsFunc(t.columns, column.isRankTime)
	for i := range t.columns {
		t.settleKind(i, isTimed)
		if t.columns[i].kind == runList {
			for r := range t.rows {
				t.rows[r][i].list = eachRun(t.rows[r][i].text)
			}
		}
	}
	t.settleCurve()
	t.settlePhases()
	for i, c := range t.columns {
		if !c.isAbout() {
			t.convert(i)
		}
	}
	t.settleOwners()
	for i, c := range t.columns {
		if c.isAbout() {
			t.convert(i)
		}
	}
}

// settleKind gives a column the kind that its cells decide. isTimed is whether some column has times of a
// rank for sure.
func (t *table) settleKind(i int, isTimed bool) {
	c := &t.columns[i]
	switch {
	case c.kind == unknown && t.isOrigin(i):
		c.kind = source
	case c.kind == unknown && i == 0 && t.isNumeric(i):
		t.makeName(i) // a sweep: sizes of a message, numbers of layers
	case c.kind == unknown && i == 0:
		c.kind, c.name = label, "label"
	case (c.kind == phase || c.kind == workers) && t.isWords(i):
		c.kind = setting // the name of an optimizer or a device
	case (c.kind == epoch || c.kind == step) && c.unit == 0 && t.counts(i) && !c.isTime():
		c.kind = position
	case c.kind == dataset && t.isNumeric(i):
		c.kind, c.name = phase, "data"
	case c.kind == network && !strings.Contains(c.name, " ") && !t.isNumeric(i):
		c.kind = setting
	case c.kind == rankStep && (!isTimed || c.unit == 0.01):
		c.kind = unknown // of ranks, and no time
	case c.kind == repeat && !t.isNumeric(i):
		c.kind, c.name = label, "label"
	case c.kind == model && t.isNumeric(i):
		c.kind = unknown
	case (c.kind == variation || c.kind == deviation) && t.areRanges(i):
		c.kind = ends
	case c.kind == ends && (t.measuredBefore(i) < 0 || c.name == "interval" && !t.areRanges(i)):
		c.kind = unknown // an interval of exchanges
	case c.kind == speedup:
		t.settlePercent(i)
	case t.isMedianOf(*c):
		c.kind = step
	}
}

// settlePercent turns speed-ups in percent into factors: of a table with a row of 0 % they are what is
// gained, of one with a row of 100 % the speed. Of others nobody knows.
func (t *table) settlePercent(i int) {
	c := &t.columns[i]
	isPercent, gained, plain := c.unit == 0.01, false, false
	for _, row := range t.rows {
		isPercent = isPercent || row[i].unit == "%"
		gained, plain = gained || row[i].value == 0, plain || row[i].value == 100
	}
	switch {
	case !isPercent:
	case !gained && !plain:
		c.kind = unknown
	default:
		for r := range t.rows {
			one := t.rows[r][i].scaled(0.01)
			if gained {
				one.value, one.lo, one.hi = 1+one.value, 1+one.lo, 1+one.hi
			}
			one.unit, t.rows[r][i] = "", one
		}
	}
}

// settlePhases gives phases without a unit that of a time of the row: of the one whose figure is nearest to
// their sum, as both are written. Sums of 100 that are no time are percentages.
func (t *table) settlePhases() {
	least, most, unit, isShare := math.Inf(1), 0.0, 0.0, true
	for _, row := range t.rows {
		sum, near := 0.0, math.Inf(1)
		for i, c := range t.columns {
			if c.isBarePhase() && !c.isHidden() && row[i].unit == "" && given(row[i].value) {
				sum += row[i].value
			}
		}
		for _, k := range times() {
			i := t.column(k)
			if i < 0 {
				continue
			}
			off := math.Abs(math.Log(sum / row[i].value))
			near = min(near, off)
			if u := cmp.Or(secondsIn(row[i].unit), t.columns[i].unit); off < least && u > 0 {
				least, unit = off, u
			}
		}
		most, isShare = max(most, near), isShare && math.Abs(sum-100) <= 2
	}
	if isShare && most > equalWork {
		unit = 0.01
	}
	for i := range t.columns {
		if t.columns[i].isBarePhase() {
			t.columns[i].unit = unit
		}
	}
}

// isBarePhase reports whether a column holds a phase without saying its unit.
func (c column) isBarePhase() bool { return c.kind == phase && c.unit == 0 }

// isHidden reports whether a phase is none of those that a step is made of, one after another.
func (c column) isHidden() bool { return strings.HasPrefix(c.name, "hidden") }

// isRankTime reports whether a column has times of a rank by its heading.
func (c column) isRankTime() bool { return c.kind == rankStep && c.unit > 0 && c.unit != 0.01 }

// timeWords are words of a heading by which whole numbers are times, not numbers of steps or epochs.
var timeWords = regexp.MustCompile(`\b(time|seconds|duration|latency|median|mean|average|avg)\b`)

// isTime reports whether the heading of a column says that it holds times.
func (c column) isTime() bool { return timeWords.MatchString(c.name) }

// counts reports whether all numbers of a column are whole, small and without units, and no cell is a time in
// words.
func (t *table) counts(i int) bool {
	for _, row := range t.rows {
		c := row[i]
		if _, isTime := spell(c.text); isTime {
			return false
		}
		if !math.IsNaN(c.value) && (c.value != math.Trunc(c.value) || c.unit != "" || c.half < 0.5) {
			return false
		}
	}
	return true
}

// areRanges reports whether the cells of a column are ranges, such as 95–105.
func (t *table) areRanges(i int) bool {
	isSome := false
	for _, row := range t.rows {
		one := row[i]
		if given(one.value) {
			return false
		}
		isSome = isSome || given(one.lo) && given(one.hi)
	}
	return isSome
}

// isNumeric reports whether a column holds numbers and nothing else.
func (t *table) isNumeric(i int) bool {
	isSome := false
	for _, row := range t.rows {
		if math.IsNaN(row[i].value) && row[i].text != "" {
			return false
		}
		isSome = isSome || !math.IsNaN(row[i].value)
	}
	return isSome
}

// convert brings the figures of a column to seconds and fractions. Ranges and spreads get the value and the
// ends that they stand for.
func (t *table) convert(i int) {
	of := i
	if c := t.columns[i]; c.isAbout() && c.of >= 0 {
		of = c.of
	}
	read := t.readAs(i, of)
	for r := range t.rows {
		one := &t.rows[r][i]
		if t.columns[i].kind.isRanged() && !given(one.value) && one.hi > one.lo {
			one.value, one.half = (one.lo+one.hi)/2, (one.hi-one.lo)/2 // a range
		}
		if of != i && t.isShare(i, of, *one) {
			*one = one.scaled(t.rows[r][of].value / 100)
			one.unit = ""
			continue
		}
		if one.share > 0 && !t.columns[of].kind.isFraction() {
			one.lo, one.hi = one.value*(1-one.share), one.value*(1+one.share)
		}
		*one = read(r)
		if of != i && t.columns[i].unit == 0 && one.unit == "" && t.columns[of].kind.isFraction() {
			*one = one.endsBy(t.columns[i].kind, t.rows[r][of].value)
		}
	}
}

// nearEnd is how far from its figure, as a part of it, an end of an interval lies at most that was read as a
// percentage and is a fraction, or the reverse. Ends further off mean what is written.
const nearEnd = 0.1

// endsBy returns a cell of a column of ends, some of which are in percent and some fractions: a hundred times
// as much or a hundredth if that is near the figure, from which it is far as it was read.
func (c cell) endsBy(k kind, figure float64) cell {
	if k != low && k != high && k != ends {
		return c
	}
	v := c.value
	if given(c.lo) && given(c.hi) {
		v = (c.lo + c.hi) / 2
	}
	for _, f := range []float64{100, 0.01} {
		if math.Abs(v*f-figure) <= nearEnd*figure {
			return c.scaled(f)
		}
	}
	return c
}

// isShare reports whether a cell of column i is a deviation in percent of the figures of column j.
func (t *table) isShare(i, j int, one cell) bool {
	c := t.columns[i]
	return (c.kind == deviation || c.kind == ends) && !t.columns[j].kind.isFraction() && !given(one.lo) &&
		(one.unit == "%" || c.unit == 0.01)
}

// readAs returns a function that reads the cell of a row in column i as a figure of column j. A cell without
// a unit has that of its heading. If the heading has none either, the unit is that of column j or its cell.
func (t *table) readAs(i, j int) func(r int) cell {
	c, isBare := t.columns[i], t.columns[i].unit == 0
	c.kind = t.columns[j].kind
	if isBare {
		c.unit = t.columns[j].unit
	}
	arePercent := t.largest(i) > 2 // fractions without a unit that cannot be fractions
	return func(r int) cell {
		one := t.rows[r][i]
		if isBare && one.unit == "" && t.rows[r][j].hasTimeUnit(c.kind) {
			one.unit = t.rows[r][j].unit
		}
		return c.converted(one, arePercent)
	}
}

// hasTimeUnit reports whether a cell of a kind is written with a unit of time, or as a share of one.
func (c cell) hasTimeUnit(k kind) bool { return secondsIn(c.unit) > 0 || c.unit == "%" && k == phase }

// converted returns a cell of a column in seconds, or as a fraction. arePercent is whether fractions without
// a unit are percentages.
func (c column) converted(one cell, arePercent bool) cell {
	if c.kind == total || c.kind == epoch {
		if v, ok := clock(one.text, c.unit); ok {
			return v
		}
		if v, ok := spell(one.text); ok {
			v.marked = one.marked
			return v
		}
	}
	switch {
	case c.kind.isTime():
		return c.inSeconds(one)
	case c.kind == throughput && byteRate.MatchString(one.unit):
		return one.unread()
	case c.kind == throughput && c.unit > 0:
		return one.scaled(c.unit)
	case c.kind.isFraction() && (one.unit == "%" || c.unit == 0.01 || arePercent && one.unit == ""):
		return one.scaled(0.01)
	}
	return one
}

// inSeconds returns a cell of a column of times in seconds: by its own unit, else by that of the heading.
func (c column) inSeconds(one cell) cell {
	switch f := secondsIn(one.unit); {
	case f > 0:
		return one.scaled(f)
	case one.unit == "%" && c.kind == phase:
		return one
	case one.unit != "":
		return one.unread() // bytes, or a ratio
	case c.unit > 0 && c.unit != 0.01:
		return one.scaled(c.unit)
	}
	return one
}

// unread returns the cell without its figures, which are none of its column's.
func (c cell) unread() cell {
	c.value, c.lo, c.hi = math.NaN(), math.NaN(), math.NaN()
	return c
}

// isTime reports whether figures of the kind are seconds.
func (k kind) isTime() bool {
	return slices.Contains([]kind{total, epoch, step, rankStep, network, phase}, k)
}

// largest returns the largest figure of a column that is written without a unit.
func (t *table) largest(i int) float64 {
	most := 0.0
	for _, row := range t.rows {
		v := row[i].value
		if math.IsNaN(v) {
			v = row[i].hi // a range
		}
		if !math.IsNaN(v) && row[i].unit == "" {
			most = math.Max(most, math.Abs(v))
		}
	}
	return most
}

// isRanged reports whether a figure of the kind may be written as a range of its runs, such as 95–105.
func (k kind) isRanged() bool {
	return slices.Contains([]kind{total, epoch, step, rankStep, throughput, speedup, efficiency, accuracy,
		ends}, k)
}

// byteRate is a unit of bytes per second, which are no samples.
var byteRate = regexp.MustCompile(`^[kmgt]?i?b(it|yte)?s?(/|ps$)`)

// isFraction reports whether figures of the kind are written in percent, so that their spread is in points.
func (k kind) isFraction() bool {
	return slices.Contains([]kind{accuracy, trainAccuracy, efficiency, serial, variation}, k)
}
