package infer

import (
	"fmt"
	"slices"
	"strconv"
)

// Answer is what a network says of one input, in JSON: a class, one number, or several.
type Answer struct {
	*Class           // the most probable
	Value  *float32  `json:"value,omitempty"`
	Values []float32 `json:"values,omitempty"`
	Top    []Class   `json:"top,omitempty"` // the most probable classes
}

// Answer returns what the outputs of one input say, as Predict has them, with so many classes.
func (p *Predictor) Answer(outputs []float32, top int) (a Answer) {
	switch {
	case p.config.Values == nil:
		a.Top = p.Rank(outputs, top, nil)
		a.Class = &a.Top[0]
	case len(outputs) == 1:
		a.Value = new(outputs[0])
	default:
		a.Values = slices.Clone(outputs)
	}
	return a
}

// Columns returns the names of what Fields returns: label and probability, value, or value1, value2, ...
func (p *Predictor) Columns() (names []string) {
	switch n := len(p.config.Values); n {
	case 0:
		return []string{"label", "probability"}
	case 1:
		return []string{"value"}
	default:
		for k := range n {
			names = append(names, fmt.Sprint("value", k+1))
		}
		return names
	}
}

// Fields returns the answer as fields of a CSV.
func (a Answer) Fields() (fields []string) {
	if a.Class != nil {
		return []string{a.Label, strconv.FormatFloat(a.Probability, 'f', 6, 64)}
	}
	numbers := a.Values
	if a.Value != nil {
		numbers = []float32{*a.Value}
	}
	for _, x := range numbers {
		fields = append(fields, strconv.FormatFloat(float64(x), 'g', -1, 32))
	}
	return fields
}
