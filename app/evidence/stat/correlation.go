package stat

import (
	"math"
	"slices"
)

// Machines drift: what a round takes from a row, the next round takes again. So rounds are not independent,
// and as many of them say less than a test of independent values takes them for.
//
// The noise of a row is taken for a process whose neighbours correlate by some r, AR(1). Then the mean of n
// rounds has the variance v s², with v = (1 + 2 sum over k < n of (1 - k/n) r^k) / n, where independent ones
// have 1/n, and the sample variance falls short of s² by the factor (1-v) n/(n-1). The test is Student's with
// the deviation so corrected and n (1-r²)/(1+r²) - 1 degrees of freedom, at least 1.
//
// r is estimated from all rows of a benchmark together, because the noise is the machine's, and is the
// upper end of its estimate: a benchmark of few rounds cannot know that it did not drift. LeastRounds say
// next to nothing of it and get the largest r; fewer have no interval and decide nothing.
//
// Sources: Zwiers and von Storch, "Taking serial correlation into account in tests of the mean", Journal
// of Climate 8, 1995; the bias of r after Marriott and Pope, Biometrika 41, 1954. The bounds below are
// those with which benchmarks of eight kinds of noise hold (TestVerdictsHoldOnMachinesThatDrift).
const (
	// LeastRounds is the number of rounds from which on they have an interval.
	LeastRounds = 4

	correlationUpper = 1.5 // standard errors of r above its estimate
	correlationMost  = 0.9
)

// Correlations estimates the correlation between neighbouring rounds of what rows took, and of what they took
// beside the other rows of their groups. A group has rows of equally many rounds, NaN where one is missing.
func Correlations(groups [][][]float64) (own, beside float64) {
	var alone, together correlogram
	for _, rows := range groups {
		var logs [][]float64
		for _, row := range rows {
			logs = append(logs, logsOf(row))
		}
		alone.add(logs, 0)
		if len(logs) > 1 {
			together.add(centred(logs), 1)
		}
	}
	return alone.bound(), together.bound()
}

// logsOf returns the logarithms of x; NaN stays.
func logsOf(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Log(v)
	}
	return out
}

// centred returns the rows without the mean that each round has over all of them.
func centred(rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		out[i] = slices.Clone(row)
	}
	for round := range rows[0] {
		var all []float64
		for _, row := range rows {
			all = append(all, row[round])
		}
		mean := Mean(all)
		for i := range out {
			out[i][round] -= mean
		}
	}
	return out
}

// correlogram adds up how rows vary, and how they do from one round to the next.
type correlogram struct {
	squares, products float64
	rows, values      float64 // rows, and values that are free to vary
}

// add adds rows, whose rounds have lost so many values by being centred.
func (c *correlogram) add(rows [][]float64, lost float64) {
	n := 0.0
	for _, row := range rows {
		mean := Mean(row)
		for i, v := range row {
			if math.IsNaN(v) {
				continue
			}
			n++
			c.squares += (v - mean) * (v - mean)
			if i > 0 && !math.IsNaN(row[i-1]) {
				c.products += (v - mean) * (row[i-1] - mean)
			}
		}
	}
	if len(rows) > 0 {
		c.rows += float64(len(rows)) - lost
		c.values += n * (1 - lost/float64(len(rows)))
	}
}

// bound returns the correlation at most, from 0 to correlationMost.
func (c *correlogram) bound() float64 {
	n := c.values / c.rows // rounds
	if !(n > LeastRounds) || c.squares == 0 {
		return correlationMost
	}
	r := (c.products/c.squares + 1/n) / max(1-3/n, 0.25) // the estimate is too small by (1+3r)/n
	r = min(max(r, -1), 1)
	r += correlationUpper * math.Sqrt((1-r*r)/c.values)
	return min(max(r, 0), correlationMost)
}

// drifting is a sample of values in the order of their rounds, whose noise correlates.
type drifting struct {
	moments Moments
	share   float64 // variance of the mean over that of a value
	freedom float64 // of the deviation
}

func driftingOf(x []float64, correlation float64) drifting {
	d := drifting{moments: MomentsOf(x)}
	n := float64(d.moments.N)
	sum, power := 1.0, 1.0
	for k := 1.0; k < n; k++ {
		power *= correlation
		sum += 2 * (1 - k/n) * power
	}
	d.share = sum / n
	squared := correlation * correlation
	d.freedom = max(n*(1-squared)/(1+squared)-1, 1)
	return d
}

// standardError returns the standard error of the mean and its degrees of freedom.
func (d drifting) standardError() (e, freedom float64) {
	n := float64(d.moments.N)
	short := (1 - d.share) * n / (n - 1)
	return d.moments.SD * math.Sqrt(d.share/short), d.freedom
}

// nonzeroP is [Moments.NonzeroP] for values whose noise correlates.
func (d drifting) nonzeroP() float64 {
	if d.moments.N < LeastRounds || d.moments.Mean == 0 || !IsFinite(d.moments.Mean) {
		return 1
	}
	e, freedom := d.standardError()
	return studentP(d.moments.Mean/e, freedom)
}

// interval is [Moments.MeanInterval] for values whose noise correlates.
func (d drifting) interval(coverage float64) Interval {
	if d.moments.N < LeastRounds {
		return Interval{Lo: math.NaN(), Hi: math.NaN()}
	}
	e, freedom := d.standardError()
	half := studentQuantile(coverage, freedom) * e
	return Interval{Lo: d.moments.Mean - half, Hi: d.moments.Mean + half, Coverage: coverage}
}

// IntervalOf returns the interval that covers what values of so correlated noise, all above 0, spread
// around by factors. It contains their median, because that is what stands beside it.
func IntervalOf(x []float64, correlation float64) Interval {
	i := driftingOf(logsOf(x), correlation).interval(Confidence)
	median := Median(x)
	i.Lo, i.Hi = min(math.Exp(i.Lo), median), max(math.Exp(i.Hi), median)
	return i
}
