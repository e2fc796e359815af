package record_test

import (
	"encoding/json"
	"math"
	"testing"

	"lockstep/app/record"
)

// Lists of numbers are read as the decoder reads them, and null as what was not measured.
func TestNumbersAreRead(t *testing.T) {
	for text, want := range map[string][]float64{
		"[]": {}, "[ ]": {}, "null": {}, "[1]": {1}, "[ 1 ,\n -2.5e-3, 0 ]": {1, -2.5e-3, 0},
		"[null, 3]": {math.NaN(), 3}, "[0.1,1e300]": {0.1, 1e300},
	} {
		var got record.Numbers
		if err := json.Unmarshal([]byte(text), &got); err != nil || len(got) != len(want) || got == nil {
			t.Errorf("%s: %v, %v", text, got, err)
			continue
		}
		for i, v := range want {
			if got[i] != v && !(math.IsNaN(got[i]) && math.IsNaN(v)) {
				t.Errorf("%s: %v, want %v", text, got, want)
			}
		}
	}
	for _, text := range []string{`["1"]`, `[true]`, `[[1]]`, `[{}]`, `[1,"2"]`, `[1e999]`, `{"a":1}`, `3`,
		`"[]"`, `[inf]`, `[0x1]`, `[1_0]`, `[1,]`, `[NaN]`} {
		var got record.Numbers
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %v", text, got)
		}
	}
}
