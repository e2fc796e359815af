package analysis

import (
	"fmt"
	"strings"

	"lockstep/app/record"
)

// GPUText words what a worker's GPU did in a step by its own clock, and its memory; "" if none is told.
func GPUText(g *record.RankGPU) string {
	if g == nil {
		return ""
	}
	var parts []string
	if t := g.Time; t != nil && t.Steps > 0 {
		n := float64(t.Steps)
		text := fmt.Sprintf("forward %s, backward %s", ms(t.Forward/n), ms(t.Backward/n))
		if t.Optimizer > 0 {
			text += fmt.Sprintf(", update %s", ms(t.Optimizer/n))
		}
		parts = append(parts, fmt.Sprintf("%s of a step of %s by its own clock, busy for %.0f %% of it "+
			"(%d steps watched)", text, ms(t.Seconds/n), 100*min(1, t.Busy()/t.Seconds), t.Steps))
	}
	if g.BytesInUse > 0 {
		parts = append(parts, fmt.Sprintf("%.3g of %.3g GB in use at most, by all processes",
			float64(g.BytesInUse)/1e9, float64(g.MemoryBytes)/1e9))
	}
	return strings.Join(parts, "; ")
}

// PeakText words what the peak of a computation is the peak of.
func PeakText(gpu string) string {
	if gpu == "" {
		return "multiply-adds in registers"
	}
	return "a large product of matrices on the GPU"
}

// NumGPUs returns how many GPUs computed a line; 0: none did.
func (l *Line) NumGPUs() int {
	if !l.IsOnGPU() {
		return 0
	}
	each := 1 // workers of a GPU
	for _, r := range l.runs {
		each = max(each, r.GPUWorkers)
	}
	return (l.Setting.Workers + each - 1) / each
}

// GPU returns the name of the GPU that computed a line; "": none did, or runs differ in it.
func (l *Line) GPU() string {
	name := ""
	for i, r := range l.runs {
		if i > 0 && r.GPU != name {
			return ""
		}
		name = r.GPU
	}
	return name
}

// GPUs returns the GPU of each worker of the line's first run; nil if none computed.
func (l *Line) GPUs() []*record.RankGPU {
	var all []*record.RankGPU
	if len(l.runs) > 0 && l.IsOnGPU() {
		for _, rank := range l.runs[0].Ranks {
			all = append(all, rank.GPU)
		}
	}
	return all
}

// watchesGPU says if the GPU of a rank was busy for longer than the steps in which it was watched, or if what
// is told of it is no time or no number of bytes.
func watchesGPU(_ *record.Row, run *record.Run) string {
	const slack = 1.5 // an update is queued in one step and may be made in the next
	for _, rank := range run.Ranks {
		if rank.GPU == nil {
			continue
		}
		for _, f := range gpuFigures(rank.GPU) {
			if f.isOut() {
				return fmt.Sprintf("%s of the GPU of rank %d is %v, which nothing can have measured.", f.name,
					rank.Rank, f.value)
			}
		}
		steps := len(rank.Steps.Seconds)
		if t := rank.GPU.Time; t != nil && (t.Steps > steps || t.Busy() > slack*t.Seconds) {
			return fmt.Sprintf("the GPU of rank %d was busy for %s in %d of %d steps, which took %s.",
				rank.Rank, ms(t.Busy()), t.Steps, steps, ms(t.Seconds))
		}
	}
	return ""
}

// gpuFigures lists what is told of a rank's GPU.
func gpuFigures(g *record.RankGPU) []figure {
	all := []figure{{"the memory in use", float64(g.BytesInUse), maxAmount}}
	if t := g.Time; t != nil {
		all = append(all, figure{"the number of steps watched", float64(t.Steps), maxCount},
			figure{"the time of these steps", t.Seconds, maxSeconds},
			figure{"the time forward", t.Forward, maxSeconds},
			figure{"the time backward", t.Backward, maxSeconds},
			figure{"the time of updates", t.Optimizer, maxSeconds})
	}
	return all
}
