package compare_test

import (
	"testing"

	"lockstep/app/evidence/compare"
)

// A sentence writes a time with the digits of the table: 3.70, not 3.7.
func TestTimesHaveThreeDigits(t *testing.T) {
	for seconds, want := range map[float64]string{0.0037: "3.70", 0.01: "10.0", 0.187: "187", 1.016: "1016",
		0.0000123: "0.0123", 0: "0"} {
		if got := compare.Millis(seconds); got != want {
			t.Errorf("%v s are %s ms, want %s", seconds, got, want)
		}
	}
}
