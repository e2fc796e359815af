package bench

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"lockstep/app/evidence/question"
	"lockstep/app/record"
)

// bundle is rows that a budget cuts to one length: those of a group, and those of other groups whose result
// or total time a question or the reference sets beside theirs. What runs reach says nothing about batches of
// 32 and 256 unless they have seen as many samples. A length is a number of units.
type bundle struct {
	plan   Plan
	rows   []int // of the plan
	unit   int   // samples
	least  int   // units that it is not cut below: the first step is not timed
	wanted int   // units of the plan's length
}

// bundles returns the rows of the plan in the bundles that a budget cuts.
func (p Plan) bundles(costs []cost) (all []bundle) {
	blocks := p.blocks()
	asked, beside := p.links()
	for _, linked := range append(slices.Clone(asked), beside) {
		for _, at := range linked {
			from, to := blocks[at], blocks[linked[0]]
			for i := range blocks {
				if blocks[i] == from {
					blocks[i] = to
				}
			}
		}
	}
	for _, rows := range gathered(blocks) {
		b := bundle{plan: p, rows: rows}
		b.measure(asked, costs)
		all = append(all, b)
	}
	return all
}

// links returns rows whose results or total times stand beside one another: those of each question, which
// divides them by one another, and those of the reference.
func (p Plan) links() (asked [][]int, beside []int) {
	if p.Inquiry == nil {
		return nil, nil
	}
	for _, q := range p.Inquiry.Questions {
		if question.GrowsWithLength(q.Quantity) {
			asked = append(asked, p.chosen(append(slices.Clone(q.Over), q.Of)))
		}
	}
	ref := p.Inquiry.Reference
	if slices.ContainsFunc(ref.Quantities(), question.GrowsWithLength) {
		var all []record.Selector
		for _, r := range ref.Rows {
			all = append(all, r.Is)
		}
		beside = p.chosen(all)
	}
	return asked, beside
}

// asked returns the rows that questions ask for; none without questions.
func (p Plan) asked() []int {
	var all []record.Selector
	if p.Inquiry != nil {
		for _, q := range p.Inquiry.Questions {
			all = append(append(all, q.Of), q.Over...)
		}
	}
	return p.chosen(all)
}

// chosen returns the rows that selectors choose: the first one of each.
func (p Plan) chosen(by []record.Selector) (rows []int) {
	for _, is := range by {
		at := slices.IndexFunc(p.Rows, func(r Row) bool { return is.Chooses(r.Setting()) })
		if at >= 0 {
			rows = append(rows, at)
		}
	}
	return rows
}

// leastSteps returns the steps below which no run of a row, one of some, is cut: those whose loss is asked
// for, those that are timed, or cut up by a question, and an epoch where one asks what training reaches.
func (p Plan) leastSteps(of Row, rows []int) int {
	least := leastSteps
	if p.Inquiry == nil {
		return least
	}
	for _, q := range p.Inquiry.Questions {
		least = max(least, question.LossAt(q.Quantity))
		isOfThese := func(at int) bool { return slices.Contains(rows, at) }
		switch {
		case !slices.ContainsFunc(p.chosen(append(slices.Clone(q.Over), q.Of)), isOfThese):
		case question.IsOfRows(q.Quantity):
			least = max(least, causeSteps)
		case slices.Contains([]string{"accuracy", "best", "loss"}, q.Quantity) && of.For == "":
			least = max(least, of.StepsPerEpoch(of.LimitTrain))
		}
	}
	return least
}

// enough is how many rounds are worth runs that take less time than they start.
const enough = 8

// causeSteps is how many steps of a row are cut up at least: the first two say nothing.
const causeSteps = 6

// measure fills the lengths of a bundle. Its unit is the least number of samples that is whole steps of every
// row that a question divides by others; if that is longer than the runs are, a step of the first row.
func (b *bundle) measure(asked [][]int, costs []cost) {
	first := b.plan.Rows[b.rows[0]]
	b.unit = first.samples()
	common, shortest := b.unit, first.samples()*first.length()
	for _, linked := range asked {
		if len(linked) == 0 || !slices.Contains(b.rows, linked[0]) {
			continue // in another bundle
		}
		for _, at := range linked {
			r := b.plan.Rows[at]
			if shortest = min(shortest, r.samples()*r.length()); common <= shortest {
				common *= r.samples() / divisor(common, r.samples())
			}
		}
	}
	if common*leastSteps <= shortest {
		b.unit = common
	}
	for _, at := range b.rows {
		r := b.plan.Rows[at]
		b.wanted = max(b.wanted, b.units(at, r.length()))
		least := b.plan.leastSteps(r, b.rows)
		if r.For != "" {
			least = max(2, int(math.Ceil(timedSteps*costs[at].pace)))
		}
		b.least = max(b.least, b.units(at, min(least, r.length())))
	}
}

