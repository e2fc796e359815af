package claim

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// cell is one value of a table.
type cell struct {
	text   string  // as written, without markup
	value  float64 // NaN: no number
	half   float64 // half a unit of the last digit written, in the unit of value
	lo, hi float64 // interval written in the cell, or all of it; NaN: none
	ends   float64 // half a unit of the last digit of lo and hi, in the unit of value
	share  float64 // spread as a share of the value, or in points of a percentage; 0: not written so
	unit   string  // written behind the number
	parts  [2]float64
	marked bool      // set in bold, or called the best
	list   []float64 // of a column with a time of each run; NaN: one that does not count
}

// Forms of cells: "3 x 21", workers times samples of each; "4.1 ± 0.2 ms"; "4.1 (3.9–4.3) ms"; "3.9–4.3";
// "4.1 s ± 200 ms", a spread with a unit of its own; "≈ 4.1 ms".
var (
	product  = regexp.MustCompile(`^(\d+) ?(?:x|×|\*) ?(\d+)$`)
	spread   = regexp.MustCompile(`^(\S+) ?(?:±|\+/-|\+-) ?(\S+)( ?[^\d\s]\S*)?$`)
	interval = regexp.MustCompile(`^(\S+(?: %)?) ?[([] ?([\d.,]+) ?%? ?(?:-|–|—|,|;|to|\.\.) ?([\d.,]+) ?` +
		`%? ?[)\]]( ?\S+)?$`)
	fromTo = regexp.MustCompile(`^([\d.,]+) ?[–—-] ?([\d.,]+)( ?(?:%|[a-zµμ]+))?$`)
	inside = regexp.MustCompile(`^[([] ?([\d.,]+) ?%? ?(?:-|–|—|,|;|to|\.\.) ?([\d.,]+) ?(%)?[)\]]` +
		`( ?(?:%|[a-zµμ]+))?$`)
	eachUnit    = regexp.MustCompile(`^([\d.,]+) ?([a-zµμ]+) ?(?:±|\+/-|\+-) ?([\d.,]+) ?([a-zµμ]+|%)$`)
	spacedShare = regexp.MustCompile(`((?:±|\+/-|\+-) ?[\d.,]+) %$`)
	quantity    = regexp.MustCompile(`^([~≈<>≥≤$€±]*) ?([-+−]?[\d.,]*\d(?:[eE][-+]?\d+)?) ?([^\d\s]\S*)?$`)
)

// emphasized is a cell in italics.
var emphasized = regexp.MustCompile(`^\*([^*\s][^*]*)\*$|^_([^_\s][^_]*)_$`)

// grouped is a number in groups of three digits behind apostrophes or spaces that do not break, as in
// 1'024'000; betweenGroups is what stands between them. Of ordinary spaces nobody knows.
var (
	grouped       = regexp.MustCompile(`\b\d{1,3}(?:['’\x{a0}\x{202f}]\d{3})+\b`)
	betweenGroups = regexp.MustCompile(`\D`)
)

// parseCell reads a cell: a number with a unit, a product, a range, a number with an interval or a spread, or
// text.
func parseCell(text string) cell {
	text = strings.TrimSpace(text)
	c := cell{value: math.NaN(), lo: math.NaN(), hi: math.NaN(),
		marked: strings.HasPrefix(text, "**") || strings.HasPrefix(text, "__")}
	if text == "" {
		return c // what a row has of each kind that its table lacks
	}
	if m := emphasized.FindStringSubmatch(text); m != nil {
		text = m[1] + m[2]
	}
	text = grouped.ReplaceAllStringFunc(text, func(group string) string {
		return betweenGroups.ReplaceAllString(group, "")
	})
	c.text = strings.TrimSpace(strings.NewReplacer("**", "", "__", "", "`", "", "<br>", " ").Replace(text))
	for _, reads := range []func(*cell) bool{(*cell).readProduct, (*cell).readRange, (*cell).readInterval,
		(*cell).readSpread} {
		if reads(&c) {
			return c
		}
	}
	c.number(c.text)
	return c
}

// readProduct reads a cell that is a product; false: it is none.
func (c *cell) readProduct() bool {
	m := product.FindStringSubmatch(c.text)
	if m == nil {
		return false
	}
	a, _ := strconv.ParseFloat(m[1], 64) // digits only
	b, _ := strconv.ParseFloat(m[2], 64)
	c.value, c.half, c.parts = a*b, 0, [2]float64{a, b}
	return true
}

