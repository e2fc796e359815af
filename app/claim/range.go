package claim

import (
	"fmt"
	"math"
	"regexp"
)

// bounds is what a figure can be.
type bounds struct {
	least, most float64
	isWhole     bool
	isAbove     bool // least is not among them
}

// String says which figures these are.
func (b bounds) String() string {
	what := "a number"
	if b.isWhole {
		what = "a whole number"
	}
	if b.isAbove {
		return fmt.Sprintf("%s above %g", what, b.least)
	}
	if math.IsInf(b.most, 1) {
		return fmt.Sprintf("%s of at least %g", what, b.least)
	}
	return fmt.Sprintf("%s from %g to %.0f", what, b.least, b.most)
}

// holds reports whether v is within the bounds.
func (b bounds) holds(v float64) bool {
	return v >= b.least && v <= b.most && (!b.isWhole || v == math.Trunc(v)) && !(b.isAbove && v == b.least)
}

// bounds returns what a figure of a kind can be; false: anything. Losses, serial fractions and what is left
// over by phases may be negative.
func (k kind) bounds() (bounds, bool) {
	switch k {
	case workers, nodes, processes:
		return bounds{1, 1e6, true, false}, true
	case rank:
		return bounds{0, 1e6, true, false}, true
	case threads, cores, hostCores:
		return bounds{1e-3, 1e6, false, false}, true
	case batch, batchPer:
		return bounds{1, 1e12, false, false}, true
	case total, epoch, step, rankStep:
		return bounds{0, math.Inf(1), false, true}, true
	case samples, epochs, steps, repeats, network, throughput, speedup,
		efficiency, predicted, accuracy, trainAccuracy, deviation, variation, cost, price:
		return bounds{0, math.Inf(1), false, false}, true
	}
	return bounds{}, false
}

// wholeText is a number of digits alone, which a cell holds as text if it is too large.
var wholeText = regexp.MustCompile(`^[-+−]?\d+$`)

// outOfRange objects to figures that nothing measured can have: the first of each column.
func outOfRange(t *table, say sayer) {
	for i, c := range t.columns {
		b, isBounded := c.kind.bounds()
		if !isBounded {
			continue
		}
		isPlace := c.kind == epoch && c.unit == 0             // the number of an epoch, from 0
		b.isAbove = b.isAbove && !isPlace && !t.has(position) // a run begins at 0
		first, more := -1, ""
		for r := range t.rows {
			one := t.rows[r][i]
			isTooLarge := math.IsNaN(one.value) && wholeText.MatchString(one.text)
			isChange := c.kind == speedup && one.unit == "%" // 5 % slower
			switch {
			case isChange || !isTooLarge && (math.IsNaN(one.value) || b.holds(one.value)):
			case first < 0:
				first = r
			default:
				more = ", and in rows below it"
			}
		}
		if first >= 0 {
			say(Refused, fmt.Sprintf("row %d", first+1), "%q is %q%s: want %v", c.header,
				t.rows[first][i].text, more, b)
		}
	}
}
