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
)

// Fitted says what is left of a plan within its budget.
type Fitted struct {
	Seconds float64  // expected, of all runs
	Runs    int      // expected
	Groups  []string // what each group of comparable rows does, as a line for people
	Left    int      // rows that are left out

	Precision float64 // that rounds are added for while the budget lasts; 0: none are
}

// cost is the expected time of a run: that of starting and ending it, and of a step, in seconds. Evaluations
// belong to the steps.
type cost struct{ start, step float64 }

// leastSteps is the length that a run is not cut below: a shorter one has too few steps to time.
const leastSteps = 8

// fit cuts a plan to a time. Every group of comparable rows gets an equal part of it, and leaves to the
// others what it does not need. Within a group steps are cut first, equally for all rows, then
// rounds; at last the rows that take longest are left out.
func (p Plan) fit(budget float64, costs []cost) (Plan, Fitted) {
	groups := p.groups()
	slices.SortStableFunc(groups, func(a, b []int) int {
		return cmp.Compare(p.seconds(a, costs, p.steps(a), 1), p.seconds(b, costs, p.steps(b), 1))
	})
	fitted := Fitted{Precision: p.Precision}
	rows := slices.Clone(p.Rows)
	var left []int
	for i, group := range groups {
		share := (budget - fitted.Seconds) / float64(len(groups)-i)
		kept, steps, rounds := p.cut(group, costs, share)
		for _, at := range group {
			if !slices.Contains(kept, at) {
				left = append(left, at)
				continue
			}
			rows[at] = rows[at].cut(steps, rounds)
		}
		if len(kept) > 0 {
			steps = rows[kept[0]].NumSteps(rows[kept[0]].LimitTrain) // in whole epochs
		}
		seconds := p.seconds(kept, costs, steps, rounds)
		fitted.Seconds += seconds
		fitted.Runs += rounds * len(kept)
		fitted.Groups = append(fitted.Groups, p.line(group, kept, steps, rounds, seconds))
	}
	p.Asked, p.Repeats = p.Repeats, 0
	for at, r := range rows {
		if !slices.Contains(left, at) {
			p.Repeats = max(p.Repeats, r.Rounds)
		}
	}
	slices.Sort(left)
	for _, at := range slices.Backward(left) {
		p.Skipped = append(p.Skipped, rows[at].skipped(record.BeyondBudget))
		rows = slices.Delete(rows, at, at+1)
	}
	fitted.Left = len(left)
	p.Rows = rows
	return p, fitted
}

