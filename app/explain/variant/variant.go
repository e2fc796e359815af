package variant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/app/bench"
	"lockstep/app/evidence/stat"
	"lockstep/app/explain"
	"lockstep/app/record"
	"lockstep/app/setting"
	"lockstep/app/strategy"
)

// Experiment is a plan of runs for pairs of sides, which share the rows that they have in common.
type Experiment struct {
	Plan  bench.Plan
	Pairs []*Pair
	times []timing // of the plan's rows
}

// timing is how many seconds starting and ending a run of a row takes, and a step of it, or less.
type timing struct{ start, step float64 }

// Pair is two sides with what their rows in the plan are for.
type Pair struct {
	Sides    [2]explain.Side   // as recorded; one without runs is an ideal, which was not
	Again    [2]int            // rows of the plan that run them again
	Variants []explain.Variant // of either, without their runs
	Rows     []int             // of the variants in the plan

	of    *Experiment
	rows  [2]bench.Row
	names [2]string // in the texts of variants
	times [2]timing
}

// SideOf returns the side that a subject is.
func SideOf(s bench.Subject) explain.Side { return sideOf(s.Name, s.Row, &s.Record) }

func sideOf(name string, row bench.Row, r *record.Row) explain.Side {
	side := explain.NewSide(name, r)
	if link := row.Condition.Link; row.Condition.IsApart() && row.Workers > 1 {
		side.Link = &explain.Link{BytesPerSecond: link.Rate / 8}
	}
	return side
}

// maxVariants bounds the variants of a pair: more would leave few rounds for each.
const maxVariants = 4

// New plans the runs that the terms of a first explanation of two sides want. budget is the time for all.
func New(a, b bench.Subject, first *explain.Explanation, budget time.Duration) *Experiment {
	x := start()
	x.ask(a, b, first, [2]string{"A", "B"})
	x.fit(budget)
	return x
}

// IsSettled reports whether more runs have nothing to tell: of rows that are set alike, and that rounds
// enough do not tell apart.
func IsSettled(a, b bench.Subject, first *explain.Explanation) bool {
	return textOf(plain(a.Row)) == textOf(plain(b.Row)) && !first.IsTold &&
		min(first.A.Runs, first.B.Runs) >= stat.LeastRounds
}

func start() *Experiment { return &Experiment{Plan: bench.Plan{Copies: 1, Order: 1}} }

// pair adds two sides, each with a row of its own.
func (x *Experiment) pair(rows [2]bench.Row, sides [2]explain.Side, times [2]timing, names [2]string) *Pair {
	p := &Pair{Sides: sides, of: x, rows: rows, names: names, times: times}
	p.Again[0] = x.row(rows[0], times[0], -1)
	p.Again[1] = x.row(rows[1], times[1], p.Again[0])
	x.Pairs = append(x.Pairs, p)
	return p
}

// row returns the number of a row of the plan, but for one, and adds it if it is not there.
func (x *Experiment) row(row bench.Row, takes timing, but int) int {
	for at, other := range x.Plan.Rows {
		if at != but && textOf(other) == textOf(row) {
			return at
		}
	}
	x.Plan.Rows, x.times = append(x.Plan.Rows, row), append(x.times, takes)
	return len(x.times) - 1
}

// timingOf tells from a subject's runs how long another one takes, given the milliseconds of a step.
func timingOf(s bench.Subject, stepMS float64) timing {
	t := timing{startSeconds, max(stepMS, 1e-3) / 1e3}
	if s.Row.Condition.IsApart() && s.Row.Workers > 1 {
		t.start = labSeconds
	}
	var beside []float64
	for _, r := range s.Record.Runs {
		if r.Error == "" {
			beside = append(beside, r.Wall-r.Seconds)
		}
	}
	if m := stat.Median(beside); m > t.start {
		t.start = m
	}
	return t
}

