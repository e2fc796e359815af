package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/app/evidence/question"
	"lockstep/app/host"
	"lockstep/app/job/chooser"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
	"lockstep/cluster"
	"lockstep/internal/spelling"
)

// Fitted says what is left of a plan within its budget.
type Fitted struct {
	Seconds float64  // expected, of all runs
	Runs    int      // expected
	Groups  []string // what each group of comparable rows does, as a line for people
	Left    int      // rows that are left out
	Kept    float64  // seconds for runs that confirm causes
	rounds  int      // of the kept rows with fewest
}

// cost is the expected time of a run: that of starting and ending it, and of a step, in seconds. Evaluations
// belong to the steps. Of a row that trains for a time a second counts as one, and pace is one of its own.
type cost struct{ start, step, pace float64 }

const (
	leastSteps = 3   // that no run is cut below: the first is not timed
	timedSteps = 10  // of a row that trains for a time, which is not cut below 2 s either
	mostRounds = 20  // of rows of which a question is not decided, see 0036
	probeSteps = 2   // that a probe takes at least, however long they are
	reserve    = 0.9 // of the budget is planned: runs may take longer than predicted
	// keep of it is for runs that confirm causes; half or a quarter if it costs rows or a sixth round.
	keep = 0.25
)

// fit cuts a plan to a time. Every bundle of rows gets the part of it that lets all have as many of their
// shortest rounds or, if not all have one, an equal part; it leaves to the others what it does not need.
// Within a bundle the length is cut first, equally for all rows, then rounds, of which few decide nothing;
// more than enough are not worth runs that mostly start. At last the rows that take longest are left out.
func (p Plan) fit(budget float64, costs []cost) (Plan, Fitted) {
	all := p.bundles(costs)
	slices.SortStableFunc(all, func(a, b bundle) int {
		return cmp.Compare(a.seconds(a.rows, costs, a.wanted, 1), b.seconds(b.rows, costs, b.wanted, 1))
	})
	fitted := Fitted{rounds: p.Repeats}
	rows, isLeft := slices.Clone(p.Rows), make([]bool, len(p.Rows))
	for i, b := range all {
		left := budget - fitted.Seconds
		share := left / float64(len(all)-i)
		if least := leastOf(all[i:], costs); least <= left {
			share = left * leastOf(all[i:i+1], costs) / least
		}
		kept, length, rounds := b.cut(costs, p.Repeats, share)
		length = b.whole(length)
		for _, at := range b.rows {
			rows[at], isLeft[at] = b.shortened(at, length, rounds), !slices.Contains(kept, at)
		}
		seconds := b.seconds(kept, costs, length, rounds)
		fitted.Seconds += seconds
		fitted.Runs += rounds * len(kept)
		fitted.Groups = append(fitted.Groups, p.line(b, kept, rows, rounds, seconds))
	}
	p.Asked, p.Repeats, p.Rows = p.Repeats, 0, nil
	for at, r := range rows {
		if isLeft[at] {
			fitted.Left++
			p.Skipped = append(p.Skipped, r.skipped(record.BeyondBudget))
			continue
		}
		p.Rows = append(p.Rows, r)
		p.Repeats, fitted.rounds = max(p.Repeats, r.Rounds), min(fitted.rounds, r.Rounds)
	}
	return p, fitted
}

// leastOf returns the seconds of a round of all rows of some bundles, cut as short as runs are.
func leastOf(some []bundle, costs []cost) (sum float64) {
	for _, b := range some {
		sum += b.seconds(b.rows, costs, b.least, 1)
	}
	return sum
}

// line says what is left of a bundle.
func (p Plan) line(b bundle, kept []int, rows []Row, rounds int, seconds float64) string {
	var names []string
	for _, at := range b.rows {
		r := p.Rows[at]
		name := strings.TrimSpace(fmt.Sprintf("%s %s batch %d %s", r.Model, r.Data, r.Batch,
			r.Condition.Name))
		steps, unit := rows[at].length()*min(len(kept), 1), "steps"
		if r.For != "" {
			unit = "seconds"
		}
		name += fmt.Sprintf(" of %d %s (%d asked for)", steps, unit, r.length())
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return fmt.Sprintf("%s: %d of %d rows, %s, %v", strings.Join(names, ", "), len(kept), len(b.rows),
		spelling.Count(rounds, "round"), time.Duration(seconds*1e9).Round(time.Second))
}

// costsOf predicts the costs of the rows from a probe of each model on its data, by as many workers as any
// row has.
func costsOf(ctx context.Context, p Plan, o Options) ([]cost, error) {
	costs, isKnown := make([]cost, len(p.Rows)), make([]bool, len(p.Rows))
	for i, r := range p.Rows {
		if isKnown[i] || ctx.Err() != nil {
			continue
		}
		isLike := func(w Row) bool { return w.Model == r.Model && w.Data == r.Data && w.Batch == r.Batch }
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
			if isLike(other) && ctx.Err() == nil { // each is a simulation
				costs[at], isKnown[at] = other.cost(probe, took, o.cores(widest)/o.cores(other)), true
			}
		}
	}
	return costs, ctx.Err()
}