// groups returns the indices of the rows that are compared with one another.
func (p Plan) groups() [][]int {
	var order []string
	groups := map[string][]int{}
	for i, r := range p.Rows {
		key := fmt.Sprint(r.Model, " ", r.Data, " ", r.Batch, " ", r.Condition.Name)
		if r.PerWorker > 0 { // rows of several batches, which are compared by their samples per second
			key = fmt.Sprint(r.Model, " ", r.Data, " ", r.PerWorker, " each ", r.Condition.Name)
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	var out [][]int
	for _, key := range order {
		out = append(out, groups[key])
	}
	return out
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
	least := min(leastSteps, wanted)
	epoch := least // is not cut while there are rounds to cut: it ends with an evaluation
	if first.Epochs > 0 {
		epoch = max(least, min(wanted, first.StepsPerEpoch(first.LimitTrain)))
	}
	kept = slices.Clone(group)
	slices.SortStableFunc(kept, func(a, b int) int {
		return cmp.Or(cmp.Compare(min(2, p.Rows[a].Workers), min(2, p.Rows[b].Workers)),
			cmp.Compare(costs[a].step, costs[b].step))
	})
	for {
		for rounds = p.Repeats; rounds >= 1; rounds-- {
			steps = p.fitting(kept, costs, seconds/float64(rounds), wanted)
			if steps >= epoch || rounds == 1 && steps >= least {
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
	if len(kept) == 0 {
		return fmt.Sprintf("%s: none of %d rows", name, len(group))
	}
	word := "rounds"
	if rounds == 1 {
		word = "round"
	}
	return fmt.Sprintf("%s: %d of %d rows, %d %s of %d steps (%d asked for), %v", name, len(kept),
		len(group), rounds, word, steps, p.steps(group), time.Duration(seconds*1e9).Round(time.Second))
}

// budgeted cuts the plan to the budget, with costs predicted from a probe of each model on its data.
func budgeted(ctx context.Context, p Plan, budget time.Duration, o Options) (Plan, Fitted, error) {
	begin := time.Now()
	costs := make([]cost, len(p.Rows))
	for i := 0; i < len(p.Rows); {
		r := p.Rows[i]
		if r.LimitTrain < 0 && r.Steps == 0 {
			return p, Fitted{}, usage("--budget: it cuts the steps of runs, and how many steps an epoch of "+
				"%s has is not known before its files are read; want --steps, or --limit-train with --epochs",
				r.Data)
		}
		n := i
		for n < len(p.Rows) && p.Rows[n].isLike(r) {
			n++
		}
		widest := slices.MaxFunc(p.Rows[i:n], func(a, b Row) int { return cmp.Compare(a.Workers, b.Workers) })
		widest.SlowWorkers = nil
		started := time.Now()
		probe, err := o.Probe(ctx, widest.Config, o.Job)
		if err != nil {
			return p, Fitted{}, fmt.Errorf("%s: %w", widest.Name(), err)
		}
		for ; i < n; i++ {
			costs[i] = p.Rows[i].cost(probe, time.Since(started).Seconds()).peer(p.Rows[i])
		}
	}
	left := budget.Seconds() - time.Since(begin).Seconds()
	fitted, what := p.fit(left, costs)
	if len(fitted.Rows) == 0 {
		enough := left
		for len(fitted.Rows) == 0 {
			enough = 1.05*max(enough, 0) + 1
			fitted, _ = p.fit(enough, costs)
		}
		wanted := budget + time.Duration((enough-left)*1e9)
		return p, what, usage("--budget %v: not even %d steps of one row fit; want at least %v", budget,
			leastSteps, wanted.Round(time.Second))
	}
	return fitted, what, nil
}

// skipped returns the note of a row that is left out.
func (r Row) skipped(reason string) record.Skip {
	of := strings.Join([]string{r.Strategy, r.layout(), r.ownSettings(), r.wire(), r.Condition.Name}, " ")
	return record.Skip{Model: r.Model, Workers: r.Workers, Reason: reason,
		Strategy: strings.Join(strings.Fields(of), " ")}
}

// isLike reports whether both rows train one model on the same batches.
func (r Row) isLike(other Row) bool {
	return r.Model == other.Model && r.Data == other.Data && r.Batch == other.Batch
}

// cost predicts the time of a run from a probe of its model that took so many seconds in all.
func (r Row) cost(probe record.Probe, probing float64) cost {
	c := cost{start: max(0.3, probing-chooser.ProbeTime.Seconds())}
	if r.Workers == 1 {
		for _, one := range probe.Compute {
			c.step += one / float64(r.Threads)
		}
		c.step += probe.Update
		return c.withEvaluations(r, probe)
	}
	probe.Compute = slices.Clone(probe.Compute)
	for rank := range probe.Compute {
		probe.Compute[rank] *= r.SlowWorkers.At(rank, r.NumSteps(r.LimitTrain))
	}
	if l := r.Condition.Link; r.isApart() {
		c.start += 0.5 // hosts are made
		probe.Link.Latency += 2e-4 + l.Delay.Seconds()
		if l.Rate > 0 {
			probe.Link.Byte = max(probe.Link.Byte, 8/l.Rate)
		}
	}
	probe.AverageEvery = float64(r.AverageEvery)
	c.step = choice.Predict(probe, r.way()).Step
	if r.Strategy == setting.Auto {
		c.start += 8 // of its short runs
	}
	return c.withEvaluations(r, probe)
}

// withEvaluations adds the time of evaluations: forward passes of the test samples.
func (c cost) withEvaluations(r Row, probe record.Probe) cost {
	sample := probe.Forward / float64(r.StepBatch()) // all workers share the samples
	if all := max(0, float64(r.LimitTest)) * sample; r.EvalEvery > 0 {
		c.step += all / float64(r.EvalEvery*max(1, r.StepsPerEpoch(r.LimitTrain)))
	} else {
		c.start += all
	}
	return c
}

// way returns the strategy with those of its settings that the prediction knows.
func (r Row) way() choice.Way {
	var known []string
	for part := range strings.SplitSeq(r.Options, "+") {
		switch name, _, _ := strings.Cut(part, "="); name {
		case "servers", "server-place", "overlap-forward", "rebalance":
			known = append(known, part)
		}
	}
	return choice.Way{Strategy: r.Strategy, Options: strings.Join(known, "+")}
}
