package report

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/app/record"
	"lockstep/internal/spelling"
)

// The functions of this file word what a run tells, for its summary and its page. Each returns "" where
// there is nothing to tell.

// TakenText describes the core time taken by others; "" if it is unknown or negligible.
func TakenText(t *record.Taken) string {
	if !t.IsDisturbed() {
		return ""
	}
	others := shareText(t.Others)
	if shareText(t.Stolen) == shareText(0) {
		return others + " of the cores' time went to other processes"
	}
	return fmt.Sprintf("%s of the cores' time went to other virtual machines, %s to other processes",
		shareText(t.Stolen), others)
}

// AsyncText says how stale the updates of an asynchronous run were; "" for nil.
func AsyncText(a *record.Async) string {
	if a == nil {
		return ""
	}
	text := fmt.Sprintf("%.3g updates on average, %d at most, where %d are allowed", a.MeanStaleness(),
		len(a.Staleness)-1, a.Bound)
	if a.DividesRate {
		text += "; the learning rate was divided by it"
	}
	if a.Backup > 0 {
		text += fmt.Sprintf("; %d gradients came after their round and were dropped", a.Dropped)
	}
	return text
}

// SharesText says how many updates each worker computed, such as "327, 323 and 100 of 750"; "" for nil.
func SharesText(a *record.Async) string {
	if a == nil || len(a.ByWorker) < 2 {
		return ""
	}
	var parts []string
	for _, n := range a.ByWorker {
		parts = append(parts, fmt.Sprint(n))
	}
	last := len(parts) - 1
	return fmt.Sprintf("%s and %s of %d updates, by rank", strings.Join(parts[:last], ", "), parts[last],
		a.Updates)
}

// AveragesText says how workers averaged their weights, with the outer optimizer that was used; "" for nil.
func AveragesText(a *record.Averages) string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf("%s of the weights, %d steps apart at most, in %s; outer learning rate %v, "+
		"momentum %v", spelling.Count(a.Rounds, "average"), a.Every, spelling.Count(a.Parts, "part"), a.LR,
		a.Momentum)
}

// LostText says without which workers a run went on; "" if without none.
func LostText(lost []record.LostWorker) string {
	var parts []string
	for _, l := range lost {
		parts = append(parts, l.Cause)
	}
	return strings.Join(parts, "; ")
}

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

// MovesText says how often shards moved between workers, and who has how many at last; "" if nothing was
// balanced.
func MovesText(moves []record.Move) string {
	if len(moves) == 0 {
		return ""
	}
	num, last := 0, moves[len(moves)-1]
	for _, m := range moves {
		if !slices.Equal(m.From, m.To) {
			num++
		}
	}
	ideal := fmt.Sprintf("the slowest worker computes %.4g ms of a step, %.4g ms if shards could be divided",
		1e3*last.After, 1e3*last.Ideal)
	if num == 0 {
		return fmt.Sprintf("stayed %s by worker: %s", numbers(last.To), ideal)
	}
	times := "once"
	if num > 1 {
		times = fmt.Sprintf("%d times", num)
	}
	return fmt.Sprintf("moved %s, by worker from %s to %s, last before step %d: %s", times,
		numbers(moves[0].From), numbers(last.To), last.Step, ideal)
}

// numbers writes numbers with spaces between them.
func numbers(list []int) string { return strings.Trim(fmt.Sprint(list), "[]") }
