package report

import (
	"fmt"

	"lockstep/app/record"
	"lockstep/internal/spelling"
)

// The functions of this file word what a run tells. Each returns "" where there is nothing to tell.

// takenText describes the core time taken by others; "" if it is unknown or negligible.
func takenText(t *record.Taken) string {
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

// asyncText says how stale the updates of an asynchronous run were; "" for nil.
func asyncText(a *record.Async) string {
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
	if a.Replayed {
		text += "; the order is that of another run"
	}
	return text
}

// averagesText says how workers averaged their weights, with the outer optimizer that was used; "" for nil.
func averagesText(a *record.Averages) string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf("%s of the weights, %d steps apart at most, in %s; outer learning rate %v, "+
		"momentum %v", spelling.Count(a.Rounds, "average"), a.Every, spelling.Count(a.Parts, "part"), a.LR,
		a.Momentum)
}

// gpuText words what a worker's GPU did in a step by its own clock, and its memory; "" if none is told.
func gpuText(g *record.RankGPU) string {
	if g == nil {
		return ""
	}
	step, memory := "", ""
	if t := g.Time; t != nil && t.Steps > 0 && t.Seconds > 0 {
		n := float64(t.Steps)
		step = fmt.Sprintf("forward %s, backward %s, optimizer %s of a step of %s, idle for %.0f %% of it",
			ms(t.Forward/n), ms(t.Backward/n), ms(t.Optimizer/n), ms(t.Seconds/n),
			100*max(0, 1-t.Busy()/t.Seconds))
	}
	if g.BytesInUse > 0 {
		memory = fmt.Sprintf("at most %s of %s of its memory in use, by all processes",
			byteCount(float64(g.BytesInUse)), byteCount(float64(g.MemoryBytes)))
	}
	return joined("; ", step, memory)
}

// movesText says who had how many shards at first and at last; "" if nothing was balanced.
func movesText(moves []record.Move) string {
	if len(moves) == 0 {
		return ""
	}
	last := moves[len(moves)-1]
	return fmt.Sprintf("by worker %v at first, %v since step %d: the slowest worker computes %.4g ms of a "+
		"step, %.4g ms if shards could be divided", moves[0].From, last.To, last.Step, 1e3*last.After,
		1e3*last.Ideal)
}
