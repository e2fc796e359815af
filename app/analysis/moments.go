package analysis

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

// DifferenceP returns the probability of means at least as far apart as those of a and b, if the true means
// are equal: the two-sided t-test of Welch, for samples of different deviations. It is 1 where a side has
// fewer than two values, which say nothing.
//
// t = (a-b)/e with e = sqrt(u+v), u = SD²/N of a and v of b, has (u+v)²/(u²/(Na-1) + v²/(Nb-1)) degrees of
// freedom, rounded down here. Source: Welch, "The generalization of Student's problem", Biometrika 34, 1947.
func (a Moments) DifferenceP(b Moments) float64 {
	e, freedom := a.standardError(b)
	if freedom < 1 {
		return 1
	}
	if a.Mean == b.Mean {
		return 1
	}
	return studentP((a.Mean-b.Mean)/e, float64(freedom))
}

// EquivalenceP returns the probability of means at most as far apart as those of a and b, if the true means
// differ by margin > 0 or more: the larger one of two one-sided tests of Welch (TOST). Below 0.05 the means
// are the same within margin. It is 1 where a side has fewer than two values.
//
// Source: Schuirmann, "A comparison of the two one-sided tests procedure and the power approach", Journal of
// Pharmacokinetics and Biopharmaceutics 15, 1987.
func (a Moments) EquivalenceP(b Moments, margin float64) float64 {
	e, freedom := a.standardError(b)
	if freedom < 1 {
		return 1
	}
	return twoOneSided(margin-math.Abs(a.Mean-b.Mean), e, freedom)
}

// NonzeroP returns the probability of a mean at least as far from 0, if the true one is 0: the two-sided
// t-test of Student. With N values t = Mean / (SD/sqrt(N)) has N-1 degrees of freedom. It is 1 for fewer than
// two values, which say nothing. Source: Student, "The probable error of a mean", Biometrika 6, 1908.
func (a Moments) NonzeroP() float64 {
	if a.N < 2 || a.Mean == 0 || !finite(a.Mean) {
		return 1
	}
	return studentP(a.Mean/(a.SD/math.Sqrt(float64(a.N))), float64(a.N-1))
}

// ZeroP is [Moments.EquivalenceP] of a sample of differences of pairs and of 0.
func (a Moments) ZeroP(margin float64) float64 {
	if a.N < 2 {
		return 1
	}
	return twoOneSided(margin-math.Abs(a.Mean), a.SD/math.Sqrt(float64(a.N)), a.N-1)
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

// twoOneSided returns the larger p of the two tests, of which the other has more room to its bound.
func twoOneSided(room, e float64, freedom int) float64 {
	p := studentP(room/e, float64(freedom)) / 2
	switch {
	case room == 0:
		return 0.5
	case room < 0:
		return 1 - p
	}
	return p
}

// standardError returns the standard error of a.Mean - b.Mean and its degrees of freedom after Welch; 0
// degrees where there are too few values. Without any deviation the smaller sample gives the degrees.
func (a Moments) standardError(b Moments) (e float64, freedom int) {
	if a.N < 2 || b.N < 2 {
		return math.NaN(), 0
	}
	na, nb := float64(a.N), float64(b.N)
	u, v := a.SD*a.SD/na, b.SD*b.SD/nb
	freedom = min(a.N, b.N) - 1
	if exact := (u + v) * (u + v) / (u*u/(na-1) + v*v/(nb-1)); exact >= 1 {
		freedom = int(min(exact, 1e6))
	}
	return math.Sqrt(u + v), freedom
}
