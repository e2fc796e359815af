package worker

import (
	"fmt"
	"slices"

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
	text := fmt.Sprintf("step %d: shards move, by worker from %d to %d", m.Step, m.From, m.To)
	if slices.Equal(m.From, m.To) {
		text = fmt.Sprintf("step %d: shards stay, by worker %d", m.Step, m.From)
	}
	each := make([]float64, len(m.Speeds))
	for i, s := range m.Speeds {
		each[i] = 1e3 * s.Each
	}
	return fmt.Sprintf("%s: a shard takes %.3g ms, the slowest worker %.4g ms before, %.4g ms from now on, "+
		"%.4g ms if shards could be divided", text, each, 1e3*m.Before, 1e3*m.After, 1e3*m.Ideal)
}
