package claim

import (
	"math"
	"regexp"
	"slices"
	"strings"
)

// place is a heading of a column that can say where on a curve a row is.
var place = regexp.MustCompile(`^(samples|steps?|iterations?|epochs?|seconds( of training( steps)?)?)$`)

// settleCurve makes the column that says where on a curve a row is one of positions. Such a table has nothing
// before that column but names, and behind it what is plotted: no figure that rows are compared by. Downwards
// the places of each name grow.
func (t *table) settleCurve() {
	at := slices.IndexFunc(t.columns, func(c column) bool { return !c.identifies() })
	if at < 0 {
		return
	}
	words, unit := headingWords(t.columns[at].header)
	if unit != "" || !place.MatchString(words) || !t.rises(at) {
		return
	}
	for i, c := range t.columns {
		isWall := c.kind == total && t.rises(i) && words != "samples" // that has passed
		isTime := isWall || c.kind == step && c.unit > 0
		if i != at && !c.isName && !c.kind.isPlotted() && !isTime {
			return
		}
	}
	t.columns[at].kind, t.columns[at].unit = position, 0
	for i := range t.columns {
		if t.columns[i].kind == step {
			t.columns[i].kind = unknown // times of single steps
		}
	}
}

// isPlotted reports whether a table of curves may have columns of this kind beside their places.
func (k kind) isPlotted() bool {
	switch k {
	case unknown, label, rank, repeat, seed, hash, remark, rate, accuracy, trainAccuracy, loss, meanLoss,
		lossAt, low, high, deviation, ends, span:
		return true
	}
	return false
}

// rises reports whether the numbers of a column grow from each row to the next one of the same name, rank and
// run, and some name has several rows.
func (t *table) rises(column int) bool {
	last := map[string]float64{}
	isSeries := false
	for _, row := range t.rows {
		var key strings.Builder
		for i, c := range t.columns {
			if i != column && (c.isName || c.kind == label || c.kind == rank || c.kind == repeat ||
				c.kind == seed) {
				key.WriteString(row[i].text + "\x00")
			}
		}
		v := row[column].value
		before, isKnown := last[key.String()]
		if math.IsNaN(v) || isKnown && v <= before {
			return false
		}
		isSeries = isSeries || isKnown
		last[key.String()] = v
	}
	return isSeries
}
