package launcher

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

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
	if text := grown(s); text != "" {
		all = append(all, text)
	} else if text := s.Unbeaten(); text != "" {
		all = append(all, text)
	} else if text := meaningless(s); text != "" {
		all = append(all, text)
	} else if isGuessing(s) {
		all = append(all, fmt.Sprintf("the last loss, %.4g, is not clearly below %.4g, that of guessing "+
			"each of %d classes by its share of the samples: the run has not learned yet, so its accuracy "+
			"tells nothing", s.Loss.Last, s.Guess.Or(s.Classes).Loss, s.Classes))
	}
	return all
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

// addGPUs adds to the summary how many workers shared a GPU, and a caution if several did.
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

// meaningless warns of numbers that are predicted no better than by their mean; "" if there are none.
func meaningless(s *record.Summary) string {
	e := record.Final(s.Evaluations)
	for _, m := range e.Metrics {
		if m.Name == "R2" && m.Value <= 0 {
			return fmt.Sprintf("R2 is %.3g: always saying the mean of the %s samples is no worse", m.Value,
				e.Of())
		}
	}
	return ""
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
		test = fmt.Sprintf(" (%.4g on the %s samples)", *s.TestLoss, record.Final(s.Evaluations).Of())
	}
	return fmt.Sprintf("the loss grew from %.4g to %.4g%s, where guessing among %d classes has %.4g: the "+
		"run has diverged; a lower learning rate or a longer warm-up may help",
		s.Loss.First, s.Loss.Last, test, s.Classes, math.Log(float64(s.Classes)))
}

// slowed says what a run of c imitates: slower workers, data that comes later.
func slowed(c setting.Config) (texts []string) {
	if len(c.SlowWorkers) > 0 {
		texts = append(texts, fmt.Sprintf("--slow-worker %s: workers are slowed by sleeping; times are "+
			"those of an imitation of unequal machines", c.SlowWorkers))
	}
	if text := c.SlowLoader.String(); text != "" {
		texts = append(texts, fmt.Sprintf("--slow-loader %s: the preparation of batches is slowed by "+
			"sleeping; times are those of an imitation of slower data", text))
	}
	return texts
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
