package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/spelling"
)

// dash stands for a value that was not measured.
const dash = "–"

// unknown is a number that was not measured.
var unknown = math.NaN()

func known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func orDash(s string) string {
	if s == "" {
		return dash
	}
	return s
}

// digits formats v with n significant digits and never an exponent: 0.00123, 12.3, 1230.
func digits(v float64, n int) string {
	switch {
	case !known(v):
		return dash
	case v == 0:
		return "0"
	}
	decimals := n - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', max(decimals, 0), 64)
}

func seconds(v float64) string     { return digits(v, 3) }
func millis(v float64) string      { return digits(1e3*v, 3) }
func twoDecimals(v float64) string { return fixed(v, 2) }

// trim formats a number without trailing zeros.
func trim(v float64) string { return fmt.Sprintf("%.6g", v) }

// percent writes a part of 1; what is there is never "0.0 %".
func percent(v float64) string {
	switch {
	case !known(v):
		return dash
	case v > 0 && v < 0.0005:
		return "< 0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}

func fixed(v float64, decimals int) string {
	if !known(v) {
		return dash
	}
	if math.Abs(v) < 0.5*math.Pow10(-decimals) { // a zero has no sign
		v = 0
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// between formats a range; empty if either end is unknown.
func between(lo, hi float64, format func(float64) string) string {
	if !known(lo) || !known(hi) {
		return ""
	}
	low, high := format(lo), format(hi)
	if at := strings.LastIndex(high, " "); at >= 0 { // a unit stands once
		low = strings.TrimSuffix(low, high[at:])
	}
	return low + "–" + high
}

// byteCount formats v with a decimal unit, as rates of links and figures of other reports have.
func byteCount(v float64) string {
	if !known(v) {
		return dash
	}
	size, unit := spelling.DecimalUnit(v)
	return digits(v/size, 3) + " " + unit
}

// moment writes a time; "" where it is not known.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 January 2006, 15:04 UTC")
}

func duration(seconds float64) string {
	return time.Duration(seconds * 1e9).Round(time.Second).String()
}

// hashCell shows the beginning of a hash.
func hashCell(hash string) cell {
	return cell{Text: orDash(hash[:min(10, len(hash))]), Code: hash}
}

// addNew appends text to all unless it is there.
func addNew(all []string, text string) []string {
	if slices.Contains(all, text) {
		return all
	}
	return append(all, text)
}

// joined joins the texts that say something.
func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}
