package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"lockstep/app/evidence/compare"
)

// dash stands for a value that was not measured.
const dash = compare.Dash

func known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// digits formats v with n significant digits; see [compare.Digits].
func digits(v float64, n int) string { return compare.Digits(v, n) }

func seconds(v float64) string { return digits(v, 3) }

// trim formats a number without trailing zeros.
func trim(v float64) string { return fmt.Sprintf("%.6g", v) }

func millis(v float64) string { return compare.Millis(v) }

func percent(v float64) string {
	if !known(v) {
		return dash
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}

func fixed(v float64, decimals int) string {
	if !known(v) {
		return dash
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// between formats a range; empty if either end is unknown.
func between(lo, hi float64, format func(float64) string) string {
	if !known(lo) || !known(hi) {
		return ""
	}
	return format(lo) + "–" + format(hi)
}

// byteCount formats v with a binary unit.
func byteCount(v float64) string {
	if !known(v) {
		return dash
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for v >= 1024 && i < len(units)-1 {
		v /= 1024
		i++
	}
	return digits(v, 3) + " " + units[i]
}

func duration(seconds float64) string {
	return time.Duration(seconds * 1e9).Round(time.Second).String()
}

// shell quotes arguments so that the line can be pasted into a POSIX shell.
func shell(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		plain := a != "" && !strings.ContainsFunc(a, func(r rune) bool {
			isWord := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
			return !isWord && !strings.ContainsRune("-_=+,./:@%", r)
		})
		if quoted[i] = a; !plain {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