// readRange reads a cell that is a range; false: it is none.
func (c *cell) readRange() bool {
	m := fromTo.FindStringSubmatch(c.text)
	if m == nil && !thousands.MatchString(strings.Trim(c.text, "()[]")) {
		m = inside.FindStringSubmatch(c.text)
	}
	if m == nil {
		return false
	}
	unit := strings.TrimSpace(strings.Join(m[3:], ""))
	if unit != "" && unit != "%" && secondsIn(unit) == 0 {
		return false
	}
	lo, half, okLo := parseNumber(m[1])
	hi, _, okHi := parseNumber(m[2])
	if !okLo || !okHi {
		return false
	}
	c.lo, c.hi, c.ends, c.unit = lo, hi, half, unit
	return true
}

// readInterval reads a number with an interval behind it; false: there is none.
func (c *cell) readInterval() bool {
	m := interval.FindStringSubmatch(c.text)
	if m == nil {
		return false
	}
	lo, offLo, okLo := parseNumber(m[2])
	hi, offHi, okHi := parseNumber(m[3])
	if okLo && okHi && c.number(m[1]+strings.TrimSpace(m[4])) {
		c.lo, c.hi, c.ends = lo, hi, max(offLo, offHi)
		if f := thousandsOf(m[1]); f > 1 && hi < c.value/f*100 { // 1.2k (1.1–1.3)
			c.lo, c.hi, c.ends = lo*f, hi*f, c.ends*f
		}
	}
	return true
}

// readSpread reads a number with what its runs spread by; false: there is none.
func (c *cell) readSpread() bool {
	text := c.text
	text = spacedShare.ReplaceAllString(text, "$1%")
	if m := eachUnit.FindStringSubmatch(text); m != nil && m[4] == "%" {
		text = m[1] + " ± " + m[3] + "% " + m[2]
	} else if m != nil {
		by, _, ok := parseNumber(m[3])
		if scale := secondsIn(m[4]) / secondsIn(m[2]); ok && given(by*scale) {
			text = m[1] + " ± " + strconv.FormatFloat(by*scale, 'g', -1, 64) + " " + m[2]
		}
	}
	m := spread.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	by, _, ok := parseNumber(strings.TrimRight(m[2], "%xs"))
	if ok && c.number(m[1]+strings.TrimSpace(m[3])) {
		c.lo, c.hi = c.value-by, c.value+by
		if strings.HasSuffix(m[2], "%") && c.unit != "%" {
			c.share = by / 100
		}
	}
	return true
}

// clocked is a time such as 1:20, minutes and seconds, or 1:02:03.
var clocked = regexp.MustCompile(`^(?:(\d+):)?(\d+):([0-5]\d(?:\.\d+)?)$`)

// clock reads a time with colons, in seconds. In a column of hours its first part is hours.
func clock(text string, unit float64) (c cell, ok bool) {
	m := clocked.FindStringSubmatch(text)
	if m == nil {
		return cell{}, false
	}
	c = parseCell(m[3])
	for i, scale := range []float64{3600, 60} {
		if v, _, isPart := parseNumber(m[i+1]); isPart {
			c.value += v * scale
		}
	}
	if c.text = text; unit == 3600 && m[1] == "" {
		c = c.scaled(60)
	}
	return c, true
}

// spelledOut is a time of several parts, such as "10m 20s", "2h13m" or "1 min, 5 s", or of minutes: "5m".
var spelledOut = regexp.MustCompile(`(?i)^(?:\d+ ?(?:h|hrs?|hours?),? ?)?(?:\d+ ?(?:m|mins?|minutes?),? ?)?` +
	`(?:\d+(?:\.\d+)? ?(?:s|secs?|seconds?))?$`)

// spell reads a time whose parts have units of their own, in seconds.
func spell(text string) (c cell, ok bool) {
	if text == "" || !spelledOut.MatchString(text) {
		return cell{}, false
	}
	c = cell{text: text, lo: math.NaN(), hi: math.NaN(), unit: "s"}
	c.value, c.half = lengthOf(strings.ToLower(text))
	return c, true
}

// number fills value, half and unit from a number with a unit.
func (c *cell) number(text string) bool {
	m := quantity.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	v, half, ok := parseNumber(m[2])
	if !ok {
		return false
	}
	c.value, c.half, c.unit = v, half, bareUnit(m[3])
	switch footMark.ReplaceAllString(m[3], "") {
	case "k", "K":
		*c, c.unit = c.scaled(1e3), ""
	case "M":
		*c, c.unit = c.scaled(1e6), ""
	}
	return true
}

// thousandsOf returns by what a k or an M behind a number multiplies it.
func thousandsOf(text string) float64 {
	switch text[len(text)-1] {
	case 'k', 'K':
		return 1e3
	case 'M':
		return 1e6
	}
	return 1
}

// footnoteMark is what a footnote and the figure that it is about are marked by: †, ², [^1], <sup>a</sup>.
const footnoteMark = `\\?[*†‡§¶]+|[¹²³⁴⁵⁶⁷⁸⁹]+|\[\^\w+\]|<sup>[^<]*</sup>`

