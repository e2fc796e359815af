package job

import (
	"fmt"
	"math"

	"lockstep/app/record"
)

// growth is how many times the loss of guessing a loss must be to say that it grew instead of falling. A
// model that learned by heart may be confident and wrong on test samples, and a last batch of few samples
// may have any loss, but not both at once.
const growth = 2

// cautions says what a reader must know before believing the summary.
func cautions(s *record.Summary) []string {
	var all []string
	if text := grown(s); text != "" {
		all = append(all, text)
	}
	return all
}

// grown says that the loss grew: in the last step and on the test samples, it is above the first step's and
// more than growth times ln(classes), the loss of a model that gives every class the same probability. The
// run ends with status 0 all the same: its numbers are finite, and who asked for them may want them. Only
// a number that is not finite ends a run as diverged.
func grown(s *record.Summary) string {
	guessing := math.Log(float64(s.Classes))
	limit := math.Max(s.Loss.First, growth*guessing)
	switch {
	case s.Steps == 0 || s.Classes < 2:
		return ""
	case s.Loss.Last <= limit, s.TestLoss != nil && *s.TestLoss <= limit:
		return ""
	}
	test := ""
	if s.TestLoss != nil {
		test = fmt.Sprintf(" (%.4g on the test samples)", *s.TestLoss)
	}
	return fmt.Sprintf("the loss grew from %.4g to %.4g%s, where guessing among %d classes has %.4g: the "+
		"run has not learned; a lower learning rate or a longer warm-up may help",
		s.Loss.First, s.Loss.Last, test, s.Classes, guessing)
}
