package worker

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/job"
	"lockstep/app/record"
	"lockstep/train"
)

// noteMove notes how shards move between workers, and why.
func (w *Worker) noteMove(m *train.Move) {
	w.Announce(moveText(m))
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

// moveText says what moved, when and why.
func moveText(m *train.Move) string {
	var b strings.Builder
	isKept := slices.Equal(m.From, m.To)
	if isKept {
		fmt.Fprintf(&b, "step %d: shards stay, by worker %d", m.Step, m.From)
	} else {
		fmt.Fprintf(&b, "step %d: shards move, by worker from %d to %d", m.Step, m.From, m.To)
	}
	each := make([]float64, len(m.Speeds))
	for i, s := range m.Speeds {
		each[i] = 1e3 * s.Each
	}
	fmt.Fprintf(&b, ": a shard takes %.3g ms, the slowest worker %.4g ms", each, 1e3*m.Before)
	if !isKept {
		fmt.Fprintf(&b, " before and %.4g ms from now on", 1e3*m.After)
	} else if m.Best < m.Before {
		fmt.Fprintf(&b, ", %.4g ms at best, too little gain beside a noise of %.2g %%", 1e3*m.Best,
			100*m.Noise)
	}
	fmt.Fprintf(&b, ", %.4g ms if shards could be divided", 1e3*m.Ideal)
	return b.String()
}