// Behind a unit, or in its place, may stand a mark of a footnote, what a time is of ("ms/step"), that it was
// projected ("(est.)"), and a deviation or a rank ("(0.3)").
var (
	footMark = regexp.MustCompile(`(?:` + footnoteMark + `)$`)
	perStep  = regexp.MustCompile(`(?:/|per)(?:steps?|it|iter|iterations?|epochs?|batch)$`)
	guessed  = regexp.MustCompile(`^[(\[]\w+\.?[)\]]$`)
	enclosed = regexp.MustCompile(`^[(\[][\d.,]+[)\]]$`)
)

// bareUnit returns a unit in lower case, without what else stands behind a number.
func bareUnit(text string) string {
	unit := footMark.ReplaceAllString(strings.TrimRight(text, ".,;"), "")
	unit = perStep.ReplaceAllString(strings.ToLower(unit), "")
	isGuess := unit == "(model)" || projections.MatchString(unit) || guesses.MatchString(unit)
	if guessed.MatchString(unit) && isGuess || enclosed.MatchString(unit) {
		return ""
	}
	return unit
}

// thousands is a number in groups of three digits, such as 1,024,000.5.
var thousands = regexp.MustCompile(`^[-+]?\d{1,3}(,\d{3})+(\.\d+)?$`)

// pointed is a number in groups of three digits behind points, with a comma in place of the point: 1.024,5.
var pointed = regexp.MustCompile(`^[-+]?\d{1,3}(\.\d{3})+,\d+$`)

// withoutPoints returns the rows of a table that writes 1.024 for a thousand, without these points: one of
// its cells has a comma in place of the point for sure, and none has a point that is no thousand's.
func withoutPoints(lines [][]string) [][]string {
	isComma := false
	for _, cell := range slices.Concat(lines...) {
		text, _, _ := strings.Cut(strings.TrimSpace(cell), " ")
		if decimalPoint.MatchString(text) {
			return lines
		}
		isComma = isComma || decimalComma.MatchString(text)
	}
	if !isComma {
		return lines
	}
	out := make([][]string, len(lines))
	for i, line := range lines {
		for _, cell := range line {
			number, rest, found := strings.Cut(strings.TrimSpace(cell), " ")
			if thousandPoints.MatchString(number) {
				number = strings.ReplaceAll(number, ".", "")
			}
			if found {
				number += " " + rest
			}
			out[i] = append(out[i], number)
		}
	}
	return out
}

// Numbers as some languages write them (3,14 or 1.024,5), as others do (3.14), and as both may (1.024).
var (
	decimalComma   = regexp.MustCompile(`^[-+]?\d+,(\d{1,2}|\d{4,})$|^[-+]?\d{1,3}(\.\d{3})+,\d+$`)
	decimalPoint   = regexp.MustCompile(`^[-+]?\d+\.(\d{1,2}|\d{4,})\D*$|^[-+]?0\.\d+\D*$`)
	thousandPoints = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}(\.\d{3})+$`)
)

// parseNumber reads a decimal number, with commas between groups of three digits or in place of the point,
// and half a unit of its last digit.
func parseNumber(text string) (v, half float64, ok bool) {
	text = strings.Replace(text, "−", "-", 1)
	switch {
	case pointed.MatchString(text):
		text = strings.Replace(strings.ReplaceAll(text, ".", ""), ",", ".", 1)
	case thousands.MatchString(text):
		text = strings.ReplaceAll(text, ",", "")
	case strings.Count(text, ",") == 1 && !strings.Contains(text, "."):
		text = strings.Replace(text, ",", ".", 1)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) || math.Abs(v) > 1e18 {
		return math.NaN(), 0, false
	}
	digits, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	scale, _ := strconv.Atoi(exponent) // 0 without one
	decimals := 0
	if _, behind, found := strings.Cut(digits, "."); found {
		decimals = len(behind)
	}
	return v, 0.5 * math.Pow(10, float64(scale-decimals)), true
}

// scaled returns the cell with its figures in another unit.
func (c cell) scaled(f float64) cell {
	c.value, c.half, c.lo, c.hi = c.value*f, c.half*math.Abs(f), c.lo*f, c.hi*f
	c.ends *= math.Abs(f)
	c.list = slices.Clone(c.list)
	for i := range c.list {
		c.list[i] *= f
	}
	return c
}

// secondsIn returns how many seconds a unit of time has; 0 for another word.
func secondsIn(unit string) float64 {
	switch unit {
	case "s", "sec", "secs", "second", "seconds":
		return 1
	case "ms", "msec", "millisecond", "milliseconds":
		return 1e-3
	case "us", "µs", "μs", "microsecond", "microseconds":
		return 1e-6
	case "ns", "nanoseconds":
		return 1e-9
	case "min", "mins", "minute", "minutes":
		return 60
	case "h", "hr", "hrs", "hour", "hours":
		return 3600
	}
	return 0
}
