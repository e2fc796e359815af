package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lockstep/app/record"
	"lockstep/internal/spelling"
)

// keptSteps adds up the lines that steps.jsonl has of a rank.
type keptSteps struct {
	seconds     []float64 // of each step
	samples     int64
	first, last float64 // losses
	phases      record.Phases
}

func (k *keptSteps) add(l record.Step) {
	if len(k.seconds) == 0 {
		k.first = float64(l.Loss)
	}
	k.last = float64(l.Loss)
	k.seconds = append(k.seconds, float64(l.Seconds))
	k.samples += int64(l.Samples)
	k.phases.Add(l.Phases)
}

// Contradictions says what a summary tells that no GPU can have done, where the steps of a run are not those
// of its summary, and which of the files has another hash than at the end of the run: somebody changed it.
func (t *Training) Contradictions() []string {
	if t.IsInterrupted {
		return nil
	}
	out := append(t.disagreements(), t.Contradicts(t.hash)...)
	if t.OtherSettings != "" {
		out = append(out, t.OtherSettings)
	}
	return out
}

// disagreements says what a summary tells that cannot be, by itself or by the steps. Of a run that was
// resumed, lost a worker or a file, or had asynchronous workers, the files tell of other steps, and nothing
// is said of those.
func (t *Training) disagreements() (out []string) {
	isWhole := t.tellsAllSteps()
	gpus := t.watchedGPUs(isWhole)
	text := cmp.Or(hasGPUs(t.Workers, &t.Outcome, gpus), watchesRanks(&t.Outcome, gpus))
	if text != "" {
		out = append(out, "By summary.json, "+text)
	}
	if !isWhole || len(t.steps) == 0 {
		return out
	}
	if len(t.Ranks) != t.Workers {
		out = append(out, fmt.Sprintf("By summary.json, there were %d workers and %d ranks.", t.Workers,
			len(t.Ranks)))
	}
	one, all := t.steps[0].samples, int64(0)
	for i, k := range t.steps {
		all += k.samples
		if i >= len(t.Ranks) {
			out = append(out, fmt.Sprintf("steps.jsonl has steps of rank %d, summary.json tells of %d "+
				"ranks.", i, len(t.Ranks)))
			break
		}
		if text := k.differs(&t.Ranks[i]); text != "" {
			out = append(out, fmt.Sprintf("Rank %d: %s.", i, text))
		}
	}
	if t.Samples != 0 && t.Samples != one && t.Samples != all { // workers on their own tell their own
		out = append(out, fmt.Sprintf("The steps of steps.jsonl trained on %d samples, summary.json tells "+
			"of %d.", one, t.Samples))
	}
	return out
}

// tellsAllSteps reports whether steps.jsonl should have the steps of which the summary tells, and no others.
func (t *Training) tellsAllSteps() bool {
	isLost := slices.ContainsFunc(t.Lost, func(l record.Lost) bool { return l.File == "steps.jsonl" })
	return t.unread == 0 && !isLost && len(t.LostWorkers)+len(t.Restarts) == 0 && t.Resumed == nil &&
		t.Async == nil
}

// Compared says what Contradictions compares with the summary of the run.
func (t *Training) Compared() string {
	n := 0
	for _, k := range t.steps {
		n += len(k.seconds)
	}
	switch {
	case t.IsInterrupted:
		return "not compared, as it has no summary"
	case !t.tellsAllSteps():
		return "hashes compared, its steps not, as it was resumed, lost workers or lines, or had " +
			"asynchronous workers"
	case n == 0 && t.Steps > 0:
		return "the seal compared, its steps not, as steps.jsonl is not there or is empty"
	case n == 0:
		return "hashes compared, as it has no steps"
	}
	return fmt.Sprintf("%s of %s compared with its summary", spelling.Count(n, "step"),
		spelling.Count(len(t.steps), "rank"))
}

// watchedGPUs returns what is told of the ranks' GPUs, with their steps if the files have all of them.
func (t *Training) watchedGPUs(isWhole bool) []watchedGPU {
	all := make([]watchedGPU, len(t.Ranks))
	for i, r := range t.Ranks {
		all[i] = watchedGPU{rank: r.Rank, gpu: r.GPU}
		if isWhole && i < len(t.steps) {
			all[i].seconds = t.steps[i].seconds
		}
		if isWhole && i < len(t.Watched) {
			all[i].bytes = slices.DeleteFunc(slices.Clone(t.Watched[i].GPU), math.IsNaN)
		}
	}
	return all
}

// differs says what a summary tells otherwise of the steps of a rank. Zero is what it does not tell.
func (k *keptSteps) differs(r *record.RankStat) string {
	n := len(k.seconds)
	if n != r.Steps {
		return fmt.Sprintf("steps.jsonl has %d steps, summary.json tells of %d", n, r.Steps)
	}
	if n == 0 {
		return ""
	}
	rest := k.seconds[min(1, n-1):] // the median leaves out the first step
	for _, c := range []struct {
		what       string
		kept, told float64
		isAtMost   bool
	}{
		{"median step of %.6g ms", 1e3 * Median(slices.Clone(rest)), r.StepMS.Median, false},
		{"first step of %.6g ms", 1e3 * k.seconds[0], r.FirstStepMS, false},
		{"steps of %.6g s together", sumOf(k.seconds), r.Seconds, true},
		{"first loss of %.6g", k.first, r.Loss.First, false},
		{"last loss of %.6g", k.last, r.Loss.Last, false},
		{"forward passes of %.6g s", k.phases.Forward, r.Phases.Forward, false},
		{"backward passes of %.6g s", k.phases.Backward, r.Phases.Backward, false},
		{"updates of %.6g s", k.phases.Optimizer, r.Phases.Optimizer, true}, // the last may follow the steps
		{"waiting for data of %.6g s", k.phases.Data, r.Phases.Data, false},
	} {
		isSame := math.Abs(c.kept-c.told) <= 1e-6+1e-6*math.Abs(c.told) || c.isAtMost && c.kept < c.told
		if isTold := c.told != 0; isTold && !isSame {
			return fmt.Sprintf("steps.jsonl has "+c.what+", summary.json %.6g", c.kept, c.told)
		}
	}
	return ""
}
