package plot

import (
	"fmt"
	"math"
)

// axis maps values to pixels, linearly or by their logarithms.
type axis struct {
	lo, hi float64 // values at the ends
	at, to float64 // pixels at the ends
	ticks  []float64
	isLog  bool
}

// newAxis covers [lo, hi], widened to whole ticks, with about n ticks. It begins at 0 unless that would press
// what differs into less than half of it.
func newAxis(lo, hi float64, n int, at, to float64) axis {
	if lo <= hi/2 || lo == hi {
		lo = math.Min(lo, 0)
	}
	if !(hi > lo) {
		hi = lo + 1
	}
	step := niceStep((hi - lo) / float64(n))
	first, last := math.Floor(lo/step+1e-9)*step, math.Ceil(hi/step-1e-9)*step
	if !known(first) || !known(last) { // the greatest numbers have no whole ticks around them
		first, last = lo, hi
	}
	a := axis{lo: first, hi: last, at: at, to: to}
	for i := 0; ; i++ {
		v := first + float64(i)*step
		if !known(v) || !(v <= a.hi+step/1e6) {
			return a
		}
		a.ticks = append(a.ticks, v)
	}
}

// newLogAxis covers [lo, hi], 0 < lo, from a tick to a tick; ticks are 1, 2 and 5 times powers of ten, or
// powers of ten alone if those are many.
func newLogAxis(lo, hi float64, at, to float64) axis {
	first, last := math.Floor(math.Log10(lo)), math.Ceil(math.Log10(math.Max(hi, 1.01*lo)))
	a := axis{at: at, to: to, isLog: true}
	for e := first; e <= last; e++ {
		for _, m := range []float64{1, 2, 5} {
			if m == 1 || last-first < 3 {
				a.ticks = append(a.ticks, m*math.Pow(10, e))
			}
		}
	}
	for len(a.ticks) > 2 && a.ticks[1] <= lo {
		a.ticks = a.ticks[1:]
	}
	for n := len(a.ticks); n > 2 && a.ticks[n-2] >= hi; n = len(a.ticks) {
		a.ticks = a.ticks[:n-1]
	}
	a.lo, a.hi = a.ticks[0], a.ticks[len(a.ticks)-1]
	return a
}

// pixel returns the position of v, clamped to the axis.
func (a axis) pixel(v float64) float64 {
	v, lo, hi := math.Min(math.Max(v, a.lo), a.hi), a.lo, a.hi
	if a.isLog {
		v, lo, hi = math.Log(v), math.Log(lo), math.Log(hi)
	}
	return a.at + (v-lo)/(hi-lo)*(a.to-a.at)
}

// niceStep returns 1, 2 or 5 times a power of ten, the smallest that is at least v.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// span returns the least and the greatest of the values that are known; 0 and 0 if none is.
func span(lists ...[]float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, list := range lists {
		for _, v := range list {
			if known(v) {
				lo, hi = math.Min(lo, v), math.Max(hi, v)
			}
		}
	}
	if lo > hi {
		return 0, 0
	}
	return lo, hi
}

// trim formats a tick of a linear axis without trailing zeros, large ones with k and M.
func trim(v float64) string {
	switch {
	case math.Abs(v) >= 1e6:
		return fmt.Sprintf("%.6gM", v/1e6)
	case math.Abs(v) >= 1e4:
		return fmt.Sprintf("%.6gk", v/1e3)
	}
	return fmt.Sprintf("%.6g", v)
}

func known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// digits formats v with three significant digits and never an exponent.
func digits(v float64) string {
	if !known(v) {
		return "–"
	}
	if v == 0 {
		return "0"
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return fmt.Sprintf("%.*f", max(decimals, 0), v)
}
