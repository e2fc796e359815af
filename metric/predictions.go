package metric

import (
	"fmt"
	"math"
	"slices"

	"lockstep/internal/elementary"
)

// Predictions are what a network said of N samples, and what is true of them.
type Predictions struct {
	// Outputs are the network's, [N, NumOutputs]: logits of classes, or values.
	Outputs    []float32
	NumOutputs int
	// Labels are the classes of the samples, [N]; nil if there are none.
	Labels []int32
	// Targets are the values that the outputs should have, [N, NumOutputs]; nil if there are none.
	Targets []float32
}

// Len returns the number of samples, N.
func (p *Predictions) Len() int {
	if p.NumOutputs == 0 {
		return 0
	}
	return len(p.Outputs) / p.NumOutputs
}

// row returns the outputs of a sample.
func (p *Predictions) row(sample int) []float32 {
	return p.Outputs[sample*p.NumOutputs:][:p.NumOutputs]
}

// mustHaveLabels panics unless each sample has a class among the outputs.
func (p *Predictions) mustHaveLabels() {
	if len(p.Labels) != p.Len() {
		panic(fmt.Sprintf("metric: %d labels of %d samples", len(p.Labels), p.Len()))
	}
	for i, label := range p.Labels {
		if label < 0 || int(label) >= p.NumOutputs {
			panic(fmt.Sprintf("metric: label %d of sample %d, want one of %d classes", label, i,
				p.NumOutputs))
		}
	}
}

// Largest returns the class that a sample is predicted to be of: that with the greatest output, the first of
// equal ones.
func (p *Predictions) Largest(sample int) int {
	row, best := p.row(sample), 0
	for k, x := range row {
		if x > row[best] {
			best = k
		}
	}
	return best
}

// Probabilities writes to [NumOutputs] the softmax of a sample's outputs x:
//
//	to[k] = exp(x[k] - max) / sum over j of exp(x[j] - max)
func (p *Predictions) Probabilities(to []float64, sample int) {
	row := p.row(sample)
	most := float64(slices.Max(row))
	sum := 0.0
	for k, x := range row {
		to[k] = elementary.Exp(float64(x) - most)
		sum += to[k]
	}
	for k := range to {
		to[k] /= sum
	}
}

// TopK returns the part of the samples whose class is among the k with the greatest outputs; of classes with
// equal outputs the first count as greater. Cost: N C.
func (p *Predictions) TopK(k int) float64 {
	p.mustHaveLabels()
	right := 0
	for i, label := range p.Labels {
		row, above := p.row(i), 0
		for c, x := range row {
			if x > row[label] || x == row[label] && c < int(label) {
				above++
			}
		}
		if above < k {
			right++
		}
	}
	return float64(right) / float64(max(1, p.Len()))
}

// CrossEntropy returns the mean of -log(probability of the sample's class): scikit-learn's log_loss, without
// its bound on the probabilities. Cost: N C.
func (p *Predictions) CrossEntropy() float64 {
	p.mustHaveLabels()
	sum := 0.0
	for i, label := range p.Labels {
		row := p.row(i)
		most, all := float64(slices.Max(row)), 0.0
		for _, x := range row {
			all += elementary.Exp(float64(x) - most)
		}
		sum += elementary.Log(all) + most - float64(row[label])
	}
	return sum / float64(max(1, p.Len()))
}

// CalibrationError returns the expected calibration error: samples are put into bins of equal width by the
// probability of the class that was predicted, (b/bins, (b+1)/bins], and the error is the mean of
//
//	|part of the bin's samples that are right - mean probability in the bin|
//
// After Guo and others 2017, section 2, with their 15 bins as the usual number. Cost: N C.
func (p *Predictions) CalibrationError(bins int) float64 {
	p.mustHaveLabels()
	right, sure := make([]float64, bins), make([]float64, bins)
	chance := make([]float64, p.NumOutputs)
	for i, label := range p.Labels {
		said := p.Largest(i)
		p.Probabilities(chance, i)
		b := min(bins-1, max(0, int(math.Ceil(chance[said]*float64(bins)))-1))
		sure[b] += chance[said]
		if said == int(label) {
			right[b]++
		}
	}
	sum := 0.0
	for b := range right {
		sum += math.Abs(right[b] - sure[b])
	}
	return sum / float64(max(1, p.Len()))
}
