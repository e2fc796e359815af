package bench

import (
	"slices"
	"time"
)

// wall is how long a finished run of a row took, in seconds, processes included.
type wall struct {
	row     int
	seconds float64
}

// later returns the runs of the rounds after one that are still to come.
func (b *bench) later(round int) []Trial {
	var all []Trial
	for round++; round < b.plan.Repeats; round++ {
		all = append(all, slices.DeleteFunc(b.plan.round(round), b.hasEnded)...)
	}
	return all
}

// left returns the runs that are still to come from a round on, with the one that is going on, and the
// repeats that are due.
func (b *bench) left(round int) []Trial {
	isBusy := b.isBusy(round)
	all := slices.DeleteFunc(b.plan.round(round), func(t Trial) bool {
		return b.hasTried[t] || b.hasEnded(t) && (isBusy || !b.isDue(t))
	})
	return append(all, b.later(round)...)
}

// timeLeft estimates how long the runs of a round and of later ones take. One has taken elapsed, unless it
// has ended. It is no longer than the budget leaves or, once that is over, than the deadline allows, but for
// the run that is going on.
func (b *bench) timeLeft(t Trial, elapsed time.Duration, hasEnded bool) time.Duration {
	now, all, running := time.Now(), time.Duration(0), time.Duration(0)
	if !hasEnded {
		running = max(b.expected([]Trial{t})-elapsed, 0)
		all = -min(elapsed, b.expected([]Trial{t}))
	}
	each := b.expectEach()
	for _, one := range b.left(t.Round) {
		if end := now.Add(all + each[one.Row]); b.deadline.IsZero() || !end.After(b.deadline) {
			all += each[one.Row]
		}
	}
	if b.goal.After(now) { // the budget, which the deadline passes
		all = min(all, b.goal.Sub(now))
	}
	return max(running, all)
}

// expected estimates how long some runs take. It is 0 while no run has finished.
func (b *bench) expected(trials []Trial) (all time.Duration) {
	each := b.expectEach()
	for _, t := range trials {
		all += each[t.Row]
	}
	return all
}

// expectEach estimates how long a run of each row takes; 0 while no run has finished.
func (b *bench) expectEach() []time.Duration {
	each := make([]time.Duration, len(b.plan.Rows))
	for row := range each {
		each[row] = time.Duration(expect(b.plan, b.walls, row) * float64(time.Second))
	}
	return each
}

// expect estimates how many seconds a run of a row takes: as long as the row did before; a row without a run,
// as long as the mean of its model's rows, else of all rows.
func expect(plan Plan, walls []wall, row int) float64 {
	for _, isLike := range []func(other int) bool{
		func(other int) bool { return other == row },
		func(other int) bool { return plan.Rows[other].Model == plan.Rows[row].Model },
		func(int) bool { return true },
	} {
		sum, n := 0.0, 0
		for _, w := range walls {
			if isLike(w.row) {
				sum += w.seconds
				n++
			}
		}
		if n > 0 {
			return sum / float64(n)
		}
	}
	return 0
}