// ask adds the runs that the terms of a first explanation of two sides want.
func (x *Experiment) ask(a, b bench.Subject, first *explain.Explanation, names [2]string) {
	p := x.pair([2]bench.Row{plain(a.Row), plain(b.Row)}, [2]explain.Side{SideOf(a), SideOf(b)},
		[2]timing{timingOf(a, first.A.StepMS), timingOf(b, first.B.StepMS)}, names)
	p.align()
	// Sides that differ in nothing, or in one setting that was aligned, have no more to tell.
	isAll := textOf(p.rows[0]) == textOf(p.rows[1]) || slices.Contains(p.Rows, p.Again[0])
	for _, t := range first.Large() {
		if isAll || len(p.Variants) >= maxVariants {
			continue
		}
		for _, isB := range sidesOf(t.Cost(), t.MS > 0, p.rows) {
			p.intervene(isB, t.Cost())
		}
	}
}

// Ideal plans a subject beside its ideal: one worker alone, with its share of the batch. It fails as
// [explain.Decompose] does.
func Ideal(b bench.Subject, budget time.Duration) (*Experiment, error) {
	side := SideOf(b)
	first, err := explain.Decompose(side, side)
	if err != nil {
		return nil, err
	}
	row := plain(b.Row)
	ideal := row
	if row.Workers > 1 {
		ideal = apart(row, strategy.Single, 1)
	}
	ideal.CheckpointEvery = ""
	x := start()
	takes := timingOf(b, first.B.StepMS)
	p := x.pair([2]bench.Row{ideal, row}, [2]explain.Side{{Name: "one worker of it alone"}, side},
		[2]timing{takes, takes}, [2]string{"A", "B"})
	if row.Workers > 1 {
		p.intervene(true, explain.Latency)
	}
	if row.CheckpointEvery != "" {
		p.intervene(true, explain.Checkpoint)
	}
	if row.Wire != setting.Default().Wire && row.Workers > 1 {
		p.intervene(true, explain.Codec)
	}
	x.fit(budget)
	return x, nil
}

// sidesOf returns the sides whose change tells what a term is: the one that has more of it, or for how
// workers compute beside others each that has several.
func sidesOf(c explain.Cost, isB bool, rows [2]bench.Row) (sides []bool) {
	if !c.IsCompute() {
		return []bool{isB}
	}
	for i, r := range rows {
		if r.Workers > 1 {
			sides = append(sides, i == 1)
		}
	}
	if sides == nil {
		sides = []bool{isB}
	}
	return sides
}

// plain returns a row for short runs: steps only, without evaluations or files that nobody reads. How many
// steps is chosen later, so that sides of different lengths are alike.
func plain(r bench.Row) bench.Row {
	r.Steps = mostSteps
	r.Epochs, r.For, r.Until, r.LimitTest, r.EvalEvery = 0, "", 0, 0, 0
	r.Save, r.Trace, r.Resume, r.Out, r.Rounds, r.Options = false, false, "", "", 0, ""
	sortParts(&r) // so that equal conditions are of one text
	return r
}

// add plans a variant of a side, unless it cannot be run. A row that is there already has its runs for both.
func (p *Pair) add(row bench.Row, v explain.Variant) {
	isThere := slices.ContainsFunc(p.Variants, func(w explain.Variant) bool { return w.Text == v.Text })
	if isThere || row.Validate() != nil {
		return
	}
	side := 0
	if v.OfB {
		side = 1
	}
	p.Variants, p.Rows = append(p.Variants, v), append(p.Rows, p.of.row(row, p.times[side], -1))
}

// textOf returns a text that equal rows share.
func textOf(r bench.Row) string {
	text, _ := json.Marshal(r) // a row that can be validated can be written
	return string(text)
}

// cause is a setting that is given the other side's value, where two sides differ in it: what a run can do
// with or without.
type cause struct {
	name string
	cost explain.Cost // that it is known by
	take func(to *bench.Row, from bench.Row)
}

// causes lists them.
func causes() []cause {
	all := []cause{
		{"slow-worker", explain.Straggler, func(to *bench.Row, from bench.Row) {
			takePart(to, from, "slow-worker")
			to.SlowWorkers = from.SlowWorkers.Below(to.Workers)
		}},
		{"slow-loader", explain.Data, func(to *bench.Row, from bench.Row) {
			takePart(to, from, "slow-loader")
			to.SlowLoader = from.SlowLoader
		}},
		{"wire", explain.Codec, func(to *bench.Row, from bench.Row) { to.Wire = from.Wire }},
		{"checkpoint-every", explain.Checkpoint, func(to *bench.Row, from bench.Row) {
			to.CheckpointEvery = from.CheckpointEvery
		}},
		{"data", explain.Data, func(to *bench.Row, from bench.Row) {
			to.Data, to.Augment = from.Data, from.Augment
		}},
		{"shards", explain.Imbalance, func(to *bench.Row, from bench.Row) { to.Shards = from.Shards }},
	}
	for i, name := range link() {
		cost := []explain.Cost{explain.Bandwidth, explain.Latency, explain.Latency}[i]
		all = append(all, cause{name, cost, func(to *bench.Row, from bench.Row) { takePart(to, from, name) }})
	}
	return all
}

