package metric

import (
	"cmp"
	"slices"
)

// Note: ranking
//
// A class is told from all others (one against the rest) by its probability. Samples are sorted by that;
// those with equal probabilities are one threshold, whatever their order. Both figures are sums over
// thresholds from the greatest probability down, with counts of the samples at and above each.

// scored is a sample at a threshold: the probability of a class, and whether the sample is of it.
type scored struct {
	chance float64
	isIn   bool
}

// thresholds calls each for one class, from the greatest probability down, with the numbers of samples in and
// not in the class that have exactly that probability.
func thresholds(samples []scored, each func(in, out float64)) {
	slices.SortFunc(samples, func(a, b scored) int { return cmp.Compare(b.chance, a.chance) })
	for i := 0; i < len(samples); {
		at, in, out := samples[i].chance, 0.0, 0.0
		for ; i < len(samples) && samples[i].chance == at; i++ {
			if samples[i].isIn {
				in++
			} else {
				out++
			}
		}
		each(in, out)
	}
}

// ROCAUC returns the area under the receiver's operating curve of each class against the rest: the
// probability that a sample of the class gets a greater probability of it than one of another class, equal
// ones counting half. It is NaN for a class that has no sample, or all. Cost: C N log N.
func (p *Predictions) ROCAUC() []float64 {
	return p.ranked(func(samples []scored) float64 {
		area, in, out := 0.0, 0.0, 0.0
		thresholds(samples, func(i, o float64) {
			area += float64(o * (in + i/2))
			in, out = in+i, out+o
		})
		return area / (in * out)
	})
}

// AveragePrecision returns, of each class against the rest, the mean of the precision over the steps of the
// recall, from the greatest probability down, without interpolation:
//
//	sum over thresholds t of (recall[t] - recall[t-1]) precision[t]
//
// It is NaN for a class that has no sample. Cost: C N log N.
func (p *Predictions) AveragePrecision() []float64 {
	return p.ranked(func(samples []scored) float64 {
		sum, in, out := 0.0, 0.0, 0.0
		thresholds(samples, func(i, o float64) {
			in, out = in+i, out+o
			sum += i * in / (in + out)
		})
		return sum / in
	})
}

// ranked returns what figure says of each class.
func (p *Predictions) ranked(figure func([]scored) float64) []float64 {
	p.mustHaveLabels()
	n := p.Len()
	chances, row := make([]float64, n*p.NumOutputs), make([]float64, p.NumOutputs)
	for i := range n {
		p.Probabilities(row, i)
		for k, chance := range row {
			chances[k*n+i] = chance
		}
	}
	figures, samples := make([]float64, p.NumOutputs), make([]scored, n)
	for k := range figures {
		for i := range samples {
			samples[i] = scored{chances[k*n+i], int(p.Labels[i]) == k}
		}
		figures[k] = figure(samples)
	}
	return figures
}
