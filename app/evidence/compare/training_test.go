package compare_test

import (
	"strings"
	"testing"

	"lockstep/app/evidence/compare"
)

// A summary with text behind its end is not read: nobody says which of the two is meant.
func TestSummaryIsOneValue(t *testing.T) {
	const summary = `{"workers": 2, "steps": 3}`
	if _, err := compare.ReadTraining(strings.NewReader(summary+"\n"), strings.NewReader("")); err != nil {
		t.Error(err)
	}
	for _, more := range []string{summary, "]", "x"} {
		_, err := compare.ReadTraining(strings.NewReader(summary+more), strings.NewReader(""))
		if err == nil || !strings.Contains(err.Error(), "after top-level value") {
			t.Errorf("with %q behind its end: error %v", more, err)
		}
	}
}