// link lists the parts of a condition that are of the network.
func link() []string { return []string{"rate", "delay", "loss"} }

// takePart gives a row the part of another's condition that begins with a name, or none.
func takePart(to *bench.Row, from bench.Row, name string) {
	is := func(part string) bool { return name != "" && strings.HasPrefix(part, name+"=") }
	parts := slices.DeleteFunc(strings.Split(to.Condition.Name, "+"), func(p string) bool {
		return is(p) || p == "" || p == "equal"
	})
	for p := range strings.SplitSeq(from.Condition.Name, "+") {
		if is(p) {
			parts = append(parts, p)
		}
	}
	slices.Sort(parts)
	if to.Condition = (bench.Condition{}); len(parts) > 0 {
		to.Condition, _ = bench.ParseCondition(strings.Join(parts, "+")) // of parts that were parsed before
	}
}

// sortParts puts the parts of a row's condition in order.
func sortParts(row *bench.Row) { takePart(row, bench.Row{}, "") }

// align plans a variant of B for each setting in which it differs from A.
func (p *Pair) align() {
	for _, c := range causes() {
		row := p.rows[1]
		if c.take(&row, p.rows[0]); textOf(row) != textOf(p.rows[1]) {
			p.add(row, explain.Variant{Action: explain.Align, OfB: true, Cost: c.cost,
				IsAll: textOf(row) == textOf(p.rows[0]),
				Text:  fmt.Sprintf("%s with the %s of %s", p.names[1], c.name, p.names[0])})
		}
	}
}

// intervene plans the variant that takes a cost away from a side; none if that would change nothing of it.
func (p *Pair) intervene(isB bool, c explain.Cost) {
	side, name := p.rows[0], p.names[0]
	if isB {
		side, name = p.rows[1], p.names[1]
	}
	row := side
	v := explain.Variant{OfB: isB, Cost: c, Action: explain.Remove}
	link := row.Condition.Link
	switch {
	case c == explain.Bandwidth && row.Condition.IsApart() && link.Rate > 0:
		v.Action = explain.Relieve
		v.Text = name + " with links of twice the rate"
		relink(&row, "rate", fmt.Sprintf("%gmbit", 2*link.Rate/1e6))
	case c == explain.Latency && row.Condition.IsApart() && link.Delay > 0:
		v.Action = explain.Relieve
		v.Text = name + " with links of half the delay"
		relink(&row, "delay", (link.Delay / 2).String())
	case c == explain.Codec && row.Wire != "fp32":
		v.Text, row.Wire = name+" with wire fp32", "fp32"
	case c == explain.Data:
		v.Text = name + " on synthetic data"
		takePart(&row, bench.Row{}, "slow-loader")
		if row.SlowLoader = setting.Default().SlowLoader; row.Data != "synthetic" {
			row.Data, row.Augment = "synthetic", "none"
		}
	case c == explain.Checkpoint:
		v.Text, row.CheckpointEvery = name+" without checkpoints", ""
	case c == explain.Imbalance:
		v.Text = name + " with equal shards"
		row.Shards = (row.Shards + row.Workers/2) / row.Workers * row.Workers
	case row.Workers > 1 && c.IsExchange():
		v.Action, v.Text = explain.Silence, name+" without any exchange"
		row = apart(row, strategy.None, row.Workers)
	case row.Workers > 1 && c.IsCompute():
		v.Action, v.Text = explain.Isolate, "one worker of "+name+" alone, with its share of the batch"
		row = apart(row, strategy.Single, 1)
	case c == explain.Cores && row.Threads > 1:
		v.Text = name + " with a thread less"
		row.Threads--
	default: // there is no run without it
		return
	}
	if textOf(row) != textOf(side) { // else it would show that the term stays
		p.add(row, v)
	}
}

