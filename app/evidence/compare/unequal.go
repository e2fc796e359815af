package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/app/record"
)

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

// GrowthText says how the batch grew; "" if it could not.
func GrowthText(growth []record.Growth) string {
	if len(growth) == 0 {
		return ""
	}
	last := growth[len(growth)-1]
	noise := "no gradient showed in the noise"
	if !math.IsNaN(float64(last.Noise)) {
		noise = fmt.Sprintf("the gradient noise scale was %.4g samples", last.Noise)
	}
	var parts []string
	for _, g := range growth {
		if g.To != g.From {
			parts = append(parts, fmt.Sprintf("to %d after epoch %d", g.To, g.Epochs))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("stayed %d: %s at last", last.To, noise)
	}
	return fmt.Sprintf("grew from %d %s: %s at last", growth[0].From, strings.Join(parts, ", "), noise)
}

// numbers writes numbers with spaces between them.
func numbers(list []int) string { return strings.Trim(fmt.Sprint(list), "[]") }
