package launcher

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
			"2.31, is not clearly below 2.303, that of guessing each of 10 classes"},
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

// A run whose test accuracy chance does not explain has learned, whatever its loss.
func TestAccuracyAboveChanceIsNoGuessing(t *testing.T) {
	for accuracy, isCautioned := range map[float64]bool{0.10: true, 0.12: true, 0.121: false, 0.192: false} {
		loss := 2.29
		s := record.Summary{Classes: 10, Loss: record.Loss{First: 2.3, Last: loss}, TestLoss: &loss}
		s.Steps, s.TestAccuracy, s.TestSamples = 9, &accuracy, 2000 // 3 standard errors are 0.0201
		if got := cautions(&s); (len(got) == 1) != isCautioned {
			t.Errorf("%v: %q, cautioned: %v", accuracy, got, isCautioned)
		}
	}
}

// On 80, 15 and 5 samples a model that always answers the first class has 80 % and the loss of their shares.
func TestTheMostFrequentClassIsNoLearning(t *testing.T) {
	guess := record.GuessOf([]int{80, 15, 5})
	for _, c := range []struct {
		accuracy, loss float64
		want           string
	}{
		{0.81, 0.62, "loss, 0.62, is not clearly below 0.6129, that of guessing each of 3 classes by its"},
		{0.8, 0.62, "an accuracy of 80.00 % is no better than answering the most frequent class " +
			"throughout, which is right for 80.00 % of the 100 samples"},
		{0.95, 0.62, ""}, {0.81, 0.3, ""},
	} {
		s := record.Summary{Classes: 3, Loss: record.Loss{First: 1.1, Last: c.loss}, TestLoss: &c.loss}
		s.Steps, s.TestAccuracy, s.TestSamples, s.Guess = 9, &c.accuracy, 100, guess
		got := strings.Join(cautions(&s), "; ")
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}
