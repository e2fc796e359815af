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

// Prior is what is known of a standard deviation before a sample is taken: that of another sample, or a guess
// that is worth one. The zero value knows nothing.
type Prior struct{ SD, Freedom float64 }

// And returns what is known after a sample: its deviation counts with the degrees of freedom that it has.
func (p Prior) And(m Moments) Prior {
	if m.N < 2 {
		return p
	}
	freedom := p.Freedom + float64(m.N-1)
	return Prior{math.Sqrt((p.Freedom*p.SD*p.SD + float64(m.N-1)*m.SD*m.SD) / freedom), freedom}
}

// MeanInterval returns the interval that covers the true mean with the wanted probability, if the values are
// normal: Mean -+ t SD/sqrt(N) with the quantile t of Student's distribution with the degrees of freedom that
// the deviation has. What is known of that beforehand gives a single value an interval, and few values one
// that is not too wide. Without either the fields are NaN, coverage 0.
func (a Moments) MeanInterval(p Prior, coverage float64) Interval {
	p = p.And(a)
	if a.N == 0 || p.Freedom <= 0 {
		return Interval{Lo: math.NaN(), Hi: math.NaN()}
	}
	half := studentQuantile(coverage, p.Freedom) * p.SD / math.Sqrt(float64(a.N))
	return Interval{Lo: a.Mean - half, Hi: a.Mean + half, Coverage: coverage}
}
