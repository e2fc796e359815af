package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/app/choice"
	"lockstep/app/job/chooser"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/internal/spelling"
)

// Fitted says what is left of a plan within its budget.
type Fitted struct {
	Seconds float64  // expected, of all runs
	Runs    int      // expected
	Groups  []string // what each group of comparable rows does, as a line for people
	Left    int      // rows that are left out
}

// cost is the expected time of a run: that of starting and ending it, and of a step, in seconds. Evaluations
// belong to the steps.
type cost struct{ start, step float64 }

const (
	enoughSteps = 8   // that a run is not cut below while there are rounds to cut
	leastSteps  = 3   // that it is not cut below: the first is not timed
	probeSteps  = 2   // that a probe takes at least, however long they are
	reserve     = 0.9 // of the budget is planned: runs may take longer than predicted
)

// fit cuts a plan to a time. Every group of comparable rows gets an equal part of it, and leaves to the
// others what it does not need. Within a group steps are cut first, equally for all rows, then
// rounds; at last the rows that take longest are left out.
func (p Plan) fit(budget float64, costs []cost) (Plan, Fitted) {
	groups := p.groups()
	slices.SortStableFunc(groups, func(a, b []int) int {
		return cmp.Compare(p.seconds(a, costs, p.steps(a), 1), p.seconds(b, costs, p.steps(b), 1))
	})
	var fitted Fitted
	rows, isLeft := slices.Clone(p.Rows), make([]bool, len(p.Rows))
	for i, group := range groups {
		share := (budget - fitted.Seconds) / float64(len(groups)-i)
		kept, steps, rounds := p.cut(group, costs, share)
		for _, at := range group {
			rows[at], isLeft[at] = rows[at].cut(steps, rounds), !slices.Contains(kept, at)
		}
		if len(kept) > 0 {
			steps = rows[kept[0]].NumSteps(rows[kept[0]].LimitTrain) // in whole epochs
		}
		seconds := p.seconds(kept, costs, steps, rounds)
		fitted.Seconds += seconds
		fitted.Runs += rounds * len(kept)
		fitted.Groups = append(fitted.Groups, p.line(group, kept, steps, rounds, seconds))
	}
	p.Asked, p.Repeats, p.Rows = p.Repeats, 0, nil
	for at, r := range rows {
		if isLeft[at] {
			fitted.Left++
			p.Skipped = append(p.Skipped, r.skipped(record.BeyondBudget))
			continue
		}
		p.Rows = append(p.Rows, r)
		p.Repeats = max(p.Repeats, r.Rounds)
	}
	return p, fitted
}

// steps returns the length of a group's runs in steps.
func (p Plan) steps(group []int) int { return p.Rows[group[0]].NumSteps(p.Rows[group[0]].LimitTrain) }

// seconds returns the expected time of so many rounds of some rows.
func (p Plan) seconds(rows []int, costs []cost, steps, rounds int) float64 {
	sum := 0.0
	for _, at := range rows {
		sum += costs[at].start + float64(steps)*costs[at].step
	}
	return float64(rounds) * sum
}

// cut returns the rows of a group that fit a time, their steps and their rounds. A baseline is left out last.
func (p Plan) cut(group []int, costs []cost, seconds float64) (kept []int, steps, rounds int) {
	wanted, first := p.steps(group), p.Rows[group[0]]
	enough := min(enoughSteps, wanted)
	if first.Epochs > 0 { // an epoch ends with an evaluation
		enough = max(enough, min(wanted, first.StepsPerEpoch(first.LimitTrain)))
	}
	kept = slices.Clone(group)
	slices.SortStableFunc(kept, func(a, b int) int {
		return cmp.Or(cmp.Compare(min(2, p.Rows[a].Workers), min(2, p.Rows[b].Workers)),
			cmp.Compare(costs[a].step, costs[b].step))
	})
	for {
		for rounds = p.Repeats; rounds >= 1; rounds-- {
			steps = p.fitting(kept, costs, seconds/float64(rounds), wanted)
			if steps >= enough || rounds == 1 && steps >= min(leastSteps, wanted) {
				return kept, steps, rounds
			}
		}
		if len(kept) == 0 {
			return nil, 0, 0
		}
		kept = kept[:len(kept)-1]
	}
}

// fitting returns how many steps of some rows fit a time, at most wanted.
func (p Plan) fitting(rows []int, costs []cost, seconds float64, wanted int) int {
	fixed := p.seconds(rows, costs, 0, 1)
	each := p.seconds(rows, costs, 1, 1) - fixed
	if len(rows) == 0 || fixed+float64(wanted)*each <= seconds {
		return wanted
	}
	return max(0, int((seconds-fixed)/each))
}

// cut returns the row with a length of so many steps, in whole epochs if it was in epochs and has one.
func (r Row) cut(steps, rounds int) Row {
	r.Rounds = rounds
	wanted := r.NumSteps(r.LimitTrain)
	switch epoch := r.StepsPerEpoch(r.LimitTrain); {
	case steps >= wanted:
	case r.Epochs > 0 && steps >= epoch:
		r.Epochs = steps / epoch
	default:
		r.Steps, r.Epochs, r.EvalEvery = steps, 0, 0
	}
	return r
}

