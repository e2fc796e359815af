package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Machines drift: what a round takes from a row, the next round takes again. So rounds are not independent,
// and as many of them say less than a test of independent values takes them for.
//
// The noise of a row is taken for a process whose neighbours correlate by some r, AR(1). Then the mean of n
// rounds has the variance v s², with v = (1 + 2 sum over k < n of (1 - k/n) r^k) / n, where independent ones
// have 1/n, and the sample variance falls short of s² by the factor (1-v) n/(n-1). An interval is Student's
// with the deviation so corrected and n (1-r²)/(1+r²) - 1 degrees of freedom, at least 1.
//
// r is estimated from all rows of a benchmark together, because the noise is the machine's, and is the
// upper end of its estimate: a benchmark of few rounds cannot know that it did not drift. The deviation is
// that of the sample or, with the freedom of all rows, that of the group where this is more: the narrower
// interval counts. docs/design/0036-rounds-that-correlate.md has the figures.
//
// Sources: Zwiers and von Storch, "Taking serial correlation into account in tests of the mean", Journal
// of Climate 8, 1995; the bias of r after Marriott and Pope, Biometrika 41, 1954. The bounds below are
// those with which benchmarks of eight kinds of noise hold (TestVerdictsHoldOnMachinesThatDrift).
const (
	// LeastRounds is the number of rounds from which on they have an interval.
	LeastRounds = 3

	// Confidence is the coverage of an interval, or of all that are compared together.
	Confidence = 0.95

	correlationUpper = 2.0 // standard errors of r above its estimate
	correlationMost  = 0.9

	// hourDeviation is by how much the ratio of two rows moves between quiet hours, relative. No number of
	// rounds of one hour shows it. docs/design/0030-the-least-difference.md has the figures.
	hourDeviation = 0.01
)

// Noise is how rounds vary. Its zero value is that of a sample by itself, whose rounds are independent.
type Noise struct {
	Correlation float64 // of a round with the next
	Deviation   float64 // of the logarithms of a group of such samples
	Rows        float64 // that Deviation is of, as many as are free to vary
	Tests       int     // intervals that cover all together with Confidence; 0: one
}

// NoiseOf returns how what rows take varies, and how the ratios of two rows of a group do, by group. A group
// has rows of equally many rounds, NaN where one is missing.
func NoiseOf(groups [][][]float64) (own, ratios []Noise) {
	var alone, beside correlogram
	for _, rows := range groups {
		var logs [][]float64
		for _, row := range rows {
			logs = append(logs, logsOf(row))
		}
		own = append(own, alone.add(logs, 0))
		ratio := beside.add(centred(logs), 1)
		ratio.Deviation *= math.Sqrt2 // both rows vary
		ratios = append(ratios, ratio)
	}
	for i := range groups {
		own[i].Correlation, ratios[i].Correlation = alone.bound(), beside.bound()
	}
	return own, ratios
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
	if len(rows) == 0 {
		return nil
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

// add adds rows, whose rounds have lost so many values by being centred, and returns their deviation.
func (c *correlogram) add(rows [][]float64, lost float64) Noise {
	var squares, values float64
	for _, row := range rows {
		mean := Mean(row)
		for i, v := range row {
			if math.IsNaN(v) {
				continue
			}
			values++
			squares += (v - mean) * (v - mean)
			if i > 0 && !math.IsNaN(row[i-1]) {
				c.products += (v - mean) * (row[i-1] - mean)
			}
		}
	}
	free := float64(len(rows)) - lost
	if free <= 0 {
		return Noise{}
	}
	values *= free / float64(len(rows))
	c.squares, c.rows, c.values = c.squares+squares, c.rows+free, c.values+values
	return Noise{Deviation: math.Sqrt(squares / (values - free)), Rows: free}
}

// bound returns the correlation at most, from 0 to correlationMost.
func (c *correlogram) bound() float64 {
	n := c.values / c.rows // rounds
	if !(n > 4) ||         // of fewer an estimate says next to nothing
		c.squares == 0 {
		return correlationMost
	}
	r := (c.products/c.squares + 1/n) / max(1-3/n, 0.25) // the estimate is too small by (1+3r)/n
	r = min(max(r, -1), 1)
	r += correlationUpper * math.Sqrt((1-r*r)/c.values)
	return min(max(r, 0), correlationMost)
}

// half returns half the width of the interval of the mean of x, and the coverage.
func (n Noise) half(x []float64) (half, coverage float64) {
	m := MomentsOf(x)
	if m.N < LeastRounds {
		return math.NaN(), 0
	}
	rounds, sum, power := float64(m.N), 1.0, 1.0
	for k := 1.0; k < rounds; k++ {
		power *= n.Correlation
		sum += 2 * (1 - k/rounds) * power
	}
	share := sum / rounds // variance of the mean over that of a value
	short := (1 - share) * rounds / (rounds - 1)
	squared := n.Correlation * n.Correlation
	freedom := max(rounds*(1-squared)/(1+squared)-1, 1)
	coverage = 1 - (1-Confidence)/float64(max(n.Tests, 1))
	half = studentQuantile(coverage, freedom) * m.SD
	if n.Rows > 1 {
		half = min(half, studentQuantile(coverage, freedom*n.Rows)*max(m.SD, n.Deviation))
	}
	return half * math.Sqrt(share/short), coverage
}

// Interval returns the interval that covers what values above 0 spread around by factors. It contains their
// median, because that is what stands beside it.
func (n Noise) Interval(x []float64) Interval { return n.within(x, 0) }

// ShareInterval is [Noise.Interval] for shares of a whole, whose odds p/(1-p) spread around by factors: so it
// ends above 0 and below 1. Where some value is no share between them, it is that of the values.
func (n Noise) ShareInterval(x []float64) Interval {
	odds := make([]float64, len(x))
	for i, p := range x {
		if odds[i] = p / (1 - p); !(0 < p && p < 1) {
			return n.Interval(x)
		}
	}
	in := n.Interval(odds)
	return Interval{Lo: in.Lo / (1 + in.Lo), Hi: in.Hi / (1 + in.Hi), Coverage: in.Coverage}
}

// within is [Noise.Interval] of what moves from hour to hour by a deviation of its logarithm.
func (n Noise) within(x []float64, deviation float64) Interval {
	half, coverage := n.half(logsOf(x))
	return around(Mean(logsOf(x)), half, deviation, coverage, Median(x))
}

// around returns the interval of half a width, and of what a deviation adds to it, around the mean of
// logarithms. It contains a median.
func around(mean, half, deviation, coverage, median float64) Interval {
	if coverage == 0 {
		return Interval{Lo: math.NaN(), Hi: math.NaN()}
	}
	half = math.Hypot(half, deviation*mathext.NormalQuantile((1+coverage)/2))
	return Interval{Lo: min(math.Exp(mean-half), median), Hi: max(math.Exp(mean+half), median),
		Coverage: coverage}
}
