package job

import (
	"strings"
	"testing"
)

func TestLossThatGrew(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	for name, test := range map[string]struct {
		summary Summary
		want    string
	}{
		"learned":           {Summary{Steps: 9, Classes: 10, Loss: Loss{2.3, 0.1}}, ""},
		"guesses":           {Summary{Steps: 9, Classes: 10, Loss: Loss{2.3, 4.6}}, ""},
		"grew":              {Summary{Steps: 9, Classes: 10, Loss: Loss{2.3, 4.7}}, "2.3 to 4.7, where"},
		"bad from the file": {Summary{Steps: 9, Classes: 10, Loss: Loss{9, 8}}, ""},
		"small last batch":  {Summary{Steps: 9, Classes: 2, Loss: Loss{0.7, 3}, TestLoss: number(0.4)}, ""},
		"learned by heart":  {Summary{Steps: 9, Classes: 10, Loss: Loss{2.3, 0}, TestLoss: number(5)}, ""},
		"grew on both": {Summary{Steps: 9, Classes: 2, Loss: Loss{0.7, 3}, TestLoss: number(227)},
			"(227 on the test samples), where guessing among 2 classes has 0.6931:"},
		"only evaluated": {Summary{Classes: 10, TestLoss: number(99)}, ""},
	} {
		got := test.summary.cautions()
		if len(got) > 1 || (len(got) == 1) != (test.want != "") ||
			!strings.Contains(strings.Join(got, ""), test.want) {
			t.Errorf("%s: cautions %q, want one with %q", name, got, test.want)
		}
	}
}
