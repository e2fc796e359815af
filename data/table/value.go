package table

import (
	"fmt"
	"math"
)

// Value is a number that a network predicts: its output y means y*Std + Mean.
type Value struct {
	Name string `json:"name,omitempty"`
	// Mean and Std are those of the training samples, so that outputs are of the order of 1 whatever the
	// number's unit is; 0 and 1 if an output is the number itself.
	Mean float32 `json:"mean"`
	Std  float32 `json:"std"`
}

// Standard returns what the output for a number should be: (x - Mean) / Std.
func (v Value) Standard(x float32) float32 { return (x - v.Mean) / v.Std }

// Of returns the number that an output means: y*Std + Mean, each operation in float32.
func (v Value) Of(y float32) float32 { return float32(y*v.Std) + v.Mean }

// Replace writes the numbers that outputs mean in their place, [N, len(values)]; without values they stay.
func Replace(outputs []float32, values []Value) {
	for i := 0; len(values) > 0 && i < len(outputs); i++ {
		outputs[i] = values[i%len(values)].Of(outputs[i])
	}
}

// MaxValues bounds the values that a file of weights describes.
const MaxValues = 1 << 15

// CheckValues returns what is wrong with values that a file of weights has; a *HeaderError.
func CheckValues(values []Value) error {
	if n := len(values); n > MaxValues {
		return &HeaderError{fmt.Sprintf("%d values, want at most %d", n, MaxValues)}
	}
	for i, v := range values {
		isFinite := math.Abs(float64(v.Mean)) <= math.MaxFloat32 && v.Std <= math.MaxFloat32
		if !isFinite || !(v.Std > 0) {
			return &HeaderError{fmt.Sprintf("value %d: mean %v, deviation %v", i+1, v.Mean, v.Std)}
		}
	}
	return nil
}
