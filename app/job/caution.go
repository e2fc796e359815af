package job

import (
	"fmt"
	"math"

	"lockstep/app/record"
	"lockstep/cluster"
)

// growth is the multiple of the loss of guessing above which a loss counts as grown. An overfitted model may
// have a high loss on test samples, and a small last batch may have any loss, but rarely both.
const growth = 2

// cautions returns warnings about how to read the summary.
func cautions(s *record.Summary) []string {
	var all []string
	if s.Encryption == string(cluster.EncryptNone) {
		all = append(all, "links between hosts were not encrypted (--insecure): whoever could read them "+
			"could rebuild training data from gradients")
	}
	if text := grown(s); text != "" {
		all = append(all, text)
	}
	return all
}

// grown warns that the loss grew: in the last step and on the test samples, it is above the first step's and
// above growth times ln(classes), the loss of a model that gives every class the same probability. The run
// still ends with status 0, because its numbers are finite and may be wanted. Only a loss that is not finite
// ends a run as diverged.
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
