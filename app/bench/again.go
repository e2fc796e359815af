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

// maxAgain is how often a run that others took cores from is repeated at the end of its round.
const maxAgain = 2

// busyShare is the share of disturbed runs from which a round is busy. Repeats are for a disturbance that
// passes: after a busy round, a round that is busy as well repeats nothing.
const busyShare = 0.75

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

// repeatRound executes the disturbed runs of a round again, while they are and there is time.
func (b *bench) repeatRound(ctx context.Context, trials []Trial) error {
	for pass := range maxAgain {
		if len(trials) == 0 || b.isLasting(trials[0].Round) {
			b.tellLasting(trials)
			return nil
		}
		for _, t := range trials {
			if b.numAgain(t) > pass || !b.wantsAgain(t) {
				continue
			}
			if err := b.runAndSave(ctx, t, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// isDue reports whether the run that counts of a row in a round was disturbed, and not repeated often enough.
func (b *bench) isDue(t Trial) bool {
	run := b.runOf(t)
	return run != nil && run.Error == "" && run.Taken.IsDisturbed() && b.numAgain(t) < maxAgain
}

// wantsAgain reports whether a run is due to be repeated, and there is time for it.
func (b *bench) wantsAgain(t Trial) bool { return b.isDue(t) && b.hasTimeAgain(t) }

// numAgain returns how often a run was repeated, in all sittings. Failures do not count.
func (b *bench) numAgain(t Trial) int { return len(ofRound(&b.results.Rows[t.Row], t.Round)) - 1 }

// ofRound returns the runs of a row in a round, repeats included, that have not failed.
func ofRound(row *record.Row, round int) []*record.Run {
	var all []*record.Run
	for _, runs := range [][]record.Run{row.Runs, row.Replaced} {
		for i := range runs {
			if runs[i].Round == round && runs[i].Error == "" {
				all = append(all, &runs[i])
			}
		}
	}
	return all
}

// isBusy reports whether at least busyShare of the runs of a round were disturbed, repeats included. Runs
// that are too short to tell do not count; isKnown reports whether there are others.
func (b *bench) isBusy(round int) (isBusy, isKnown bool) {
	disturbed, known := 0, 0
	for i := range b.results.Rows {
		for _, run := range ofRound(&b.results.Rows[i], round) {
			if run.Taken != nil {
				known++
			}
			if run.Taken.IsDisturbed() {
				disturbed++
			}
		}
	}
	return known > 0 && float64(disturbed) >= busyShare*float64(known), known > 0
}

// isLasting reports whether a round and the one before it are busy, so that repeats would only take time.
func (b *bench) isLasting(round int) bool {
	if round == 0 {
		return false
	}
	before, _ := b.isBusy(round - 1)
	now, _ := b.isBusy(round)
	return before && now
}

// tellLasting says once that disturbed runs are not repeated, if some of these would be.
func (b *bench) tellLasting(trials []Trial) {
	if b.hasToldLasting || b.options.Progress == nil || !slices.ContainsFunc(trials, b.isDue) {
		return
	}
	b.hasToldLasting = true
	round := trials[0].Round
	b.options.Progress(Progress{Note: fmt.Sprintf("others took cores from three of four runs, or more, of "+
		"those long enough to tell in rounds %d and %d: this does not pass, so disturbed runs are not "+
		"repeated until a round has fewer",
		round, round+1)})
}

// hasTimeAgain reports whether a run can be repeated and all runs that are still to come end before the
// deadline: a run of each row says more than two of one.
func (b *bench) hasTimeAgain(t Trial) bool {
	if b.deadline.IsZero() {
		return true
	}
	all := append([]Trial{t}, b.later(t.Round)...)
	return time.Now().Add(expectedTime(b.plan, b.walls, all)).Before(b.deadline)
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
		if !time.Now().Add(expectedTime(b.plan, b.walls, all)).Before(b.goal) {
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
	return time.Now().Add(expectedTime(b.plan, b.walls, all)).Before(b.deadline)
}
