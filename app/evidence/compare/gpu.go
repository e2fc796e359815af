package compare

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/record"
	"lockstep/internal/spelling"
)

// GPUText words what a worker's GPU did in a step by its own clock, and its memory; "" if none is told.
func GPUText(g *record.RankGPU) string {
	if g == nil {
		return ""
	}
	var parts []string
	if t := g.Time; t != nil && t.Steps > 0 && t.Seconds > 0 {
		n := float64(t.Steps)
		text := fmt.Sprintf("forward %s, backward %s", ms(t.Forward/n), ms(t.Backward/n))
		if t.Optimizer > 0 {
			text += fmt.Sprintf(", optimizer %s", ms(t.Optimizer/n))
		}
		parts = append(parts, fmt.Sprintf("%s of a step of %s by its own clock, idle for %.0f %% of it "+
			"(%s watched)", text, ms(t.Seconds/n), 100*max(0, 1-t.Busy()/t.Seconds),
			spelling.Count(t.Steps, "step")))
	}
	if g.BytesInUse > 0 {
		of := ""
		if g.MemoryBytes > 0 {
			of = fmt.Sprintf(" of %.3g", float64(g.MemoryBytes)/(1<<30))
		}
		parts = append(parts, fmt.Sprintf("at most %.3g%s GiB of its memory seen in use, by all processes",
			float64(g.BytesInUse)/(1<<30), of))
	}
	return strings.Join(parts, "; ")
}

// PeakText words what the peak of a computation is the peak of.
func PeakText(gpu string) string {
	if gpu == "" {
		return "multiply-adds in registers"
	}
	return "large products of matrices on the GPU"
}

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