// relink gives one part of a condition another value.
func relink(row *bench.Row, name, value string) {
	other := bench.Row{}
	other.Condition.Name = name + "=" + value
	takePart(row, other, name)
}

// apart returns a row whose workers exchange nothing, with what each of some workers computes.
func apart(row bench.Row, way string, workers int) bench.Row {
	initial := setting.Default()
	exchange := initial.Exchange
	exchange.Insecure, exchange.MasterAddr, exchange.MasterPort = row.Insecure, row.MasterAddr, row.MasterPort
	row.Batch, row.Shards = row.Batch*workers/row.Workers, max(row.Shards*workers/row.Workers, 1)
	row.Strategy, row.Exchange, row.Averaging, row.Serving = way, exchange, initial.Averaging, initial.Serving
	for _, name := range link() {
		takePart(&row, bench.Row{}, name)
	}
	if row.Workers = workers; workers == 1 {
		takePart(&row, bench.Row{}, "slow-worker")
		row.SlowWorkers = nil
		if row.Hosts > 0 {
			row.Layout, row.Cores = bench.Layout{Hosts: 1, PerHost: 1}, row.Cores/row.Hosts
		}
	}
	return row
}

// Bounds of an experiment: rounds, and steps of a run; seconds that a run takes beside its steps, in a lab
// and elsewhere.
const (
	wantedRounds, mostRounds = 5, 12
	leastSteps, mostSteps    = 10, 500
	fewSteps, fewSeconds     = 6, 4 // where leastSteps would take longer than so many seconds
	leastSeconds             = 0.7  // of steps of a run: starting it takes longer
	freeSeconds              = 4    // the same without a budget
	startSeconds, labSeconds = 0.8, 2.0
)

// fit chooses the length of the runs, for a budget of all, or for wantedRounds without one: 0.
func (x *Experiment) fit(budget time.Duration) {
	seconds := float64(freeSeconds)
	if x.Plan.Repeats = wantedRounds; budget > 0 {
		x.Plan.Repeats = mostRounds
		left := budget.Seconds() / wantedRounds
		for _, t := range x.times {
			left -= t.start
		}
		seconds = max(left/float64(len(x.times)), leastSeconds)
	}
	for i := range x.Plan.Rows {
		r := &x.Plan.Rows[i]
		r.Steps = x.times[i].steps(seconds)
		if r.Averages() {
			r.Steps = max(r.Steps, 2*r.AverageEvery) / r.AverageEvery * r.AverageEvery
		}
	}
}

// steps returns those of a run that has some seconds for them. Long ones vary less, so fewer will do.
func (t timing) steps(seconds float64) int {
	least := min(max(int(fewSeconds/t.step), fewSteps), leastSteps)
	return min(max(int(seconds/t.step), least), mostSteps)
}

// round returns the seconds that a round of the plan takes at least.
func (x *Experiment) round() (sum float64) {
	for _, t := range x.times {
		sum += t.start + float64(t.steps(leastSeconds))*t.step
	}
	return sum
}

// Run makes the runs of the experiment into a new folder within a budget; 0: as long as they take. Runs that
// fail end nothing, unless all do; the errors are those of [bench.RunPlan] otherwise.
func (x *Experiment) Run(ctx context.Context, out string, budget time.Duration, o bench.Options) (
	*record.Results, error) {
	r, err := bench.RunPlan(ctx, x.Plan, out, budget, o)
	if failed := (*bench.FailedError)(nil); errors.As(err, &failed) && failed.Failed < failed.Runs {
		err = nil
	}
	return r, err
}

// Explain returns the explanation of the first pair that the recorded sides and the results of the experiment
// give. It fails as [explain.Confirm] does.
func (x *Experiment) Explain(r *record.Results) (*explain.Explanation, error) {
	p := x.Pairs[0]
	side := func(name string, i int) explain.Side { return sideOf(name, x.Plan.Rows[i], &r.Rows[i]) }
	var variants []explain.Variant
	for i, v := range p.Variants {
		v.Side = side(v.Text, p.Rows[i])
		variants = append(variants, v)
	}
	a, b := p.Sides[0], p.Sides[1]
	return explain.Confirm(a, b, side(a.Name, p.Again[0]), side(b.Name, p.Again[1]), variants)
}
