package data

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/regular"
	"lockstep/internal/spelling"
)

// Note: weights of samples
//
// The loss of a step is sum(w*l) / sum(w) over the samples of the global batch. Every worker knows the labels
// and the order of all samples, so it divides the weights of its own by the mean weight of the global batch:
// then the mean of w*l, which every exchange computes, is that loss, with the same bits for any number of
// workers.

// weightFactor returns what the weights of a batch are multiplied with, so that their mean is 1; 1 if the set
// has no weights, or the batch only weights of 0.
func (s *Set) weightFactor(batch []int32) float64 {
	sum := 0.0
	if s.Weights != nil {
		for _, i := range batch {
			sum += float64(s.Weights[i])
		}
	}
	if sum == 0 {
		return 1
	}
	return float64(len(batch)) / sum
}

// weigh gives the shard the weights of its samples. The buffer has room for them.
func (sh *Shard) weigh(s *Set, indices []int32, factor float64) {
	sh.Weights = sh.weights[:0]
	if s.Weights == nil {
		return
	}
	for _, i := range indices {
		sh.Weights = append(sh.Weights, float32(float64(s.Weights[i])*factor))
	}
}

// weightsOf returns the weights of some samples; nil if the set has none.
func (s *Set) weightsOf(samples []int32) (weights []float32) {
	if s.Weights == nil {
		return nil
	}
	for _, i := range samples {
		weights = append(weights, s.Weights[i])
	}
	return weights
}

// WithClassWeights returns the set in which each sample counts as often as its class says, [classes], times
// its own weight if it has one. It shares the samples of s, which must have labels.
func (s *Set) WithClassWeights(of []float32) *Set {
	weighted := *s
	weighted.Weights = make([]float32, len(s.Labels))
	for i, label := range s.Labels {
		weighted.Weights[i] = of[label]
		if s.Weights != nil {
			weighted.Weights[i] *= s.Weights[i]
		}
	}
	return &weighted
}

// BalancedClassWeights returns weights with which all classes that have samples count alike: N/(K*n) for a
// class of n of N samples and K such classes, as scikit-learn's class_weight="balanced"; 0 for one without.
func (s *Set) BalancedClassWeights() []float32 {
	counts, classes := s.Counts(), 0
	for _, n := range counts {
		if n > 0 {
			classes++
		}
	}
	weights := make([]float32, len(counts))
	for c, n := range counts {
		if n > 0 {
			weights[c] = float32(float64(len(s.Labels)) / (float64(classes) * float64(n)))
		}
	}
	return weights
}

// Balanced makes all classes alike where the name of a file gives each a number.
const Balanced = "balanced"

// WeighClasses is WithClassWeights with the weights that from says, [Balanced] or a file, which it tells in a
// sentence. Errors: those of ReadClassWeights, and a *FormatError for samples without classes.
func (s *Set) WeighClasses(from string) (weighted *Set, said string, err error) {
	weights, said, err := s.byClass(from, s.BalancedClassWeights)
	if err != nil {
		return nil, "", err
	}
	return s.WithClassWeights(weights), "in the loss of training, samples count by their class: " + said, nil
}

// DrawClasses is WithClassShares likewise.
func (s *Set) DrawClasses(from string) (drawn *Set, said string, err error) {
	even := slices.Repeat([]float32{1}, len(s.Classes))
	shares, said, err := s.byClass(from, func() []float32 { return even })
	if err == nil {
		drawn, err = s.WithClassShares(shares)
	}
	return drawn, "in an epoch, classes are drawn in proportion: " + said, err
}

// byClass returns the number of each class that from says, and tells them.
func (s *Set) byClass(from string, balanced func() []float32) (numbers []float32, said string, err error) {
	switch {
	case !s.HasLabels():
		return nil, "", &FormatError{File: s.Name, Offset: -1, Reason: "the samples have no classes"}
	case from == Balanced:
		numbers = balanced()
	default:
		numbers, err = ReadClassWeights(from, s.Classes)
	}
	var each []string
	for i, x := range numbers {
		each = append(each, fmt.Sprintf("%.40s %.4g", s.Classes[i], x))
	}
	return numbers, spelling.Few(each), err
}

// ReadClassWeights reads the weight of each class from a CSV, TSV or JSONL file, in the forms that tables
// have: a class and its weight, a number of 0 or more, in each record; a first one without a number is a
// header. Every class must be there once, and no other, and one weight must be above 0. Errors: *ReadError,
// *FormatError.
func ReadClassWeights(path string, classes []string) ([]float32, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, &ReadError{File: path, Err: err}
	}
	defer file.Close()
	fault := func(line int, format string, args ...any) ([]float32, error) {
		return nil, &FormatError{File: path, Offset: -1, Line: line, Reason: fmt.Sprintf(format, args...)}
	}
	weights, at := make([]float32, len(classes)), make([]int, len(classes)) // lines from 1
	r := newRecordReader(file, path)
	r.isCSV = !r.isJSON && !strings.EqualFold(filepath.Ext(path), ".tsv")
	for isFirst := true; ; isFirst = false {
		fields, line, err := r.next()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if len(fields) != 2 {
			return fault(line, "%s, want a class and its weight", spelling.Count(len(fields), "field"))
		}
		class := slices.Index(classes, strings.TrimSpace(fields[0]))
		weight, err := strconv.ParseFloat(strings.TrimSpace(fields[1]), 32)
		switch {
		case isFirst && err != nil && class < 0:
			continue // a header
		case class < 0:
			return fault(line, "%.80q is none of the classes: %.400s", fields[0], strings.Join(classes, ", "))
		case at[class] > 0:
			return fault(line, "a second weight of %.80q, after that in line %d", fields[0], at[class])
		case err != nil || !(weight >= 0) || !isFinite(float32(weight)):
			return fault(line, "%.80q is no weight; want a number of 0 or more", fields[1])
		}
		weights[class], at[class] = float32(weight), line
	}
	if lacking := slices.Index(at, 0); lacking >= 0 {
		return nil, &FormatError{File: path, Offset: -1, Reason: fmt.Sprintf("class %.80q has no weight",
			classes[lacking]), Next: "add a line for it"}
	}
	if slices.Max(weights) == 0 {
		return fault(0, "all weights are 0")
	}
	return weights, nil
}
