package job

import (
	"strings"
	"testing"

	"lockstep/app/record"
)

func TestCautionsOfLosses(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	for name, test := range map[string]struct {
		steps, classes int
		loss           record.Loss
		test           *float64
		want           string
	}{
		"learned": {9, 10, record.Loss{First: 2.3, Last: 0.1}, nil, ""},
		"guesses": {9, 10, record.Loss{First: 2.3, Last: 2.31}, nil,
			"2.31, is no better than guessing among 10 classes (2.303)"},
		"guesses on both":   {9, 10, record.Loss{First: 2.3, Last: 2.31}, number(2.3), "guessing"},
		"one bad batch":     {9, 10, record.Loss{First: 2.3, Last: 2.31}, number(1.5), ""},
		"almost grew":       {9, 10, record.Loss{First: 2.3, Last: 4.6}, nil, "guessing"},
		"grew":              {9, 10, record.Loss{First: 2.3, Last: 4.7}, nil, "2.3 to 4.7, where"},
		"bad from the file": {9, 10, record.Loss{First: 9, Last: 8}, nil, "guessing"},
		"small last batch":  {9, 2, record.Loss{First: 0.7, Last: 3}, number(0.4), ""},
		"learned by heart":  {9, 10, record.Loss{First: 2.3, Last: 0}, number(5), ""},
		"grew on both": {9, 2, record.Loss{First: 0.7, Last: 3}, number(227),
			"(227 on the test samples), where guessing among 2 classes has 0.6931:"},
		"only evaluated": {0, 10, record.Loss{}, number(99), ""},
	} {
		s := record.Summary{Classes: test.classes, Loss: test.loss, TestLoss: test.test}
		s.Steps = test.steps
		got := cautions(&s)
		if len(got) > 1 || (len(got) == 1) != (test.want != "") ||
			!strings.Contains(strings.Join(got, ""), test.want) {
			t.Errorf("%s: cautions %q, want one with %q", name, got, test.want)
		}
	}
}