// samples returns the samples of a step of the row, as its group counts them: where the batch grows with the
// workers, rows are compared after as many steps. A second of a row that trains for a time counts as one.
func (r Row) samples() int {
	if r.For != "" {
		return 1
	}
	return cmp.Or(r.PerWorker, r.StepBatch())
}

// divisor returns the greatest common divisor of two numbers.
func divisor(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

// units returns the units that so many steps of a row need.
func (b *bundle) units(at, steps int) int {
	return (steps*b.plan.Rows[at].samples() + b.unit - 1) / b.unit
}

// steps returns the steps of a row in so many units.
func (b *bundle) steps(at, units int) int { return units * b.unit / b.plan.Rows[at].samples() }

// epochs returns the epochs that every row has in so many units; 0: none, or the length is in steps.
func (b *bundle) epochs(units int) int {
	least := -1
	for _, at := range b.rows {
		n, r := 0, b.plan.Rows[at]
		if r.Epochs > 0 {
			n = b.steps(at, units) / r.StepsPerEpoch(r.LimitTrain)
		}
		if least < 0 || n < least {
			least = n
		}
	}
	return least
}

// whole returns so many units, without those behind the last epoch if there is one.
func (b *bundle) whole(units int) int {
	first := b.plan.Rows[b.rows[0]]
	if n := b.epochs(units); n > 0 && units < b.wanted {
		return b.units(b.rows[0], n*first.StepsPerEpoch(first.LimitTrain))
	}
	return units
}

// shortened returns a row with a length of so many units, in whole epochs if it was in epochs and all rows
// have one.
func (b *bundle) shortened(at, units, rounds int) Row {
	r, n := b.plan.Rows[at], b.epochs(units)
	r.Rounds = rounds
	switch {
	case units >= b.wanted:
	case r.For != "":
		r.For = (time.Duration(b.steps(at, units)) * time.Second).String()
	case n > 0:
		r.Epochs = n
	default:
		r.Steps, r.Epochs = b.steps(at, units), 0
		if epoch := r.StepsPerEpoch(r.LimitTrain); epoch < 1 || r.Steps < epoch {
			r.EvalEvery = 0
		}
	}
	return r
}

// seconds returns the expected time of so many rounds of some rows.
func (b *bundle) seconds(rows []int, costs []cost, units, rounds int) float64 {
	sum := 0.0
	for _, at := range rows {
		sum += costs[at].start + float64(b.steps(at, units))*costs[at].step
	}
	return float64(rounds) * sum
}

// cut returns the rows that fit a time, their length and their rounds. Rows that no question asks for are
// left out first, a baseline last.
func (b *bundle) cut(costs []cost, repeats int, seconds float64) (kept []int, units, rounds int) {
	kept = slices.Clone(b.rows)
	asked := b.plan.asked()
	last := func(at int) int {
		switch {
		case b.plan.Rows[at].Workers == 1:
			return 0
		case slices.Contains(asked, at):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(kept, func(x, y int) int {
		return cmp.Or(last(x)-last(y), cmp.Compare(costs[x].step*float64(b.steps(x, b.wanted)),
			costs[y].step*float64(b.steps(y, b.wanted))))
	})
	for ; len(kept) > 0; kept = kept[:len(kept)-1] {
		for rounds = repeats; rounds >= 1; rounds-- {
			units = b.fitting(kept, costs, seconds/float64(rounds))
			isWorth := units == b.wanted || b.seconds(kept, costs, units, 1) >= 2*b.seconds(kept, costs, 0, 1)
			if units >= b.least && (isWorth || rounds <= enough) {
				return kept, units, rounds
			}
		}
	}
	return nil, 0, 0
}

// fitting returns how many units of some rows fit a time, at most those wanted.
func (b *bundle) fitting(rows []int, costs []cost, seconds float64) int {
	return max(0, sort.Search(b.wanted+1, func(units int) bool {
		return b.seconds(rows, costs, units, 1) > seconds
	})-1)
}
