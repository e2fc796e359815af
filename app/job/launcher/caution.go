package launcher

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/cluster"
	"lockstep/internal/spelling"
)

// cautions returns warnings about how to read the summary.
func cautions(s *record.Summary) []string {
	var all []string
	if s.Encryption == string(cluster.EncryptNone) {
		all = append(all, "links between hosts were not encrypted (--insecure): whoever could read them "+
			"could rebuild training data from gradients")
	}
	if s.Steps > 0 && s.Loss.First == 0 {
		all = append(all, "the loss was 0 before the first update: there is nothing to learn, so the "+
			"accuracy tells nothing")
	}
	if text := grown(s); text != "" {
		all = append(all, text)
	} else if text := s.Unbeaten(); text != "" {
		all = append(all, text)
	} else if isGuessing(s) {
		all = append(all, fmt.Sprintf("the last loss, %.4g, is not clearly below %.4g, that of guessing "+
			"each of %d classes by its share of the samples: the run has not learned yet, so its accuracy "+
			"tells nothing", s.Loss.Last, s.Guess.Or(s.Classes).Loss, s.Classes))
	}
	return all
}

// warming warns that the run of c ended within its warm-up; "" if it did not.
func warming(c setting.Config, s *record.Summary) string {
	const rounding = 1e-9 // of steps to epochs
	if s.Steps == 0 || s.Epochs*(1+rounding) >= c.Schedule.Warmup {
		return ""
	}
	return fmt.Sprintf("the run ended after %.3g epochs, within its warm-up of %g: the learning rate never "+
		"reached its full value", s.Epochs, c.Schedule.Warmup)
}

// gpuLoads returns the number of workers on each GPU that computed, in increasing order. A GPU is known by
// its place on the bus, since workers that see one each all call it number 0. Hosts of a lab are one machine.
func gpuLoads(ranks []record.RankStat, isLab bool) []int {
	type place struct{ host, at string }
	workers := map[place]int{}
	for _, r := range ranks {
		if r.GPU == nil {
			continue
		}
		at := place{r.Host, cmp.Or(r.GPU.Bus, strconv.Itoa(r.GPU.Number))}
		if isLab {
			at.host = ""
		}
		workers[at]++
	}
	return slices.Sorted(maps.Values(workers))
}

// addGPUs adds to the summary how many workers shared a GPU, and cautions about GPUs that are shared or
// unlike.
func addGPUs(s *record.Summary, isLab bool) {
	loads := gpuLoads(s.Ranks, isLab)
	if len(loads) == 0 {
		return
	}
	s.GPUWorkers, s.GPUs = loads[len(loads)-1], len(loads)
	if s.GPUWorkers > 1 {
		s.Cautions = append(s.Cautions, fmt.Sprintf("up to %d workers shared a GPU (%s): their times show "+
			"contention, not scaling", s.GPUWorkers, s.GPU))
	}
	if text := unlikeGPUs(s.Ranks); text != "" {
		s.Cautions = append(s.Cautions, text)
	}
}

// unlikeGPUs warns of workers on GPUs that may round differently.
func unlikeGPUs(ranks []record.RankStat) string {
	var kinds []string
	for _, r := range ranks {
		if r.GPU != nil && !slices.Contains(kinds, r.GPU.Kind()) {
			kinds = append(kinds, r.GPU.Kind())
		}
	}
	if len(kinds) < 2 {
		return ""
	}
	return fmt.Sprintf("the workers computed on %s: these may round differently, so the same run on one "+
		"kind of GPU may not be bit-equal", strings.Join(kinds, " and on "))
}

// isGuessing reports whether the loss of the last step and that on the test samples, if there is one, are
// those of guessing, and the accuracy is no evidence to the contrary: a loss falls late where it is high for
// the samples that are still wrong.
func isGuessing(s *record.Summary) bool {
	guess := s.Guess.Or(s.Classes)
	isBeaten := s.TestAccuracy != nil && guess.IsBeaten(*s.TestAccuracy, s.TestSamples)
	return s.Steps > 0 && guess.IsNear(s.Loss.Last) && !isBeaten &&
		(s.TestLoss == nil || guess.IsNear(*s.TestLoss))
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
		test = fmt.Sprintf(" (%.4g on the %s samples)", *s.TestLoss, record.FinalPart(s.Evaluations))
	}
	return fmt.Sprintf("the loss grew from %.4g to %.4g%s, where guessing among %d classes has %.4g: the "+
		"run has diverged; a lower learning rate or a longer warm-up may help",
		s.Loss.First, s.Loss.Last, test, s.Classes, math.Log(float64(s.Classes)))
}

// slowed says which workers are imitations of slower ones; "" if none is.
func slowed(l setting.SlowWorkers) string {
	if len(l) == 0 {
		return ""
	}
	return fmt.Sprintf("--slow-worker %s: workers are slowed by a duty cycle of computing and sleeping; "+
		"times are those of an imitation of unequal machines", l)
}

// restarted says what restarts have cost; "" without any.
func restarted(all []record.Restart) string {
	if len(all) == 0 {
		return ""
	}
	redone, seconds, isKnown := 0, 0.0, true
	for _, r := range all {
		redone += r.Redone
		seconds += r.Seconds
		isKnown = isKnown && r.Seconds != 0
	}
	text := fmt.Sprintf("%s after a loss (at last: %s): %s done again", spelling.Count(len(all), "restart"),
		all[len(all)-1].Cause, spelling.Count(redone, "step"))
	if isKnown {
		text += fmt.Sprintf(", %.1f s lost", seconds)
	}
	return text
}
