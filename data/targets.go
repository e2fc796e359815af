package data

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"lockstep/data/table"
)

// Note: numbers to predict
//
// With Options.Regression the label of a sample is a number, or in an array several, not a class. A network
// learns (number - mean) / deviation, of the training samples, so that learning rates which suit classes suit
// prices too; Values keeps both, for the weights. Samples held out are a tenth of all.

// note adds to s what a record of the file at path says beside its sample: its class or its number, and its
// weight.
func (t *textReader) note(s *Set, r record, path string, line int) error {
	refuse := func(next, format string, args ...any) error {
		return &FormatError{File: path, Offset: -1, Line: line, Next: next,
			Reason: fmt.Sprintf(format, args...)}
	}
	if t.weightColumn != "" {
		w, err := strconv.ParseFloat(strings.TrimSpace(r.weight), 32)
		if err != nil || !(w >= 0) || !isFinite(float32(w)) {
			return refuse("", "%.80q is no weight; want a number of 0 or more", r.weight)
		}
		s.Weights = append(s.Weights, float32(w))
	}
	if t.options.Regression {
		x, err := strconv.ParseFloat(r.label, 32)
		if err != nil || !isFinite(float32(x)) {
			return refuse("leave the row out, or --task classification if labels are classes",
				"label %.80q, want a finite number", r.label)
		}
		s.Targets = append(s.Targets, float32(x))
		return nil
	}
	class, err := t.class(r.label, path, line)
	s.Labels = append(s.Labels, int32(class))
	return err
}

// numTargets returns how many numbers a column of labels has for each sample: 0 if it has classes.
func (o Options) numTargets() int {
	if o.Regression {
		return 1
	}
	return 0
}

// strata returns by what samples are held out in equal parts: their classes or, of samples without, one for
// all.
func (s *Set) strata() []int32 {
	if len(s.Labels) > 0 {
		return s.Labels
	}
	return make([]int32, s.Len())
}

// standardise sets the Values of all parts, by the training samples, if they have targets; name(k) is that of
// target k. Sums are taken in the order of samples. A target that is the same in all of them has deviation 1.
func (s *Sets) standardise(name func(k int) string) {
	k, n := s.Train.NumTargets, s.Train.Len()
	if k == 0 {
		return
	}
	values := make([]table.Value, k)
	for j := range values {
		mean, squares := 0.0, 0.0
		for i := range n {
			mean += float64(s.Train.Targets[i*k+j])
		}
		mean /= float64(n)
		for i := range n {
			d := float64(s.Train.Targets[i*k+j]) - mean
			squares += float64(d * d)
		}
		values[j] = table.Value{Name: name(j), Mean: float32(mean),
			Std: float32(math.Sqrt(squares / float64(n)))}
		if !(values[j].Std > 0) {
			values[j].Std = 1
		}
	}
	for _, part := range s.All() {
		part.Values = values
	}
}

// Predicts says what a network that learns the targets of the set predicts: its Values, or targets as they
// are; nil if it has classes, or more targets than a file of weights describes.
func (s *Set) Predicts() []table.Value {
	if s.Values == nil && !s.HasLabels() && s.NumTargets <= table.MaxValues {
		return slices.Repeat([]table.Value{{Std: 1}}, s.NumTargets)
	}
	return s.Values
}

// Numbers writes the numbers that a network's outputs mean in their place, [N, NumTargets], if the set has
// Values.
func (s *Set) Numbers(outputs []float32) { table.Replace(outputs, s.Values) }

// predicted says what is predicted; "" of samples with classes alone.
func (s *Set) predicted() string {
	var each []string
	for k, v := range s.Values {
		name := plainName(v.Name)
		if v.Name == "" {
			name = fmt.Sprintf("value %d", k+1)
		}
		each = append(each, fmt.Sprintf("%s (mean %.4g, deviation %.4g)", name, v.Mean, v.Std))
	}
	if each == nil {
		return ""
	}
	const most = 8
	if more := len(each) - most; more > 0 {
		each = append(each[:most], fmt.Sprintf("%d more", more))
	}
	return "predicts " + strings.Join(each, ", ") + ": "
}
