package bench

import (
	"cmp"
	"slices"
	"time"

	"lockstep/app/analysis"
	"lockstep/app/record"
)

// maxAgain is how often a run that others took cores from is repeated at the end of its round.
const maxAgain = 2

// MaxAdded is the number of rounds that a precision adds at most.
const MaxAdded = 50

// addRun adds a run to its row. Of two runs of one round, the one that succeeded counts or, of two, the one
// that lost less of the cores to others; the other is kept as replaced. Times take no part in the choice.
func addRun(row *record.Row, run record.Run) {
	i := slices.IndexFunc(row.Runs, func(r record.Run) bool { return r.Round == run.Round })
	if i < 0 {
		row.Runs = append(row.Runs, run)
		return
	}
	former := &row.Runs[i]
	isBetter := run.Error == "" && (former.Error != "" || run.Taken.Sum() < former.Taken.Sum())
	if isBetter {
		*former, run = run, *former
	}
	row.Replaced = append(row.Replaced, run)
}

// hasTimeAgain reports whether a run can be repeated and all runs that are still to come end before the
// deadline: a run of each row says more than two of one.
func (b *bench) hasTimeAgain(t Trial) bool {
	if b.deadline.IsZero() {
		return true
	}
	all := []Trial{t}
	for round := t.Round + 1; round < b.plan.Repeats; round++ {
		all = append(all, b.plan.round(round)...)
	}
	return time.Now().Add(remaining(b.plan, b.walls, all, 0)).Before(b.deadline)
}

// hasRound reports whether there is another round, one that time is left for included.
func (b *bench) hasRound(round int) bool {
	b.extend(round)
	return round < max(b.plan.Repeats, b.results.Rounds) || b.wantsRound(round)
}

// extend gives a round to the rows whose rounds a budget has cut, if runs were shorter than predicted: each
// group of comparable rows that has had all of its rounds gets one if that ends within the budget, after what
// else is left to do.
func (b *bench) extend(round int) {
	if b.goal.IsZero() || round == 0 || round >= b.plan.Asked || b.failure != nil {
		return
	}
	for _, group := range b.plan.groups() {
		if b.plan.Rows[group[0]].Rounds != round {
			continue
		}
		var all []Trial
		for r := round; r < b.plan.Repeats; r++ {
			all = append(all, b.plan.round(r)...)
		}
		for _, at := range group {
			all = append(all, Trial{round, at})
		}
		if !time.Now().Add(remaining(b.plan, b.walls, all, 0)).Before(b.goal) {
			continue
		}
		for _, at := range group {
			b.plan.Rows[at].Rounds, b.results.Rows[at].Rounds = round+1, round+1
		}
		b.plan.Repeats = max(b.plan.Repeats, round+1)
	}
}

// wantsRound gives a round to the groups of comparable rows with an interval that is still wide, and reports
// whether there is one, and time for it. The other groups have had their rounds.
func (b *bench) wantsRound(round int) bool {
	if b.plan.Precision == 0 || round >= min(b.plan.Repeats+MaxAdded, record.MaxRounds) || b.failure != nil {
		return false
	}
	wide := analysis.Compare(&b.results).Wide(b.plan.Precision)
	var next []int
	for _, group := range b.plan.groups() {
		if slices.ContainsFunc(group, func(at int) bool { return slices.Contains(wide, at) }) {
			next = append(next, group...)
		}
	}
	if len(next) == 0 || !b.hasTime(round, next) {
		return false
	}
	for at := range b.plan.Rows {
		rounds := round + 1
		if !slices.Contains(next, at) {
			rounds = cmp.Or(b.plan.Rows[at].Rounds, round)
		}
		b.plan.Rows[at].Rounds, b.results.Rows[at].Rounds = rounds, rounds
	}
	return true
}

// hasTime reports whether a round of some rows ends before the deadline.
func (b *bench) hasTime(round int, rows []int) bool {
	if b.deadline.IsZero() {
		return true
	}
	var all []Trial
	for _, at := range rows {
		all = append(all, Trial{round, at})
	}
	return time.Now().Add(remaining(b.plan, b.walls, all, 0)).Before(b.deadline)
}
