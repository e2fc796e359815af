package bench

import (
	"math"
	"slices"
	"time"
)

// wall is how long a finished run of a row took, in seconds, processes included.
type wall struct {
	row     int
	seconds float64
}

// workLeft is what a benchmark has still to do.
type workLeft struct {
	trials    []Trial   // in their order; repeats are those of runs that have ended
	seconds   []float64 // expected, of each; none while no run has finished
	isRunning bool      // the first of them is

	again float64 // expected seconds of repeats of runs that have not ended
}

// later returns the runs of the rounds after one that have not ended.
func (b *bench) later(round int) []Trial {
	var all []Trial
	for round++; round < b.plan.Repeats; round++ {
		all = append(all, slices.DeleteFunc(b.plan.round(round), b.hasEnded)...)
	}
	return all
}

// left returns what is still to do in a round, with the run that is going on, if one is, and the others that
// have had none, and in the rounds after it.
func (b *bench) left(running *Trial, round int, others []Trial) workLeft {
	w := workLeft{isRunning: running != nil}
	if running != nil {
		w.trials = append(w.trials, *running)
	}
	first := slices.DeleteFunc(slices.Clone(others), b.hasEnded)
	w.trials = append(w.trials, first...)
	at, isLasting := round, b.isLasting(round)
	if len(first) > 0 && round > 0 { // a part of a round tells less than the one before
		at--
		isLasting = b.isBusyAt(at)
	}
	numDue := 0
	for _, t := range b.plan.round(round) {
		if isLasting || !b.wantsAgain(t) {
			continue
		}
		numDue++
		if running == nil || t != *running {
			w.trials = append(w.trials, t)
		}
	}
	later := b.later(round)
	w.trials = append(w.trials, later...)
	w.seconds = expectAll(b.plan, b.walls, w.trials)
	rate := b.againRate(numDue)
	if !isLasting {
		w.again += rate * sum(expectAll(b.plan, b.walls, first))
	}
	if !b.isBusyAt(at) {
		w.again += rate * sum(expectAll(b.plan, b.walls, later))
	}
	return w
}

// againRate returns how many repeats there were for each run that was none, with those that are due.
func (b *bench) againRate(numDue int) float64 {
	first, again := 0, numDue
	for _, row := range b.results.Rows {
		first += len(row.Runs)
		again += len(row.Replaced)
	}
	return float64(again) / float64(max(1, first))
}

// isBusyAt reports whether a round is busy, or the last one before it of which that is known.
func (b *bench) isBusyAt(round int) bool {
	for ; round >= 0; round-- {
		if isBusy, isKnown := b.isBusy(round); isKnown {
			return isBusy
		}
	}
	return false
}

// timeLeft estimates how long what is left takes; the run that is going on has taken elapsed. Runs that
// would end after the deadline do not count. It is not more than the budget leaves, except for the run that
// is going on and, once the budget is over, for runs that the deadline still allows.
func (b *bench) timeLeft(w workLeft, elapsed time.Duration) time.Duration {
	now := time.Now()
	left := math.Inf(1) // until the deadline
	if !b.deadline.IsZero() {
		left = b.deadline.Sub(now).Seconds()
	}
	running, total := 0.0, 0.0
	for i, seconds := range append(slices.Clone(w.seconds), w.again) {
		if i == 0 && w.isRunning && len(w.seconds) > 0 {
			running = max(seconds-elapsed.Seconds(), 0)
			total = running
		} else if total+seconds <= left {
			total += seconds
		}
	}
	if goal := b.goal.Sub(now).Seconds(); goal > 0 {
		left = goal // the budget, which the deadline passes
	}
	return time.Duration(max(running, min(total, left)) * float64(time.Second))
}

// expectedTime estimates how long some trials take. It is 0 while no run has finished.
func expectedTime(plan Plan, walls []wall, trials []Trial) time.Duration {
	return time.Duration(sum(expectAll(plan, walls, trials)) * float64(time.Second))
}

// expectAll estimates how many seconds each of some trials takes; none while no run has finished.
func expectAll(plan Plan, walls []wall, trials []Trial) []float64 {
	if len(walls) == 0 {
		return nil
	}
	known := map[int]float64{} // by row
	all := make([]float64, len(trials))
	for i, t := range trials {
		if _, isKnown := known[t.Row]; !isKnown {
			known[t.Row] = expect(plan, walls, t.Row)
		}
		all[i] = known[t.Row]
	}
	return all
}

func sum(of []float64) float64 {
	total := 0.0
	for _, v := range of {
		total += v
	}
	return total
}

// expect estimates how many seconds a run of a row takes: as long as the row did before; a row without a run,
// as long as the mean of its model's rows, else of all rows.
func expect(plan Plan, walls []wall, row int) float64 {
	near := func(is func(other int) bool) (sum float64, n int) {
		for _, w := range walls {
			if is(w.row) {
				sum += w.seconds
				n++
			}
		}
		return sum, n
	}
	sum, n := near(func(other int) bool { return other == row })
	if n == 0 {
		model := plan.Rows[row].Model
		sum, n = near(func(other int) bool { return plan.Rows[other].Model == model })
	}
	if n == 0 {
		sum, n = near(func(int) bool { return true })
	}
	return sum / float64(n)
}
