package job

import (
	"fmt"

	"lockstep/app/setting"
)

// slow sets the speed of this worker's computation in a step, as --slow-worker says.
func (w *worker) slow(step int) {
	factor := w.config.SlowWorkers.At(w.rank, step)
	if factor == max(1, w.slowness) { // 0 before the first step
		return
	}
	w.slowness = factor
	w.cpu.Slow(factor)
	w.note("from step %d on: computation slowed %v times by a duty cycle (--slow-worker)", step, factor)
}

// slowed says which workers are imitations of slower ones; "" if none is.
func slowed(l setting.SlowWorkers) string {
	if len(l) == 0 {
		return ""
	}
	return fmt.Sprintf("--slow-worker %s: workers are slowed by a duty cycle of computing and sleeping; "+
		"times are those of an imitation of unequal machines", l)
}
