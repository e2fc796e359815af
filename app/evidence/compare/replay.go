package compare

import (
	"fmt"
	"lockstep/app/evidence/stat"
	"slices"

	"lockstep/app/record"
)

// Replayed says what running a row again shows.
type Replayed struct {
	Name       string  `json:"name"`
	Parameters string  `json:"parameters"` // same, different, or not comparable
	Why        string  `json:"why"`        // the hashes, or what keeps them from being comparable
	Ratio      float64 `json:"ratio"`      // step time there / here, medians; 0: one of them is unknown
}

// The verdicts of Replayed.
const (
	Same          = "same"
	Different     = "different"
	NotComparable = "not comparable"
)

// Replay compares two runs of one benchmark, row by row. Parameters are compared where the row promises the
// bits of one process and processors computed both sides, or GPUs of one kind. Steps were not timed side by
// side, so their ratio is told and decides nothing.
func Replay(there, here *record.Results) []Replayed {
	var out []Replayed
	for i := range min(len(there.Rows), len(here.Rows)) {
		a, b := LineOf(&there.Rows[i], there.Rounds), LineOf(&here.Rows[i], here.Rounds)
		r := Replayed{Name: fmt.Sprintf("%s %s", a.Setting.Model, label(a, nil))}
		r.Parameters, r.Why = sameParameters(a, b)
		if ratio := a.RunMedian.Median / b.RunMedian.Median; stat.IsFinite(ratio) {
			r.Ratio = ratio
		}
		out = append(out, r)
	}
	return out
}

// sameParameters compares the hashes of two lines.
func sameParameters(a, b *Line) (verdict, why string) {
	switch {
	case a.OK == 0 || b.OK == 0:
		return NotComparable, "no successful run"
	case !a.Exact() || !b.Exact():
		return NotComparable, "the row does not promise the bits of one process"
	case a.computer != b.computer:
		return NotComparable, fmt.Sprintf("%s there, %s here", a.computer, b.computer)
	case a.Disagree || b.Disagree:
		return Different, "runs of one seed ended with different parameters"
	case a.work.steps != b.work.steps || a.work.samples != b.work.samples:
		return NotComparable, fmt.Sprintf("%d steps there, %d here", a.work.steps, b.work.steps)
	}
	var seeds []uint64
	for seed := range a.hashes {
		if b.hashes[seed] != "" {
			seeds = append(seeds, seed)
		}
	}
	slices.Sort(seeds)
	if seeds == nil {
		return NotComparable, "no seed in common"
	}
	for _, seed := range seeds {
		if a.hashes[seed] != b.hashes[seed] {
			return Different, fmt.Sprintf("seed %d: SHA-256 %.12s there, %.12s here", seed, a.hashes[seed],
				b.hashes[seed])
		}
	}
	return Same, fmt.Sprintf("SHA-256 %.12s", a.hashes[seeds[0]])
}
