package record

import (
	"encoding/json"
	"math"
	"strconv"
)

// Number is a float64 whose NaN and infinities are null in JSON: a value that was not measured.
type Number float64

// MarshalJSON writes the shortest decimal that reads back equal, or null.
func (n Number) MarshalJSON() ([]byte, error) { return appendNumber(nil, float64(n)), nil }

// UnmarshalJSON reads a number; null becomes NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// Numbers is a list of float64 in which NaN and infinities are null in JSON.
type Numbers []float64

// MarshalJSON writes every value as [Number] does.
func (n Numbers) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 12*len(n)+2), '[')
	for i, v := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, v)
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads a list in which null stands for NaN.
func (n *Numbers) UnmarshalJSON(b []byte) error {
	var list []*float64
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*n = make(Numbers, len(list))
	for i, v := range list {
		(*n)[i] = math.NaN()
		if v != nil {
			(*n)[i] = *v
		}
	}
	return nil
}

func appendNumber(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}
