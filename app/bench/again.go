package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"lockstep/app/evidence/compare"
	"lockstep/app/record"
)

// MaxAdded is the number of rounds that a precision adds at most.
const MaxAdded = 50

// addRun adds a run to its row. Of two runs of one round, the one that succeeded counts or, of two, the one
// that lost less of the cores to others; the other is kept as replaced. Times take no part in the choice,
// except that a run too short to tell counts as one that has lost nothing.
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

// repeatRound executes the disturbed runs of a round once more, unless most of them are: that does not pass,
// so repeats would only take time.
func (b *bench) repeatRound(ctx context.Context, round int) error {
	if b.isBusy(round) {
		b.tellBusy(round)
		return nil
	}
	for _, t := range b.plan.round(round) {
		if b.isDue(t) && b.hasTime(append(b.later(round), t)) { // a run of each row says more than two of one
			if err := b.runAndSave(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// isDue reports whether the run that counts of a row in a round was disturbed, and not repeated in any
// sitting. Failures do not count.
func (b *bench) isDue(t Trial) bool {
	all := ofRound(&b.results.Rows[t.Row], t.Round)
	return len(all) == 1 && all[0].Taken.IsDisturbed()
}

// ofRound returns the runs of a row in a round, repeats included, that have not failed.
func ofRound(row *record.Row, round int) []record.Run {
	return slices.DeleteFunc(slices.Concat(row.Runs, row.Replaced), func(r record.Run) bool {
		return r.Round != round || r.Error != ""
	})
}

// disturbed returns how many of the first runs of the rows in a round were disturbed, of those that are long
// enough to tell.
func (b *bench) disturbed(round int) (disturbed, known int) {
	for i := range b.results.Rows {
		all := ofRound(&b.results.Rows[i], round)
		if len(all) == 0 {
			continue
		}
		first := slices.MinFunc(all, func(a, b record.Run) int { return cmp.Compare(a.Position, b.Position) })
		if first.Taken != nil {
			known++
		}
		if first.Taken.IsDisturbed() {
			disturbed++
		}
	}
	return disturbed, known
}

// isBusy reports whether others took cores from most runs of a round.
func (b *bench) isBusy(round int) bool {
	disturbed, known := b.disturbed(round)
	return 2*disturbed > known
}

// tellBusy says once that the machine is busy, and what can be done.
func (b *bench) tellBusy(round int) {
	if b.hasToldBusy || b.options.Progress == nil {
		return
	}
	b.hasToldBusy = true
	disturbed, known := b.disturbed(round)
	b.options.Progress(Progress{Note: fmt.Sprintf("others took cores from %d of the %d runs of round %d "+
		"that are long enough to tell: rows that differ little will not be told apart. It goes on, and "+
		"repeats no runs of such a round; to go on when the machine is quiet, press Ctrl-C, then %s",
		disturbed, known, round+1, ResumeCommand(&b.results, b.out))})
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
		if !time.Now().Add(b.expected(all)).Before(b.goal) {
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
	wide := compare.Compare(&b.results).Wide(b.plan.Precision)
	var next []int
	for _, group := range b.plan.groups() {
		if slices.ContainsFunc(group, func(at int) bool { return slices.Contains(wide, at) }) {
			next = append(next, group...)
		}
	}
	var trials []Trial
	for _, at := range next {
		trials = append(trials, Trial{round, at})
	}
	if len(next) == 0 || !b.hasTime(trials) {
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

// hasTime reports whether some runs end before the deadline.
func (b *bench) hasTime(trials []Trial) bool {
	return b.deadline.IsZero() || time.Now().Add(b.expected(trials)).Before(b.deadline)
}
