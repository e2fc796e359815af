package stat

import (
	"math"
	"slices"
)

// Summary describes one sample by its order statistics. An empty sample has N 0 and NaN fields.
type Summary struct {
	N                          int
	Min, P10, Median, P90, Max float64
}

// Summarize returns the order statistics of x, ignoring NaN. It does not modify x.
func Summarize(x []float64) Summary {
	s := sorted(x)
	return Summary{
		N:      len(s),
		Min:    quantile(s, 0),
		P10:    quantile(s, 0.1),
		Median: quantile(s, 0.5),
		P90:    quantile(s, 0.9),
		Max:    quantile(s, 1),
	}
}

// Spread returns (Max-Min)/Median, the whole range relative to the middle. It is NaN for fewer
// than two values: one run has no spread.
func (s Summary) Spread() float64 {
	if s.N < 2 {
		return math.NaN()
	}
	return (s.Max - s.Min) / s.Median
}

// Median returns the middle of x, the mean of the two middle values where len(x) is even,
// ignoring NaN; NaN for an empty sample.
func Median(x []float64) float64 { return Quantile(x, 0.5) }

// Quantile returns the q-quantile of x, 0 <= q <= 1, ignoring NaN.
//
// With the values sorted as x[0] <= ... <= x[n-1] it is the linear interpolation at position
// q*(n-1): definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996,
// which NumPy and R use by default. It is NaN for an empty sample.
func Quantile(x []float64, q float64) float64 { return quantile(sorted(x), q) }

// Mean returns the arithmetic mean of x, ignoring NaN; NaN for an empty sample.
func Mean(x []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range x {
		if !math.IsNaN(v) {
			sum += v
			n++
		}
	}
	return sum / float64(n)
}

func sorted(x []float64) []float64 {
	s := make([]float64, 0, len(x))
	for _, v := range x {
		if !math.IsNaN(v) {
			s = append(s, v)
		}
	}
	slices.Sort(s)
	return s
}

func quantile(sorted []float64, q float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	at := q * float64(n-1)
	i := int(at)
	if i >= n-1 {
		return sorted[n-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// Interval is a range for a median with the probability that it covers the true one.
type Interval struct {
	Lo, Hi   float64
	Coverage float64 // between 0 and 1; 0 when there is no interval
}

// Contains reports whether v lies in the closed interval.
func (i Interval) Contains(v float64) bool { return i.Lo <= v && v <= i.Hi }

// IsWithin reports whether the interval reaches no further than a relative width of a middle to both sides.
func (i Interval) IsWithin(width, middle float64) bool { return i.Hi-i.Lo <= 2*width*middle }

// Ratio is a quotient measured in pairs: one value per round of the interleaved schedule.
type Ratio struct {
	Values   []float64 // one per round, in round order
	Median   float64
	Interval Interval // for the true ratio, in other hours too

	noise Noise
}

// Known reports whether at least one pair was measured.
func (r Ratio) Known() bool { return !math.IsNaN(r.Median) && len(r.Values) > 0 }

// IsDecided reports whether the two sides differ: the interval leaves out 1.
func (r Ratio) IsDecided() bool { return r.Interval.Coverage > 0 && !r.Interval.Contains(1) }

// IsUnanimous reports whether each of several rounds is on the same side of 1, be it decided or not.
func (r Ratio) IsUnanimous() bool {
	return len(r.Values) > 1 && (slices.Max(r.Values) < 1 || slices.Min(r.Values) > 1)
}

// IsWithin reports whether the rounds agree on the ratio to a relative width on both sides, in their hour.
func (r Ratio) IsWithin(width float64) bool {
	return r.noise.Interval(r.Values).IsWithin(width, r.Median)
}

// Scaled returns the ratio with every value multiplied by f > 0.
func (r Ratio) Scaled(f float64) Ratio {
	values := make([]float64, len(r.Values))
	for i, v := range r.Values {
		values[i] = v * f
	}
	return ratioOf(values, r.noise)
}

// PairedRatio returns the ratios over[i]/under[i] of the rounds that both sides measured; a round that
// one side lacks holds NaN there. Pairing inside a round removes the drift of the machine that both sides
// shared, after Bulej et al., "Duet Benchmarking", 2020. It panics when the slices differ in length.
func PairedRatio(over, under []float64, noise Noise) Ratio {
	if len(over) != len(under) {
		panic("stat: paired ratio: slices differ in length")
	}
	var values []float64
	for i := range over {
		if q := over[i] / under[i]; !math.IsNaN(q) && !math.IsInf(q, 0) {
			values = append(values, q)
		}
	}
	return ratioOf(values, noise)
}

// UnpairedRatio returns the ratio of what was measured at two times, between which it moves by a deviation of
// its logarithm however many rounds there are: the medians of over and under, whose rounds are no pairs. Its
// values are those of over, over the median of under. Fewer than [LeastRounds] rounds on a side have no
// interval.
func UnpairedRatio(over, under []float64, noiseOver, noiseUnder Noise, deviation float64) Ratio {
	r := Ratio{Median: Median(over) / Median(under)}
	for _, v := range over {
		if !math.IsNaN(v) {
			r.Values = append(r.Values, v/Median(under))
		}
	}
	above, coverage := noiseOver.half(logsOf(over))
	below, other := noiseUnder.half(logsOf(under))
	r.Interval = around(Mean(logsOf(over))-Mean(logsOf(under)), math.Hypot(above, below), deviation,
		min(coverage, other), r.Median)
	return r
}

func ratioOf(values []float64, noise Noise) Ratio {
	return Ratio{Values: values, Median: Median(values), Interval: noise.within(values, hourDeviation),
		noise: noise}
}

// IsFinite reports whether v is an ordinary number.
func IsFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
