package compare

import (
	"lockstep/app/evidence/stat"
	"math"
	"strconv"
)

// Dash stands for a value that was not measured.
const Dash = "–"

// Digits formats v with n significant digits and never an exponent: 0.00123, 12.3, 1230.
func Digits(v float64, n int) string {
	if !stat.IsFinite(v) {
		return Dash
	}
	if v == 0 {
		return "0"
	}
	decimals := n - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', max(decimals, 0), 64)
}

// Millis formats seconds in milliseconds, without the unit. Tables and sentences write times this way, so
// that a reader finds the figure of one in the other.
func Millis(seconds float64) string { return Digits(1e3*seconds, 3) }

// ms writes a time with its unit.
func ms(seconds float64) string { return Millis(seconds) + " ms" }
