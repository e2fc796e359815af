package claim

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/analysis"
)

func median(x []float64) float64 { return analysis.Median(x) }

func given(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// num writes v with four significant digits, or all before the point.
func num(v float64) string {
	if !given(v) {
		return "?"
	}
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	decimals := 3 - int(math.Floor(math.Log10(math.Abs(v))))
	text := strconv.FormatFloat(v, 'f', min(max(decimals, 0), 12), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func seconds(v float64) string { return num(v) + " s" }

func percent(v float64) string { return num(math.Round(1e4*v)/100) + " %" }

// list joins names and cuts a long list short.
func list(names []string) string {
	const most = 6
	if more := len(names) - most; more > 0 {
		names = append(slices.Clone(names[:most]), strconv.Itoa(more)+" more")
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func namesOf(entries []*entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.name)
	}
	return out
}

// workers returns the replicas of an entry: a column of them, nodes times the processes of each, nodes, or
// the first factor of a batch such as "3 x 21"; NaN: not said.
func (e *entry) workers() float64 {
	if v := e.cell(workers).value; given(v) {
		if n := e.cell(nodes).value; given(n) && e.perNode() {
			return v * n
		}
		return v
	}
	n, p := e.cell(nodes).value, e.cell(processes).value
	switch {
	case given(n) && given(p):
		return n * p
	case given(n):
		return n
	}
	for _, k := range []kind{batch, batchPer} {
		if c := e.cell(k); c.parts[0] > 0 {
			return c.parts[0]
		}
	}
	return math.NaN()
}

// perNode reports whether the table's column of workers is called processes beside one of nodes, and some row
// has fewer processes than nodes: then it counts those of each node.
func (e *entry) perNode() bool {
	t := e.table
	w, n := t.column(workers), t.column(nodes)
	return slices.ContainsFunc(t.rows, func(row []cell) bool { return row[w].value < row[n].value })
}

// processors returns what an entry computes with: cores where they are given, or workers × threads.
func (e *entry) processors() float64 {
	if v := e.cell(cores).value; given(v) {
		return v
	}
	v := e.workers()
	if threads := e.cell(threads).value; given(threads) {
		if !given(v) {
			v = 1
		}
		v *= threads
	}
	return v
}

// batch returns the samples of a step over all workers.
func (e *entry) batch() float64 {
	if v := e.cell(batch).value; given(v) {
		return v
	}
	c := e.cell(batchPer)
	if c.parts[0] > 0 {
		return c.value
	}
	return c.value * e.workers()
}

// asynchronous strategies have ranks that do not wait for one another, or results that differ.
var asynchronous = regexp.MustCompile(`(?i)async|local|none|diloco|hogwild|independent|no exchange|ensemble`)

// isSynchronous reports whether the entry's workers wait for one another in every step.
func (e *entry) isSynchronous() bool {
	return !asynchronous.MatchString(e.text(strategy)) && !asynchronous.MatchString(e.text(label))
}

// projections are words for figures that nobody measured.
var projections = regexp.MustCompile(`(?i)\b(predict(ed|ion|ions|s)?|project(ed|ion|ions)|expected|` +
	`extrapolat\w+|interpolat\w+|theoretical|simulat\w+|estimated?|forecast|planned|hypothetical)\b|` +
	`\best\.|\(est\b`)

// guesses are words in brackets, at the end of a cell, that say so of a row; in a text they say other things.
var guesses = regexp.MustCompile(`(?i)[(\[](modell?ed|assumed|assumption|guess(ed)?|computed|calculated|` +
	`not (measured|run)|(sim|simul|proj|pred|extrap|theor|calc)\.?)[)\]]$|^\d+ ?[(\[]model[)\]]$`)

// saysProjected reports whether the row says so.
func (e *entry) saysProjected() bool {
	if s := e.text(source); s != "" {
		return !strings.HasPrefix(strings.ToLower(s), "measure") &&
			!slices.Contains([]string{"yes", "true", "run", "real"}, strings.ToLower(s))
	}
	if slices.Contains(e.table.guessedAt, e.workers()) {
		return true
	}
	for i, c := range e.table.columns {
		one := e.table.rows[e.rows[0]][i]
		isFigure := c.kind > remark && c.kind != predicted && c.kind != amdahl && c.kind != gustafson
		isNamed := c.identifies() && (!c.isName || given(one.value)) // unread words may be about anything
		if (isNamed || c.kind == remark || isFigure) && projections.MatchString(one.text) ||
			(isNamed && (c.isName || c.kind != setting) || isFigure) && guesses.MatchString(one.text) ||
			(isNamed || isFigure) && e.table.guesses[markOf(one.text)] {
			return true
		}
	}
	return false
}

// footnote is a line that explains a mark of a table: "† extrapolated".
var footnote = regexp.MustCompile(`^(` + footnoteMark + `):? *(.+)$`)

// foot notes whether a line is a footnote, and by it figures with its mark are projections. A mark of several
// lines may be that of a list: then all of them must say so.
func (d *Document) foot(line string) {
	if m := footnote.FindStringSubmatch(line); m != nil {
		mark := strings.TrimPrefix(m[1], `\`)
		said, isKnown := d.guesses[mark]
		d.guesses[mark] = projections.MatchString(m[2]) && (said || !isKnown)
	}
}

// markOf returns the mark of a footnote at the end of a cell, which is not in italics; "" without one.
func markOf(text string) string {
	mark := strings.TrimPrefix(footMark.FindString(text), `\`)
	if strings.HasPrefix(text, mark) {
		return ""
	}
	return mark
}

// sort finds the entries that are not said to be measured, in the row or above the table, and the baseline of
// the others.
func (t *table) sort() {
	isAll := projections.MatchString(t.caption) && !t.has(source) &&
		!strings.Contains(strings.ToLower(t.caption), "measured")
	for _, e := range t.entries {
		if e.isProjected = isAll || e.saysProjected(); !e.isProjected {
			t.measured = append(t.measured, e)
		}
	}
	t.base = baseline(t.measured)
}

// groups returns the measured entries by model and data set: only those are comparable.
func (t *table) groups() [][]*entry {
	var keys []string
	byKey := map[string][]*entry{}
	for _, e := range t.measured {
		key := strings.ToLower(e.text(model) + "\x00" + e.text(dataset))
		if byKey[key] == nil {
			keys = append(keys, key)
		}
		byKey[key] = append(byKey[key], e)
	}
	var out [][]*entry
	for _, key := range keys {
		out = append(out, byKey[key])
	}
	return out
}

// groupOf returns the group that an entry is in; nil if it was not measured.
func (t *table) groupOf(e *entry) []*entry {
	for _, g := range t.groups() {
		if slices.Contains(g, e) {
			return g
		}
	}
	return nil
}

// times are the kinds of time by which rows are compared, the most direct first.
func times() []kind { return []kind{step, epoch, total} }

// paces are the kinds by which one row is so many times as fast as another, the most direct first.
func paces() []kind { return append(times(), rankStep, throughput) }

// word names a kind in a sentence.
func (k kind) word() string {
	switch k {
	case step:
		return "step"
	case epoch:
		return "epoch"
	case total:
		return "total"
	case throughput:
		return "samples per second"
	case accuracy:
		return "accuracy"
	case loss:
		return "loss"
	}
	return "figure"
}

// timeOf returns the first pace that all the entries have; false: none.
func timeOf(entries ...*entry) (kind, bool) {
	for _, k := range paces() {
		isAll := true
		for _, e := range entries {
			isAll = isAll && given(e.value(k))
		}
		if isAll {
			return k, true
		}
	}
	return unknown, false
}

// slowness returns a figure that is larger the slower the entry is.
func (e *entry) slowness(k kind) float64 {
	switch k {
	case throughput:
		return 1 / e.value(k)
	case rankStep:
		slowest := math.NaN()
		for i, c := range e.table.columns {
			if v := e.at(i).value; c.kind == rankStep && given(v) && !(v <= slowest) {
				slowest = v
			}
		}
		return slowest
	}
	return e.value(k)
}

// figure writes the value that slowness is made of.
func (e *entry) figure(k kind) string {
	if k == throughput {
		return num(e.value(k)) + " samples/s"
	}
	return e.duration(k, e.slowness(k))
}

// written writes a value of a column as its table does: times with their unit, shares in percent.
func (e *entry) written(c column, v float64) string {
	i := slices.Index(e.table.columns, c)
	isShare := c.unit == 0.01 || i >= 0 && e.at(i).unit == "%"
	switch {
	case c.kind.isTime() && isShare:
		return num(v) + " %" // of the whole, as it was written
	case c.kind.isTime():
		return e.duration(c.kind, v)
	case isShare || c.kind == accuracy || c.kind == trainAccuracy:
		return percent(v)
	}
	return num(v)
}

// duration writes seconds in the unit that the entry's table has for a kind of time.
func (e *entry) duration(k kind, v float64) string {
	i := e.table.column(k)
	if i < 0 {
		return seconds(v)
	}
	unit := e.table.columns[i].unit
	if own := secondsIn(e.at(i).unit); own > 0 {
		unit = own
	}
	switch unit {
	case 1e-6:
		return num(1e6*v) + " µs"
	case 1e-3:
		return num(1e3*v) + " ms"
	case 60:
		return num(v/60) + " min"
	case 3600:
		return num(v/3600) + " h"
	}
	return seconds(v)
}

// single is what the strategy or label of a baseline says.
var single = regexp.MustCompile(`(?i)^(single|baseline|base|serial|sequential|one (node|process|worker|` +
	`device|gpu)|1 (node|process|worker|device|gpu)|single[- ](node|process|worker|device|gpu))\b`)

// baseline returns the row that speed-ups of the entries relate to: the only one with speed-up 1, the only
// one with the fewest processors, or the first that is called so; nil: none.
func baseline(entries []*entry) *entry {
	var ones, few, called []*entry
	fewest := math.Inf(1)
	for _, e := range entries {
		if s := e.cell(speedup); s.value == 1 {
			ones = append(ones, e)
		}
		if p := e.processors(); p < fewest {
			few, fewest = nil, p
		}
		if e.processors() == fewest {
			few = append(few, e)
		}
		if single.MatchString(e.text(strategy)) || single.MatchString(e.text(label)) {
			called = append(called, e)
		}
	}
	switch {
	case len(ones) == 1:
		return ones[0]
	case len(few) == 1 && len(entries) > 1:
		return few[0]
	case len(called) > 0:
		return called[0]
	}
	return nil
}
