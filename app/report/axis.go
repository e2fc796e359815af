package report

import "math"

// axis maps values to pixels, linearly from 0 or from a first value.
type axis struct {
	lo, hi float64 // values at the ends
	at, to float64 // pixels at the ends
	ticks  []float64
}

// newAxis covers [lo, hi], widened to whole ticks at the top, with about n ticks.
func newAxis(lo, hi float64, n int, at, to float64) axis {
	if !(hi > lo) {
		hi = lo + 1
	}
	step := niceStep((hi - lo) / float64(n))
	first := math.Ceil(lo/step-1e-9) * step
	last := math.Ceil(hi/step-1e-9) * step
	a := axis{lo: lo, hi: last, at: at, to: to}
	for i := 0; first+float64(i)*step <= last+step/1e6; i++ {
		a.ticks = append(a.ticks, first+float64(i)*step)
	}
	return a
}

// newSteps covers iterations 1 to n without widening; ticks are 1 and round numbers.
func newSteps(n int, wanted int, at, to float64) axis {
	a := axis{lo: 1, hi: math.Max(float64(n), 2), at: at, to: to, ticks: []float64{1}}
	step := math.Max(1, niceStep(float64(n)/float64(wanted)))
	for v := step; v <= float64(n); v += step {
		if v > 1 && v-1 >= step/2 {
			a.ticks = append(a.ticks, v)
		}
	}
	return a
}

// pixel returns the position of v, clamped to the axis.
func (a axis) pixel(v float64) float64 {
	share := (math.Min(math.Max(v, a.lo), a.hi) - a.lo) / (a.hi - a.lo)
	return a.at + share*(a.to-a.at)
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
