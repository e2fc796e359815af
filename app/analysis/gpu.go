package analysis

import (
	"cmp"
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

// watchedGPU is what is told of a rank's GPU, nil if none computed, and of the rank's steps.
type watchedGPU struct {
	rank    int
	gpu     *record.RankGPU
	seconds []float64 // of the steps; nil: files tell of other steps
	bytes   []float64 // memory in use on the GPU, where it is known
}

// watchesGPU says if what is told of a rank's GPU is more than it has or can have done in the rank's steps,
// or if none can have computed.
func watchesGPU(row *record.Row, run *record.Run) string {
	ranks := make([]watchedGPU, len(run.Ranks))
	for i, r := range run.Ranks {
		ranks[i] = watchedGPU{r.Rank, r.GPU, r.Steps.Seconds, r.Steps.GPU}
	}
	return cmp.Or(hasGPUs(row.Setting.Workers, &run.Outcome, ranks), watchesRanks(&run.Outcome, ranks))
}

// watchesRanks is watchesGPU for what a run and its ranks tell.
func watchesRanks(run *record.Outcome, ranks []watchedGPU) string {
	for _, w := range ranks {
		if w.gpu == nil {
			continue
		}
		if text := w.watches(run); text != "" {
			return fmt.Sprintf("the GPU of rank %d %s.", w.rank, text)
		}
	}
	return ""
}

// hasGPUs says if the device of a run of so many workers, the GPU that it names and the numbers of GPUs do
// not go together.
func hasGPUs(workers int, run *record.Outcome, ranks []watchedGPU) string {
	if text := countsGPUs(workers, run, ranks); text != "" {
		return text
	}
	isNamed := func(w watchedGPU) bool { return w.gpu != nil && w.gpu.Name == run.GPU }
	switch {
	case !isGPU(run.Device) && run.Device != "" && run.Device != cpuName:
		return fmt.Sprintf("its device is %.40q, and there are %s and cuda, or cuda:1 for the second GPU.",
			run.Device, cpuName)
	case run.GPU != "" && !isGPU(run.Device):
		return fmt.Sprintf("%.80s computed it, and its device is %.40q.", run.GPU, run.Device)
	case isGPU(run.Device) && run.GPU == "":
		return fmt.Sprintf("its device is %q, and it names no GPU.", run.Device)
	case isGPU(run.Device) && !slices.ContainsFunc(ranks, isNamed):
		return fmt.Sprintf("its device is %q, and no rank names the GPU %.80q.", run.Device, run.GPU)
	}
	return ""
}

// countsGPUs says if so many workers cannot have been on the number of GPUs that is told, with so many on
// the one that has most of them. A number of 0 is not told.
func countsGPUs(workers int, run *record.Outcome, ranks []watchedGPU) string {
	most, on := 0, 0
	if isGPU(run.Device) {
		most = workers
	}
	for _, w := range ranks {
		if w.gpu != nil {
			on++
		}
	}
	gpus, busiest := run.GPUs, run.GPUWorkers
	isOut := gpus < 0 || busiest < 0 || gpus > most || busiest > most
	isTold := gpus > 0 && busiest > 0 && !isOut
	if isOut || isTold && (gpus+busiest-1 > workers || gpus*busiest < on) {
		return fmt.Sprintf("its device is %.40q, it has %s, gpus is %d and gpu_workers, those on the "+
			"busiest one, %d.", run.Device, spelling.Count(workers, "worker"), gpus, busiest)
	}
	return ""
}

// watches is watchesRanks for a rank that a GPU computed.
func (w watchedGPU) watches(run *record.Outcome) string {
	const slack = 1.5 // a pass may begin before its step does on the host
	g := w.gpu
	for _, f := range gpuFigures(g) {
		if f.isOut() {
			return fmt.Sprintf("has %s of %v, which nothing can have measured", f.name, f.value)
		}
	}
	if !isGPU(run.Device) || run.GPU == "" {
		return fmt.Sprintf("computed, and the device of the run is %.40q", run.Device)
	}
	inUse := max(float64(g.BytesInUse), slices.Max(append([]float64{0}, w.bytes...)))
	if most := float64(g.MemoryBytes); most > 0 && inUse > most {
		return fmt.Sprintf("has %.4g bytes, and %.4g were in use", most, inUse)
	}
	t := g.Time
	if t == nil || w.seconds == nil {
		return ""
	}
	if t.Busy() > 0 && (t.Steps == 0 || t.Seconds == 0) {
		return fmt.Sprintf("was busy for %s, and watched in %d steps of %s together", ms(t.Busy()), t.Steps,
			ms(t.Seconds))
	}
	switch all := sumOf(w.seconds); {
	case t.Steps > len(w.seconds):
		return fmt.Sprintf("was watched in %d of %d steps", t.Steps, len(w.seconds))
	case t.Seconds > (1+1e-6)*all:
		return fmt.Sprintf("was watched for %s, and all steps took %s", ms(t.Seconds), ms(all))
	case t.Optimizer > all:
		return fmt.Sprintf("took %s for updates, and all steps took %s", ms(t.Optimizer), ms(all))
	case t.Forward+t.Backward > slack*t.Seconds:
		return fmt.Sprintf("took %s for the passes of %s, which took %s", ms(t.Forward+t.Backward),
			spelling.Count(t.Steps, "step"), ms(t.Seconds))
	}
	return ""
}

// gpuFigures lists what is told of a rank's GPU.
func gpuFigures(g *record.RankGPU) []figure {
	all := []figure{{"a memory", float64(g.MemoryBytes), maxAmount},
		{"a memory in use", float64(g.BytesInUse), maxAmount}}
	if t := g.Time; t != nil {
		all = append(all, figure{"a number of steps watched", float64(t.Steps), maxCount},
			figure{"a time of these steps", t.Seconds, maxSeconds},
			figure{"a time forward", t.Forward, maxSeconds},
			figure{"a time backward", t.Backward, maxSeconds},
			figure{"a time of the optimizer", t.Optimizer, maxSeconds})
	}
	return all
}