// line says what is left of a group.
func (p Plan) line(group, kept []int, steps, rounds int, seconds float64) string {
	r := p.Rows[group[0]]
	name := strings.TrimSpace(fmt.Sprintf("%s %s batch %d %s", r.Model, r.Data, r.Batch, r.Condition.Name))
	return fmt.Sprintf("%s: %d of %d rows, %s of %d steps (%d asked for), %v", name, len(kept), len(group),
		spelling.Count(rounds, "round"), steps, p.steps(group), time.Duration(seconds*1e9).Round(time.Second))
}

// costsOf predicts the costs of the rows from a probe of each model on its data, by as many workers as any
// row has.
func costsOf(ctx context.Context, p Plan, o Options) ([]cost, error) {
	costs, isKnown := make([]cost, len(p.Rows)), make([]bool, len(p.Rows))
	for i, r := range p.Rows {
		if isKnown[i] {
			continue
		}
		isLike := func(other Row) bool {
			return other.Model == r.Model && other.Data == r.Data && other.Batch == r.Batch
		}
		widest := r
		for _, other := range p.Rows {
			if isLike(other) && other.Workers > widest.Workers {
				widest = other
			}
		}
		widest.SlowWorkers = nil
		started := time.Now()
		probe, err := o.Probe(ctx, widest.Config, o.Job)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", widest.Name(), err)
		}
		took := time.Since(started).Seconds()
		for at, other := range p.Rows {
			if isLike(other) {
				costs[at], isKnown[at] = other.cost(probe, took), true
			}
		}
	}
	return costs, nil
}

// budgeted cuts the plan to the budget.
func budgeted(ctx context.Context, p Plan, budget time.Duration, o Options) (Plan, Fitted, error) {
	begin := time.Now()
	for _, r := range p.Rows {
		if r.LimitTrain < 0 && r.Steps == 0 {
			return p, Fitted{}, setting.Refuse("--budget: it cuts the steps of runs, and how many steps an "+
				"epoch of %s has is not known before its files are read; want --steps, or --limit-train "+
				"with --epochs", r.Data)
		}
	}
	costs, err := costsOf(ctx, p, o)
	if err != nil {
		return p, Fitted{}, err
	}
	left := reserve * (budget - time.Since(begin)).Seconds()
	fitted, what := p.fit(left, costs)
	if len(fitted.Rows) > 0 {
		return fitted, what, nil
	}
	enough := left
	for len(fitted.Rows) == 0 {
		enough = 1.05*max(enough, 0) + 1
		fitted, _ = p.fit(enough, costs)
	}
	wanted := budget + time.Duration((enough-left)/reserve*1e9)
	return p, what, setting.Refuse("--budget %v: not even %d steps of one row fit; want at least %v", budget,
		leastSteps, wanted.Round(time.Second))
}

// cost predicts the time of a run from a probe of its model that took so many seconds in all.
func (r Row) cost(probe record.Probe, probing float64) (c cost) {
	c.start = max(0.3, probing-max(chooser.ProbeTime.Seconds(), probeSteps*slices.Max(probe.Compute)))
	sample := probe.Forward / float64(r.StepBatch()) // of an evaluation: all workers share the samples
	if all := max(0, float64(r.LimitTest)) * sample; r.EvalEvery > 0 {
		c.step = all / float64(r.EvalEvery*max(1, r.StepsPerEpoch(r.LimitTrain)))
	} else {
		c.start += all
	}
	switch {
	case r.Peer != "":
		c.start++
	case r.Strategy == setting.Auto:
		c.start += 8 // of its short runs
	}
	if r.Workers == 1 {
		for _, one := range probe.Compute {
			c.step += one / float64(r.Threads)
		}
		c.step += probe.Update
	} else {
		c.step += r.predicted(probe)
	}
	if r.Peer != "" {
		c.step *= 1.5
	}
	return c
}

// predicted returns the predicted seconds of a step of several workers, with their slowness and their links.
func (r Row) predicted(probe record.Probe) float64 {
	probe.Compute = slices.Clone(probe.Compute)
	for rank := range probe.Compute {
		factor, delay := r.SlowWorkers.At(rank, r.NumSteps(r.LimitTrain))
		probe.Compute[rank] = factor*probe.Compute[rank] + delay.Seconds()
	}
	if l := r.Condition.Link; r.isApart() {
		probe.Link.Latency += 2e-4 + l.Delay.Seconds()
		if l.Rate > 0 {
			probe.Link.Byte = max(probe.Link.Byte, 8/l.Rate)
		}
	}
	probe.AverageEvery = float64(r.AverageEvery)
	return choice.Predict(probe, choice.Way{Strategy: r.Strategy, Options: r.Options}).Step
}
