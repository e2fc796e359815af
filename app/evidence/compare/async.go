package compare

import (
	"fmt"
	"strings"

	"lockstep/app/record"
	"lockstep/internal/spelling"
)

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
	if a.Replayed {
		text += "; the order is that of another run"
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
