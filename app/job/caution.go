package job

import (
	"fmt"
	"math"

	"lockstep/app/record"
	"lockstep/cluster"
)

// cautions returns warnings about how to read the summary.
func cautions(s *record.Summary) []string {
	var all []string
	if s.Encryption == string(cluster.EncryptNone) {
		all = append(all, "links between hosts were not encrypted (--insecure): whoever could read them "+
			"could rebuild training data from gradients")
	}
	if n := crowdOfGPU(s); n > 1 {
		all = append(all, fmt.Sprintf("%d workers shared one GPU (%s): their times show contention, not "+
			"scaling", n, s.GPU))
	}
	if text := grown(s); text != "" {
		all = append(all, text)
	} else if isGuessing(s) {
		all = append(all, fmt.Sprintf("the last loss, %.4g, is no better than guessing among %d classes "+
			"(%.4g): the run has not learned yet, so its accuracy tells nothing", s.Loss.Last, s.Classes,
			math.Log(float64(s.Classes))))
	}
	return all
}

// crowdOfGPU returns the greatest number of workers of a host that computed on its GPU; 0: none did.
func crowdOfGPU(s *record.Summary) int {
	if s.GPU == "" {
		return 0
	}
	most, of := 0, map[string]int{}
	for _, r := range s.Ranks {
		of[r.Host]++
		most = max(most, of[r.Host])
	}
	return most
}

// isGuessing reports whether the loss of the last step and that on the test samples, if there is one, are
// those of guessing.
func isGuessing(s *record.Summary) bool {
	return s.Steps > 0 && s.Loss.IsGuessing(s.Classes) &&
		(s.TestLoss == nil || record.Loss{Last: *s.TestLoss}.IsGuessing(s.Classes))
}

// grown warns that the loss of the last step and that on the test samples have grown, as
// [record.Loss.HasGrown] says. The run still ends with status 0, because its numbers are finite and may be
// wanted. Only a loss that is not finite ends a run.
func grown(s *record.Summary) string {
	if s.Steps == 0 || !s.Loss.HasGrown(s.Classes) {
		return ""
	}
	test := ""
	if s.TestLoss != nil {
		if !(record.Loss{First: s.Loss.First, Last: *s.TestLoss}).HasGrown(s.Classes) {
			return ""
		}
		test = fmt.Sprintf(" (%.4g on the test samples)", *s.TestLoss)
	}
	return fmt.Sprintf("the loss grew from %.4g to %.4g%s, where guessing among %d classes has %.4g: the "+
		"run has diverged; a lower learning rate or a longer warm-up may help",
		s.Loss.First, s.Loss.Last, test, s.Classes, math.Log(float64(s.Classes)))
}