// budgeted cuts the plan to the budget.
func budgeted(ctx context.Context, p Plan, budget time.Duration, o Options) (Plan, Fitted, error) {
	begin := time.Now()
	for _, r := range p.Rows {
		if r.LimitTrain < 0 && r.Steps == 0 && r.For == "" {
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
		for share := keep; share >= keep/4 && o.Confirm != nil && question.AsksWhy(p.Inquiry); share /= 2 {
			shorter, of := p.fit((1-share)*left, costs)
			isEnough := of.rounds >= min(what.rounds, 6) || share == keep/4
			if isEnough && of.Left <= what.Left && len(shorter.Rows) > 0 {
				shorter.Kept, of.Kept = share*left, share*left
				return shorter, of, nil
			}
		}
		return fitted, what, nil
	}
	enough := left
	for len(fitted.Rows) == 0 {
		enough = 1.05*max(enough, 0) + 1
		fitted, _ = p.fit(enough, costs)
	}
	with := func(seconds float64) time.Duration {
		return (budget + time.Duration((seconds-left)/reserve*1e9)).Truncate(time.Second) + time.Second
	}
	return p, what, setting.Refuse("--budget %v: not even %d steps of one row fit; a round of all %d rows "+
		"takes %v, want at least %v", budget, p.leastSteps(p.Rows[0], p.bundles(costs)[0].rows),
		len(p.Rows), with(leastOf(p.bundles(costs), costs)), with(enough))
}

// cores returns those of a worker of the row: one for each thread, or less where workers share a machine's.
func (o Options) cores(r Row) float64 {
	if e := o.Job.Environment; e.NumSlots() > 0 && e[cluster.EnvLab] == "" && !r.Condition.IsApart() {
		return float64(r.Threads)
	}
	return min(float64(r.Threads), float64(host.Cores())/float64(r.Workers))
}

// cost predicts the time of a run from a probe of its model that took so long, whose workers had so many
// times the cores of the row's. What it took beside steps is starting: a worker as long as another, what is
// done once as two.
func (r Row) cost(probe record.Probe, probing, coreRatio float64) (c cost) {
	starting := probing - max(chooser.ProbeTime.Seconds(), probeSteps*slices.Max(probe.Compute))
	c.start = max(0.3, starting*float64(2+r.Workers)/float64(2+len(probe.Compute)))
	// of an evaluation: all workers share the samples
	sample := coreRatio * probe.Forward * float64(len(probe.Compute)) / float64(r.Workers*r.StepBatch())
	if all := max(0, float64(r.LimitTest)) * sample; r.EvalEvery > 0 {
		c.step = all / float64(r.EvalEvery*max(1, r.StepsPerEpoch(r.LimitTrain)))
	} else {
		c.start += all
	}
	if r.Workers == 1 {
		for _, one := range probe.Compute {
			c.step += coreRatio * one
		}
		c.step += probe.Update
	} else {
		c.step += r.predicted(probe, coreRatio)
	}
	switch {
	case r.Peer != "":
		c.start, c.step = c.start+1, 1.5*c.step
	case r.Strategy == setting.Auto:
		c.start += 8 // of its short runs
	}
	if r.For != "" {
		c.pace, c.step = c.step, 1
	}
	return c
}

// predicted returns the predicted seconds of a step of several workers, with their slowness and their links.
func (r Row) predicted(probe record.Probe, coreRatio float64) float64 {
	probe.Compute, probe.Backward = slices.Clone(probe.Compute), coreRatio*probe.Backward
	probe.IsCrowded = chooser.IsCrowded(r.Config)
	for rank := range probe.Compute {
		factor, delay := r.SlowWorkers.Of(rank)
		probe.Compute[rank] = factor*coreRatio*probe.Compute[rank] + delay.Seconds()
	}
	if l := r.Condition.Link; r.isApart() {
		probe.Link.Latency += 2e-4 + l.Delay.Seconds()
		if l.Rate > 0 {
			probe.Link.Byte = max(probe.Link.Byte, 8/l.Rate)
		}
	}
	if r.Strategy == setting.Auto {
		r.Strategy = strategy.DDP
	}
	t, err := chooser.Predict(probe, r.Config)
	if err != nil { // the run will say why
		return slices.Max(probe.Compute)
	}
	return t.Step
}
