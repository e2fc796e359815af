package worker

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/shard"
	"lockstep/train"
)

// wellBalanced is the part of the ideal that shards should be fine enough for.
const wellBalanced = 0.95

// noteMove notes how shards move between workers, and why.
func (w *Worker) noteMove(m *train.Move) {
	w.Announce(moveText(m, w.Config.StepBatch()))
	if w.Rank > 0 {
		return
	}
	found := record.Move{Step: m.Step, From: m.From, To: m.To, Before: m.Before, After: m.After,
		Best: m.Best, Noise: m.Noise, Ideal: m.Ideal}
	for _, s := range m.Speeds {
		found.ShardSeconds = append(found.ShardSeconds, s.Each)
		found.FixedSeconds = append(found.FixedSeconds, s.Fixed)
	}
	w.moves = append(w.moves, found)
	w.Tell(job.Notice{Move: &found})
}

// moveText says what moved, when and why, and what would balance better.
func moveText(m *train.Move, batch int) string {
	var b strings.Builder
	isKept := slices.Equal(m.From, m.To)
	if isKept {
		fmt.Fprintf(&b, "step %d: shards stay, by worker %s", m.Step, list(m.From, "%d"))
	} else {
		fmt.Fprintf(&b, "step %d: shards move, by worker from %s to %s", m.Step, list(m.From, "%d"),
			list(m.To, "%d"))
	}
	each := make([]float64, len(m.Speeds))
	for i, s := range m.Speeds {
		each[i] = 1e3 * s.Each
	}
	fmt.Fprintf(&b, ": a shard takes %s ms, the slowest worker %.4g ms", list(each, "%.3g"), 1e3*m.Before)
	if !isKept {
		fmt.Fprintf(&b, " before and %.4g ms from now on", 1e3*m.After)
	} else if m.Best < m.Before {
		fmt.Fprintf(&b, ", %.4g ms at best, too little gain beside a noise of %.2g %%", 1e3*m.Best,
			100*m.Noise)
	}
	fmt.Fprintf(&b, ", %.4g ms if shards could be divided", 1e3*m.Ideal)
	if shards, seconds := finer(m, batch); shards > 0 {
		fmt.Fprintf(&b, "; %d shards are coarse for these workers: with --shards %d it would be %.4g ms, "+
			"and other bits", sum(m.From), shards, 1e3*seconds)
	}
	return b.String()
}

// finer returns a number of shards with which the workers would come near the ideal, and the time of the
// slowest then; 0 if they are near it already, or never would with at most one shard per sample.
func finer(m *train.Move, batch int) (shards int, seconds float64) {
	now := sum(m.From)
	if m.Ideal >= wellBalanced*m.Best {
		return 0, 0
	}
	lengths, speeds := make([]int, len(m.Speeds)), slices.Clone(m.Speeds)
	for shards = 2 * now; shards <= batch; shards *= 2 {
		for i := range speeds {
			speeds[i].Each /= 2
		}
		if seconds = shard.Share(lengths, shards, speeds); m.Ideal >= wellBalanced*seconds {
			return shards, seconds
		}
	}
	return 0, 0
}

// list writes numbers with spaces between them.
func list[T int | float64](values []T, format string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprintf(format, v)
	}
	return strings.Join(texts, " ")
}

func sum(values []int) int {
	total := 0
	for _, v := range values {
		total += v
	}
	return total
}
