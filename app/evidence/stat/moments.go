package stat

import "math"

// Moments are the size, the mean and the standard deviation of a sample.
type Moments struct {
	N        int
	Mean, SD float64
}

// MomentsOf returns the moments of x without NaN; the deviation divides by N-1 and is NaN for N below 2.
func MomentsOf(x []float64) Moments {
	s := sorted(x)
	m := Moments{N: len(s), Mean: Mean(s)}
	squares := 0.0
	for _, v := range s {
		squares += (v - m.Mean) * (v - m.Mean)
	}
	m.SD = math.Sqrt(squares / float64(m.N-1))
	if m.N < 2 {
		m.SD = math.NaN()
	}
	return m
}

// MeanInterval returns the interval that covers the true mean with the wanted probability, if the values are
// normal: Mean -+ t SD/sqrt(N) with the quantile t of Student's distribution with N-1 degrees of freedom.
// Fewer than two values have no interval: the fields are NaN, coverage 0.
func (a Moments) MeanInterval(coverage float64) Interval {
	if a.N < 2 {
		return Interval{Lo: math.NaN(), Hi: math.NaN()}
	}
	half := studentQuantile(coverage, float64(a.N-1)) * a.SD / math.Sqrt(float64(a.N))
	return Interval{Lo: a.Mean - half, Hi: a.Mean + half, Coverage: coverage}
}

// Minus returns the interval that covers the difference a - b of two true means with the wanted probability,
// if both samples are normal with deviations of their own: Welch's. Fewer than two values have no interval:
// the fields are NaN, coverage 0.
func (a Moments) Minus(b Moments, coverage float64) Interval {
	if min(a.N, b.N) < 2 {
		return Interval{Lo: math.NaN(), Hi: math.NaN()}
	}
	x, y := a.SD*a.SD/float64(a.N), b.SD*b.SD/float64(b.N)
	freedom := (x + y) * (x + y) / (x*x/float64(a.N-1) + y*y/float64(b.N-1))
	if x+y == 0 {
		freedom = float64(a.N + b.N - 2)
	}
	half := studentQuantile(coverage, freedom) * math.Sqrt(x+y)
	return Interval{Lo: a.Mean - b.Mean - half, Hi: a.Mean - b.Mean + half, Coverage: coverage}
}
