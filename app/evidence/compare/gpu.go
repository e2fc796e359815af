package compare

import (
	"slices"

	"lockstep/app/record"
)

// NumGPUs returns how many GPUs computed a line; 0: none did, or it is not told.
func (l *Line) NumGPUs() (n int) {
	for _, r := range l.runs {
		n = max(n, r.GPUs)
	}
	return n
}

// GPU returns the GPU that computed a rank of the line's first run; nil: none did.
func (l *Line) GPU(rank int) *record.RankGPU {
	if len(l.runs) == 0 || rank >= len(l.runs[0].Ranks) {
		return nil
	}
	return l.runs[0].Ranks[rank].GPU
}

// GPUNames names the GPUs that computed a line, each once.
func (l *Line) GPUNames() []string {
	var names []string
	for _, r := range l.runs {
		for _, rank := range r.Ranks {
			if rank.GPU != nil && !slices.Contains(names, rank.GPU.Name) {
				names = append(names, rank.GPU.Name)
			}
		}
	}
	return names
}
